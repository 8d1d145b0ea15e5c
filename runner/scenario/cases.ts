import path from "node:path";
import { windowPieces } from "../model/load.ts";
import { ownValues, type WorkloadField, workloadFields } from "../model/workload.ts";
import { suggest } from "../suggest.ts";
import { caseName } from "./case-name.ts";
import { canSettle, missingOfLoad, overlay } from "./loads.ts";
import { otherToolsWord } from "./other-tools.ts";
import type { Parts } from "./parts.ts";
import { type Path, type Problem, refuse, refuseKey } from "./problem.ts";
import { checkLoad } from "./rules/load.ts";
import { problemsBy, type Wrong } from "./rules/rule.ts";
import { checkTopology } from "./rules/topology.ts";
import type { Case } from "./scenario.ts";
import { backlogOf, heldBack, phasesOf, scheduleOf } from "./schedule.ts";
import { requiredFields, SharedWorkload, type WrittenWorkload } from "./workload-schema.ts";
import { isMap, list, type Written } from "./written.ts";

/** The cases of a scenario; `undefined` in place of one that has a mistake. */
export interface ResolvedCases {
	readonly cases: readonly (Case | undefined)[];
	readonly problems: readonly Problem[];
	/** Where the field of a case is written: in the case itself, in the matrix, or in the workload; of a default `unwritten`. */
	where(index: number, field: WorkloadField, unwritten?: Path): Path;
}

/**
 * Lays each case over the workload, fills in defaults and names it. Works on what is right by itself: one mistake must not
 * hide the others. `folder`: that of the scenario, from which paths count. `settle`: a load warms until steady where it can
 * and nothing else is written.
 */
export function resolveCases(
	parts: Pick<Parts, "written" | "workload" | "cases" | "matrix">,
	folder = ".",
	settle = false,
): ResolvedCases {
	const { written, workload: shared } = parts;
	const listed = Array.isArray(written.cases);
	const overrides = overridesOf(parts);
	const where: ResolvedCases["where"] = (index, field, unwritten) => {
		const override = overrides[index];
		if (override && Object.hasOwn(override.fields, field)) return override.where(field);
		return unwritten === undefined || Object.hasOwn(shared, field)
			? ["workload", field]
			: unwritten;
	};

	const merged = overrides.map(({ fields }) => overlay(shared, fields));
	const problems: Problem[] = [...bothKinds(written)];
	if (written.workload === undefined || isMap(written.workload))
		for (const one of missing(written, overrides, merged, listed)) problems.push(one);
	const resolved = merged.map((one, index) => {
		const fields = withDefaults(one);
		if (settle && canSettle(fields)) fields.warmup = { steady: true };
		const of = { ...fields, has: (field: WorkloadField) => Object.hasOwn(one, field) };
		for (const check of [checkLoad, checkTopology])
			for (const problem of problemsBy<WorkloadField>(
				(wrong) => check(of, wrong),
				(field) => where(index, field),
			))
				problems.push(problem);
		return complete(fields, overrides[index]?.fields ?? {}, folder);
	});
	for (const one of sameNames(resolved, overrides)) problems.push(one);
	return { cases: resolved, problems, where };
}

/** What is wrong with cases in what surrounds them. A field that is a default is shown at `unwritten`. */
export function caseProblems(
	{ cases, where }: ResolvedCases,
	check: (one: Case, wrong: Wrong<WorkloadField>) => void,
	unwritten?: Path,
): Problem[] {
	return cases.flatMap((one, index) =>
		problemsBy<WorkloadField>(
			(wrong) => one && check(one, wrong),
			(field) => where(index, field, unwritten),
		),
	);
}

// --- internal ---

/** More runs than anybody waits for. */
const MOST_CASES = 1000;

interface Override {
	readonly fields: Written;
	/** The case as a whole, for what has no field. */
	readonly path: Path;
	where(field: string): Path;
}

function overridesOf({
	written,
	cases,
	matrix,
}: Pick<Parts, "written" | "cases" | "matrix">): Override[] {
	if (Array.isArray(written.cases))
		return cases.map((fields, index) => ({
			fields,
			path: ["cases", index],
			where: (field) => ["cases", index, field],
		}));
	if (isMap(written.matrix)) return combinations(matrix);
	return [{ fields: {}, path: [], where: (field) => ["workload", field] }];
}

/** The product of the lists, the first field outermost. */
function combinations(matrix: Parts["matrix"]): Override[] {
	const lists = Object.entries(matrix).filter(([, values]) => values !== undefined);
	let all: Readonly<Record<string, number>>[] = [{}];
	for (const [field, values] of lists) {
		if (all.length * values.length > MOST_CASES) break;
		all = all.flatMap((before) => values.map((_, index) => ({ ...before, [field]: index })));
	}
	return all.map((chosen) => ({
		fields: Object.fromEntries(
			Object.entries(chosen).map(([field, index]) => [field, matrix[field]?.[index]]),
		),
		path: ["matrix"],
		where: (field) => ["matrix", field, chosen[field] ?? 0],
	}));
}

function bothKinds({ cases, matrix }: Written): Problem[] {
	if (matrix === undefined) return [];
	if (cases !== undefined) return [refuseKey(["matrix"], "cases-and-matrix")];
	if (!isMap(matrix)) return [];
	const product = Object.values(matrix).reduce<number>(
		(total, list) => total * (Array.isArray(list) ? list.length : 1),
		1,
	);
	return product > MOST_CASES
		? [refuseKey(["matrix"], "matrix-too-large", { combinations: product, most: MOST_CASES })]
		: [];
}

const exampleOf: Readonly<Partial<Record<WorkloadField, string>>> = {
	rate: "3000/s",
	message: "256B",
	duration: "10s",
};

function missing(
	scenario: Written,
	overrides: readonly Override[],
	merged: readonly Written[],
	listed: boolean,
): Problem[] {
	// "rate: 3000/s" at the top level is one mistake, and the schema names it.
	const elsewhere = new Set(
		Object.keys(scenario).filter((key) => (workloadFields as string[]).includes(key)),
	);
	if (
		scenario.workload === undefined &&
		elsewhere.size === 0 &&
		merged.every((one) => Object.keys(one).length === 0)
	)
		return [
			refuseKey(["workload"], "missing", {
				what: "workload",
				write: "e.g. workload: { rate: 3000/s, message: 256B, duration: 10s }",
			}),
		];
	// "durration: 10s" is one mistake, and the schema names it.
	const misspelt = new Set(
		[scenario.workload, ...list(scenario.cases)].flatMap((written) =>
			Object.keys(isMap(written) ? written : {})
				.filter((key) => !(workloadFields as string[]).includes(key))
				.flatMap((key) => otherToolsWord("workload", key) ?? suggest(key, workloadFields) ?? []),
		),
	);
	const load = Object.fromEntries([...misspelt].map((key) => [key, null]));
	const lacking = merged.map((one) =>
		[
			...missingOfLoad({ ...one, ...load }),
			...(Object.hasOwn(one, "message") ? [] : (["message"] as const)),
		].filter((field) => !misspelt.has(field) && !elsewhere.has(field)),
	);
	return (["rate", "message", "duration"] as const).flatMap((field): Problem[] => {
		const without = lacking.flatMap((fields, index) => (fields.includes(field) ? [index] : []));
		const write = `e.g. ${field}: ${exampleOf[field]}`;
		if (without.length === 0) return [];
		if (without.length === merged.length)
			return [
				refuseKey(["workload", field], listed ? "missing-everywhere" : "missing", {
					what: field,
					write,
				}),
			];
		return without.map((index) =>
			refuseKey(overrides[index]?.where(field) ?? [], "case-lacks-field", {
				case: index + 1,
				field,
				write,
			}),
		);
	});
}

/** The fields that are right, with their defaults. */
function withDefaults(written: Written): Partial<WrittenWorkload> {
	const all: Written = { ...DEFAULTS, ...written };
	return Object.fromEntries(
		workloadFields.filter((field) => all[field] !== undefined).map((field) => [field, all[field]]),
	);
}

const DEFAULTS = SharedWorkload.parse({});

/** Has it all fields that every workload has? */
function isComplete(fields: Partial<WrittenWorkload>): fields is WrittenWorkload {
	return requiredFields.every((field) => fields[field] !== undefined);
}

function complete(
	fields: Partial<WrittenWorkload>,
	override: Written,
	folder: string,
): Case | undefined {
	const schedule = scheduleOf(fields);
	if (!schedule || !isComplete(fields)) return undefined;
	const { pattern, drain, steps, timeout, checksum } = fields;
	const messages = backlogOf(fields);
	if (pattern === "backlog" && messages === null) return undefined;
	const one: Case = {
		name: "",
		find: fields.find ?? null,
		schedule,
		...heldBack(schedule, messages),
		...(steps ? { phases: phasesOf(windowPieces(schedule)) } : {}),
		drainNs: drain,
		timeoutNs: timeout ?? drain,
		...ownValues(fields, { pattern, closed: schedule.kind === "closed" }),
		message: { size: fields.message, ...payloadOf(fields.payload, folder), checksum },
	};
	return { ...one, name: caseName(one, override) };
}

function payloadOf(
	payload: WrittenWorkload["payload"],
	folder: string,
): Pick<Case["message"], "payload" | "randomRatio" | "file"> {
	if (typeof payload === "string") return { payload, randomRatio: 1, file: null };
	return "file" in payload
		? { payload: "file", randomRatio: 1, file: path.resolve(folder, payload.file) }
		: { payload: "random", randomRatio: payload.random, file: null };
}

function sameNames(
	cases: readonly (Case | undefined)[],
	overrides: readonly Override[],
): Problem[] {
	const first = new Map<string, number>();
	return cases.flatMap((one, index): Problem[] => {
		if (!one) return [];
		const earlier = first.get(one.name);
		if (earlier === undefined) {
			first.set(one.name, index);
			return [];
		}
		const path = overrides[index]?.path ?? [];
		return [
			path[0] === "matrix"
				? refuseKey(path, "matrix-twice", { name: one.name })
				: refuse(path, "cases-of-one-name", {
						first: earlier + 1,
						second: index + 1,
						name: one.name,
					}),
		];
	});
}
