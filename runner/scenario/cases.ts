import path from "node:path";
import { plainValues } from "../model/workload.ts";
import { suggest } from "../suggest.ts";
import { caseName } from "./case-name.ts";
import {
	durationOf,
	loadOf,
	loadProblems,
	missingOfLoad,
	overlay,
	warmupOf,
} from "./loads.ts";
import { otherToolsWord } from "./other-tools.ts";
import type { Path, Problem } from "./problem.ts";
import { backlogOf, fieldProblems, receiversOf, topicsOf } from "./rules.ts";
import type { Case } from "./scenario.ts";
import {
	KEYS,
	neededFields,
	Workload,
	type WorkloadField,
	workloadFields,
} from "./schema.ts";

/** The cases of a scenario; `undefined` in place of one that has a mistake. */
export interface ResolvedCases {
	readonly cases: readonly (Case | undefined)[];
	readonly problems: readonly Problem[];
	/** Where the field of a case is written: in the case itself, in the matrix, or in the workload. */
	where(index: number, field: WorkloadField): Path;
}

/** What the cases are made of, as it was written. */
export interface WrittenCases {
	readonly workload?: unknown;
	readonly cases?: unknown;
	readonly matrix?: unknown;
}

/**
 * Lays each case over the workload, fills in defaults and names it. Works on what was written, not on what the
 * schema made of it: one mistake must not hide the others. Mistakes that the schema sees are not repeated here.
 * `folder`: that of the scenario, from which paths count.
 */
export function resolveCases(
	written: WrittenCases,
	folder = ".",
): ResolvedCases {
	const { workload } = written;
	const shared = asMap(workload);
	const listed = Array.isArray(written.cases);
	const overrides = overridesOf(written);
	const where = (index: number, field: WorkloadField): Path => {
		const override = overrides[index];
		return override && Object.hasOwn(override.fields, field)
			? override.where(field)
			: ["workload", field];
	};

	const merged = overrides.map(({ fields }) => overlay(shared, fields));
	const problems: Problem[] = [...bothKinds(written)];
	if (workload === undefined || isMap(workload))
		problems.push(...missing(written, shared, overrides, merged, listed));
	const resolved = merged.map((one, index) => {
		const fields = parseFields(one);
		for (const { field, message } of [
			...loadProblems(fields, one),
			...fieldProblems(fields, one),
		])
			problems.push({ path: where(index, field), at: "value", message });
		return complete(fields, overrides[index]?.fields ?? {}, folder);
	});
	problems.push(...sameNames(resolved, overrides));
	return { cases: resolved, problems, where };
}

// --- internal ---

/** More runs than anybody waits for. */
const MOST_CASES = 1000;

type Written = Readonly<Record<string, unknown>>;

interface Override {
	readonly fields: Written;
	/** The case as a whole, for what has no field. */
	readonly path: Path;
	where(field: string): Path;
}

function isMap(value: unknown): value is Written {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asMap(value: unknown): Written {
	return isMap(value) ? value : {};
}

function overridesOf({ cases, matrix }: WrittenCases): Override[] {
	if (Array.isArray(cases))
		return cases.map((one, index) => ({
			fields: asMap(one),
			path: ["cases", index],
			where: (field) => ["cases", index, field],
		}));
	if (isMap(matrix)) return combinations(matrix);
	return [{ fields: {}, path: [], where: (field) => ["workload", field] }];
}

/** The product of the lists, the first field outermost. */
function combinations(matrix: Written): Override[] {
	const lists = Object.entries(matrix).filter(
		(entry): entry is [string, unknown[]] =>
			(workloadFields as string[]).includes(entry[0]) &&
			Array.isArray(entry[1]) &&
			entry[1].length > 0,
	);
	let all: Readonly<Record<string, number>>[] = [{}];
	for (const [field, values] of lists) {
		if (all.length * values.length > MOST_CASES) break;
		all = all.flatMap((before) =>
			values.map((_, index) => ({ ...before, [field]: index })),
		);
	}
	return all.map((chosen) => ({
		fields: Object.fromEntries(
			Object.entries(chosen).map(([field, index]) => [
				field,
				(matrix[field] as unknown[])[index],
			]),
		),
		path: ["matrix"],
		where: (field) => ["matrix", field, chosen[field] ?? 0],
	}));
}

function bothKinds({ cases, matrix }: WrittenCases): Problem[] {
	if (matrix === undefined) return [];
	if (cases !== undefined)
		return [
			{
				path: ["matrix"],
				at: "key",
				message:
					"a scenario has cases or a matrix, not both; write the combinations as cases, or the cases' fields as lists of the matrix",
			},
		];
	if (!isMap(matrix)) return [];
	const product = Object.values(matrix).reduce<number>(
		(total, list) => total * (Array.isArray(list) ? list.length : 1),
		1,
	);
	return product > MOST_CASES
		? [
				{
					path: ["matrix"],
					at: "key",
					message: `the matrix has ${product} combinations, more than ${MOST_CASES}; shorten its lists, or write cases`,
				},
			]
		: [];
}

const exampleOf: Readonly<Partial<Record<WorkloadField, string>>> = {
	rate: "3000/s",
	message: "256B",
	duration: "10s",
};

function missing(
	scenario: WrittenCases,
	shared: Written,
	overrides: readonly Override[],
	merged: readonly Written[],
	listed: boolean,
): Problem[] {
	// "rate: 3000/s" at the top level is one mistake, and the schema names it.
	const elsewhere = new Set(
		Object.keys(scenario).filter((key) =>
			(workloadFields as string[]).includes(key),
		),
	);
	if (
		scenario.workload === undefined &&
		elsewhere.size === 0 &&
		merged.every((one) => Object.keys(one).length === 0)
	)
		return [
			{
				path: ["workload"],
				at: "key",
				message:
					"workload is missing; write e.g. workload: { rate: 3000/s, message: 256B, duration: 10s }",
			},
		];
	// "durration: 10s" is one mistake, and the schema names it.
	const misspelt = new Set(
		[shared, ...overrides.map(({ fields }) => fields)].flatMap((written) =>
			Object.keys(written)
				.filter((key) => !(workloadFields as string[]).includes(key))
				.map(
					(key) =>
						otherToolsWord("workload", key) ?? suggest(key, workloadFields),
				),
		),
	);
	const lacking = merged.map((one) =>
		[
			...missingOfLoad(one),
			...(Object.hasOwn(one, "message") ? [] : (["message"] as const)),
		].filter((field) => !misspelt.has(field) && !elsewhere.has(field)),
	);
	return (["rate", "message", "duration"] as const).flatMap(
		(field): Problem[] => {
			const without = lacking.flatMap((fields, index) =>
				fields.includes(field) ? [index] : [],
			);
			const write = `write e.g. ${field}: ${exampleOf[field]}`;
			if (without.length === 0) return [];
			if (without.length === merged.length)
				return [
					{
						path: ["workload", field],
						at: "key",
						message: `${field} is missing${listed ? " in workload and in the cases" : ""}; ${write}`,
					},
				];
			return without.map((index) => ({
				path: overrides[index]?.where(field) ?? [],
				at: "key",
				message: `case ${index + 1} has no ${field}, and workload has none either; ${write}`,
			}));
		},
	);
}

/** The fields that are right, with their defaults. */
function parseFields(written: Written): Partial<Workload> {
	const fields: Record<string, unknown> = {};
	for (const field of workloadFields) {
		const result = Workload.shape[field].safeParse(written[field]);
		if (result.success) fields[field] = result.data;
	}
	return fields;
}

/** Has it all fields that every workload has? */
function isComplete(fields: Partial<Workload>): fields is Workload {
	return neededFields.every((field) => fields[field] !== undefined);
}

function complete(
	fields: Partial<Workload>,
	override: Written,
	folder: string,
): Case | undefined {
	const load = loadOf(fields);
	const durationNs = load && durationOf(load, fields);
	if (!load || durationNs === null || !isComplete(fields)) return undefined;
	const { pattern, drain, connections } = fields;
	const backlog = backlogOf(fields);
	if (pattern === "backlog" && backlog === null) return undefined;
	const one: Case = {
		name: "",
		pattern,
		load,
		find: fields.find ?? null,
		messageBytes: fields.message,
		payload: payloadOf(fields.payload, folder),
		checksum: fields.checksum,
		delivery: fields.delivery ?? null,
		order: fields.order,
		warmupNs: warmupOf(load, fields),
		durationNs,
		drainNs: drain,
		timeoutNs: fields.timeout ?? drain,
		inFlight: fields.inFlight ?? (load.kind === "closed" ? IN_FLIGHT : null),
		connections,
		producers: fields.producers ?? connections,
		topics: topicsOf(fields),
		...plainValues(fields, { pattern, receivers: receiversOf(fields) }),
		keys: keysOf(fields.keys),
		backlog,
	};
	return { ...one, name: caseName(one, override) };
}

/** Of a closed load, for each producer. */
const IN_FLIGHT = 1000;

function payloadOf(
	payload: Workload["payload"],
	folder: string,
): Case["payload"] {
	if (typeof payload === "string")
		return { kind: payload, randomRatio: 1, file: null };
	return "file" in payload
		? {
				kind: "file",
				randomRatio: 1,
				file: path.resolve(folder, payload.file),
			}
		: { kind: "random", randomRatio: payload.random, file: null };
}

function keysOf(keys: Workload["keys"]): Case["keys"] {
	if (keys === "none") return null;
	return typeof keys === "string" ? { distribution: keys, count: KEYS } : keys;
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
			{
				path,
				at: path[0] === "matrix" ? "key" : "value",
				message:
					path[0] === "matrix"
						? `the matrix has "${one.name}" twice; remove one of the values that are alike`
						: `cases ${earlier + 1} and ${index + 1} are both named "${one.name}"; give this one a name of its own`,
			},
		];
	});
}
