import { z } from "zod";
import { SystemOptions } from "../brokers/index.ts";
import type { Path } from "./problem.ts";
import { CaseSlaEntry, ScenarioFile, SlaEntry } from "./schema.ts";
import { overrides } from "./workload-schema.ts";
import { copy, isMap, valueAt, type Written } from "./written.ts";

/**
 * A scenario file that has been parsed part by part, so that a mistake in one hides none in the others: what is wrong is undefined, and `issues`
 * say why. Defaults of a workload are left out, as its cases may bring the field.
 */
export interface Parts extends Omit<Parsed, "systems" | "workload" | "cases" | "matrix" | "sla"> {
	/** What has been parsed: to ask what is there at all. */
	readonly written: Written;
	readonly issues: readonly z.core.$ZodIssue[];
	readonly systems: readonly WrittenSystem[];
	/** Keys that are written stand here, and have a value when that is right. */
	readonly workload: Written;
	readonly cases: readonly Written[];
	readonly matrix: Readonly<Record<string, readonly unknown[]>>;
	/** The scenario's first, then those of its cases. */
	readonly sla: readonly WrittenSla[];
}

interface WrittenSystem {
	/** null: it is called by its broker. */
	readonly key: string | null;
	/** As it is written, right or wrong. */
	readonly broker: unknown;
	readonly options: SystemOptions | undefined;
	readonly path: Path;
}

interface WrittenSla {
	readonly line: z.output<typeof SlaEntry> | undefined;
	readonly path: Path;
	/** Position of the case whose own it is. */
	readonly inCase: number | null;
}

/** `systemKeys`: in the order of the file, which JavaScript loses where they are numbers. */
export function parseParts(written: Written, systemKeys: readonly string[] = []): Parts {
	const { issues = [] } = ScenarioFile.safeParse(written).error ?? {};
	const right = copy(written);
	for (const issue of issues) leaveOut(right, issue);
	const {
		system,
		systems = {},
		workload = {},
		cases = [],
		matrix = {},
		sla,
		...rest
	} = Parsed.parse(right);
	const one = (key: string | null, broker: unknown, value: typeof system, path: Path) => ({
		key,
		broker: isMap(broker) ? broker.broker : broker,
		options: typeof value === "string" ? SystemOptions.parse({ broker: value }) : value,
		path,
	});
	const named = isMap(written.systems) ? written.systems : null;
	return {
		...rest,
		target: written.target === undefined ? "local" : rest.target,
		repeat: written.repeat === undefined ? 1 : rest.repeat,
		written,
		issues,
		systems:
			named === null
				? [one(null, written.system, system, ["system"])]
				: [...new Set([...systemKeys, ...Object.keys(named)])]
						.filter((key) => Object.hasOwn(named, key))
						.map((key) =>
							one(key, named[key], Object.hasOwn(systems, key) ? systems[key] : undefined, [
								"systems",
								key,
							]),
						),
		workload,
		cases: cases.map((fields) => fields ?? {}),
		matrix: Object.fromEntries(
			Object.keys(right.matrix ?? {}).flatMap((field) =>
				matrix[field] === undefined ? [] : [[field, matrix[field]]],
			),
		),
		sla: [
			...sla.map((line, i) => ({ line, path: ["sla", i], inCase: null })),
			...cases.flatMap((fields, index) =>
				(fields?.sla ?? []).map((line, i) => ({
					line,
					path: ["cases", index, "sla", i],
					inCase: index,
				})),
			),
		],
	};
}

// --- internal ---

const { shape } = ScenarioFile;

/** What is left of a file when everything wrong has been taken out of it. */
const Parsed = ScenarioFile.extend({
	// Without their defaults: one that is wrong has no value.
	target: shape.target.unwrap().optional(),
	clients: shape.clients.unwrap().optional(),
	repeat: shape.repeat.unwrap().optional(),
	workload: z.strictObject(overrides).partial().optional(),
	cases: z
		.array(
			shape.cases
				.unwrap()
				.element.extend({ sla: z.array(CaseSlaEntry.optional()).optional() })
				.optional(),
		)
		.optional(),
	matrix: z
		.strictObject(
			Object.fromEntries(
				Object.entries(overrides).map(([field, schema]) => [
					field,
					z.array((schema as z.ZodType).optional()),
				]),
			),
		)
		.partial()
		.optional(),
	sla: z.array(SlaEntry.optional()).default([]),
	faults: z.array(shape.faults.unwrap().element.optional()).default([]),
});
type Parsed = z.output<typeof Parsed>;

/** Takes out the part that an issue is in: a field of a workload, a system, a line, a fault, else the whole field of the scenario. */
function leaveOut(value: Written, issue: z.core.$ZodIssue): void {
	const unknown = issue.code === "unrecognized_keys" ? issue.keys : [];
	const paths = unknown.length > 0 ? unknown.map((key) => [...issue.path, key]) : [issue.path];
	for (const path of paths as Path[]) {
		const part = path.slice(0, depthOf(path));
		const above = valueAt(value, part.slice(0, -1));
		const last = part.at(-1) ?? "";
		if (typeof above !== "object" || above === null || !Object.hasOwn(above, last)) continue;
		const gone = (unknown.length > 0 && part.length === path.length) || part[0] === "systems";
		if (gone) Reflect.deleteProperty(above, last);
		else Reflect.set(above, last, undefined);
	}
}

function depthOf([top, , third]: Path): number {
	if (top === "cases") return third === "sla" ? 4 : 3;
	if (top === "matrix") return 3;
	return ["workload", "systems", "sla", "faults"].includes(String(top)) ? 2 : 1;
}
