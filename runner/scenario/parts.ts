import type { z } from "zod";
import type { SystemOptions } from "../brokers/index.ts";
import type { Path } from "./problem.ts";
import { CaseSlaEntry, ScenarioFile, SlaEntry, System } from "./schema.ts";
import { overrides } from "./workload-schema.ts";
import { isMap, list, type Written } from "./written.ts";

/**
 * A scenario file that has been parsed part by part, so that a mistake in one hides none in the others: what is wrong is undefined, and `issues`
 * say why. Defaults of a workload are left out, as its cases may bring the field.
 */
export interface Parts extends Single {
	/** What has been parsed: to ask what is there at all. */
	readonly written: Written;
	readonly issues: readonly z.core.$ZodIssue[];
	readonly systems: readonly WrittenSystem[];
	/** Keys that are written are here, and have a value when that is right. */
	readonly workload: Written;
	readonly cases: readonly Written[];
	readonly matrix: Readonly<Record<string, readonly unknown[]>>;
	/** The scenario's first, then those of its cases. */
	readonly sla: readonly WrittenSla[];
	readonly faults: readonly (z.output<typeof Fault> | undefined)[];
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

export function parseParts(written: Written): Parts {
	const systemAt = (key: string | null, value: unknown, path: Path): WrittenSystem => ({
		key,
		broker: isMap(value) ? value.broker : value,
		options: right(System, value),
		path,
	});
	const named = isMap(written.systems) ? written.systems : null;
	const own = list(written.cases);
	const lines = (value: unknown, entry: z.ZodType, path: Path, inCase: number | null) =>
		list(value).map((one, i) => ({ line: right(entry, one), path: [...path, i], inCase }));
	return {
		...(Object.fromEntries(
			Object.entries(single).map(([field, schema]) => [field, right(schema, written[field])]),
		) as Single),
		written,
		issues: ScenarioFile.safeParse(written).error?.issues ?? [],
		systems:
			named === null
				? [systemAt(null, written.system, ["system"])]
				: Object.entries(named).map(([key, value]) => systemAt(key, value, ["systems", key])),
		workload: fieldsOf(overrides, written.workload),
		cases: own.map((one) => fieldsOf(caseFields, one)),
		matrix: fieldsOf(overrides, written.matrix, (field, values) =>
			list(values).map((value) => right(field, value)),
		) as Parts["matrix"],
		sla: [
			...lines(written.sla, SlaEntry, ["sla"], null),
			...own.flatMap((one, i) =>
				lines(isMap(one) && one.sla, CaseSlaEntry, ["cases", i, "sla"], i),
			),
		] as WrittenSla[],
		faults: list(written.faults).map((one) => right(Fault, one)),
	};
}

// --- internal ---

const { system, systems, workload, cases, matrix, sla, faults, ...others } = ScenarioFile.shape;
/** Fields that are right or wrong as a whole. Without a default: a rig brings clients of its own. */
const single = { ...others, clients: others.clients.unwrap() };
type Single = { readonly [F in keyof typeof single]: z.output<(typeof single)[F]> | undefined };
const Fault = faults.unwrap().element;
const caseFields = { ...overrides, name: cases.unwrap().element.shape.name };

function right<Schema extends z.ZodType>(
	schema: Schema,
	value: unknown,
): z.output<Schema> | undefined {
	return schema.safeParse(value).data;
}

/** The known keys of a map, each by itself. */
function fieldsOf(
	schemas: Readonly<Record<string, z.ZodType>>,
	map: unknown,
	parse: (schema: z.ZodType, value: unknown) => unknown = right,
): Written {
	return Object.fromEntries(
		Object.entries(isMap(map) ? map : {}).flatMap(([key, value]) =>
			Object.hasOwn(schemas, key) ? [[key, parse(schemas[key] as z.ZodType, value)]] : [],
		),
	);
}
