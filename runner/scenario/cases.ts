import path from "node:path";
import { windowPieces } from "../model/load.ts";
import {
	inName,
	ownValues,
	type Workload,
	type WorkloadField,
	workloadFields,
} from "../model/workload.ts";
import { canSettle, checkLoad, checkTopology, missingOf, NEEDED, overlay } from "./loads.ts";
import { isMap, type Written } from "./place.ts";
import { type Path, type Problem, reporter, type Wrong } from "./problem.ts";
import type { Case } from "./scenario.ts";
import { backlogOf, heldBack, phasesOf, scheduleOf } from "./schedule.ts";
import { type ScenarioFile, SharedWorkload, type WrittenWorkload } from "./schema.ts";
import { type Files, NO_FILES, sizeOf } from "./sizes.ts";

export interface ResolvedCases {
	readonly cases: readonly Case[];
	/** Where the case, the matrix or the workload sets the field; `unwritten` for a default. */
	where(index: number, field: WorkloadField, unwritten?: Path): Path;
}

/** Null if a case is incomplete. Fields outside `written` are defaults; `settle` warms up until steady unless a warm-up is written. */
export function resolveCases(
	file: Pick<ScenarioFile, "workload" | "cases" | "matrix">,
	written: Written,
	problems: Problem[],
	files: Files = NO_FILES,
	settle = false,
): ResolvedCases | null {
	const shared = asWritten(file.workload, written.workload);
	const overrides = overridesOf(file, written);
	const where: ResolvedCases["where"] = (index, field, unwritten) => {
		const override = overrides[index];
		if (override && Object.hasOwn(override.fields, field)) return override.where(field);
		return unwritten === undefined || Object.hasOwn(shared, field)
			? ["workload", field]
			: unwritten;
	};
	const merged = overrides.map(({ fields }) => overlay(shared, fields));
	checkKinds(file, problems);
	if (file.workload === undefined && merged.every((one) => Object.keys(one).length === 0)) {
		const write = "e.g. workload: { rate: 3000/s, message: 256B, duration: 10s }";
		reporter(problems)("workload", "missing", { what: "workload", write });
		return null;
	}
	const resolved = merged.map((one, index) => {
		const wrong = reporter<WorkloadField>(problems, (field) => where(index, field));
		return resolveLoad(one, wrong, { files, settle, override: overrides[index]?.fields ?? {} });
	});
	const cases = resolved.filter((one) => one !== undefined);
	if (cases.length < resolved.length) return null;
	checkNames(cases, overrides, problems);
	return { cases, where };
}

/** Checks a load and gives it its defaults; undefined if it is incomplete. */
export function resolveLoad(
	written: Written,
	wrong: Wrong<WorkloadField>,
	{ files = NO_FILES, settle = false, override = {} as Written },
): Case | undefined {
	const fields = { ...DEFAULTS, ...written } as SharedWorkload;
	if (settle && canSettle(fields)) fields.warmup = { steady: true };
	const message = sizeOf(fields.message, fields.checksum, files, wrong);
	const has = (field: WorkloadField) => Object.hasOwn(written, field);
	const of = { ...fields, message, has };
	for (const field of missingOf(written))
		wrong(field, "missing", { what: field, write: `e.g. ${field}: ${NEEDED[field]}` });
	checkLoad(of, wrong);
	checkTopology(of, wrong);
	const [schedule, messages] = [scheduleOf(of), backlogOf(of)];
	const { pattern, drain, steps, timeout, checksum } = fields;
	if (!schedule || message === undefined || (pattern === "backlog" && messages === null))
		return undefined;
	const one: Case = {
		name: "",
		load: null,
		startNs: 0,
		background: [],
		find: fields.find ?? null,
		schedule,
		...heldBack(schedule, messages),
		...(steps ? { phases: phasesOf(windowPieces(schedule)) } : {}),
		drainNs: drain,
		timeoutNs: timeout ?? drain,
		...ownValues(fields, { pattern, closed: schedule.kind === "closed" }),
		message: { size: message, ...payloadOf(fields.payload, files.folder), checksum },
	};
	return { ...one, name: caseName(one, override) };
}

/** The fields that are written, with their parsed values. */
export function asWritten(parsed: Written = {}, map: unknown): Written {
	const keys = Object.keys(isMap(map) ? map : {});
	return Object.fromEntries(keys.map((field) => [field, parsed[field]]));
}

/** Reports mistakes of each case; a field that is a default is shown at `unwritten`. */
export function checkCases(
	{ cases, where }: ResolvedCases,
	problems: Problem[],
	check: (one: Case, wrong: Wrong<WorkloadField>) => void,
	unwritten?: Path,
): void {
	for (const [index, one] of cases.entries()) {
		const wrong = reporter<WorkloadField>(problems, (field) => where(index, field, unwritten));
		check(one, wrong);
	}
}

// --- internal ---

const MOST_CASES = 1000;

interface Override {
	readonly fields: Written;
	where(field: string): Path;
}

function overridesOf({ cases, matrix }: Lists, written: Written): Override[] {
	if (cases)
		return cases.map((fields, index) => ({ fields, where: (field) => ["cases", index, field] }));
	if (matrix) return combinations(asWritten(matrix, written.matrix) as Matrix);
	return [{ fields: {}, where: (field) => ["workload", field] }];
}

type Lists = Pick<ScenarioFile, "cases" | "matrix">;
type Matrix = Readonly<Record<string, readonly unknown[]>>;

/** The first field varies slowest. */
function combinations(matrix: Matrix): Override[] {
	let all: Readonly<Record<string, number>>[] = [{}];
	for (const [field, values] of Object.entries(matrix)) {
		if (all.length * values.length > MOST_CASES) break;
		all = all.flatMap((before) => values.map((_, index) => ({ ...before, [field]: index })));
	}
	return all.map((chosen) => ({
		fields: Object.fromEntries(
			Object.entries(chosen).map(([field, index]) => [field, matrix[field]?.[index]]),
		),
		where: (field) => ["matrix", field, chosen[field] ?? 0],
	}));
}

function checkKinds({ cases, matrix }: Lists, problems: Problem[]): void {
	const wrong = reporter(problems);
	if (matrix && cases) wrong("matrix", "cases-and-matrix");
	const lengths = Object.values((matrix ?? {}) as Matrix).map(({ length }) => length);
	const combinations = lengths.reduce((total, length) => total * length, 1);
	if (combinations > MOST_CASES)
		wrong("matrix", "matrix-too-large", { combinations, most: MOST_CASES });
}

const DEFAULTS = SharedWorkload.parse({});

/** The given name, otherwise the fields that the case overrides, otherwise message and load: "1KiB 20000/s 25 connections". */
function caseName(one: Workload, override: Readonly<Record<string, unknown>>): string {
	if (typeof override.name === "string") return override.name;
	const named = [...new Set([...FIRST, ...workloadFields])].filter((field) =>
		Object.hasOwn(override, field),
	);
	const shown = named.length > 0 ? named : (["message", "rate"] as const);
	// Several fields may be one thing: rate and stages are one load.
	const words = new Set(shown.map((field) => inName(field, one)));
	// Names are part of paths, `--only` patterns and table rows: no * or ?, one line.
	return [...words]
		.filter((word) => word !== "")
		.join(" ")
		.replaceAll(/[\p{C}*?]/gu, "-")
		.slice(0, 120);
}

/** Order within a name. Plans and results refer to cases by name, so later fields go at the end. */
const FIRST: readonly WorkloadField[] = [
	...(["message", "rate", "stages", "steps", "messages", "arrivals"] as const),
	...(["seed", "find", "pattern", "connections", "producers"] as const),
	...(["consumers", "consumerConnections", "subscriptions", "topics"] as const),
	...(["partitions", "wildcard", "bystanders", "inFlight", "backlog"] as const),
	...(["payload", "keys", "work", "checksum", "delivery", "order"] as const),
	...(["duration", "warmup", "drain", "timeout"] as const),
];

function payloadOf(
	payload: WrittenWorkload["payload"],
	folder: string,
): Pick<Case["message"], "payload" | "randomRatio" | "file"> {
	if (typeof payload === "string") return { payload, randomRatio: 1, file: null };
	return "file" in payload
		? { payload: "file", randomRatio: 1, file: path.resolve(folder, payload.file) }
		: { payload: "random", randomRatio: payload.random, file: null };
}

function checkNames(cases: readonly Case[], all: readonly Override[], problems: Problem[]): void {
	const names = cases.map(({ name }) => name);
	for (const [index, name] of names.entries()) {
		const first = names.indexOf(name);
		if (first === index) continue;
		const wrong = reporter(problems);
		if (all[index]?.where("name")[0] === "matrix") wrong("matrix", "matrix-twice", { name });
		else
			wrong(["cases", index], "cases-of-one-name", { first: first + 1, second: index + 1, name });
	}
}
