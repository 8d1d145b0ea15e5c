import { z } from "zod";
import { SystemOptions } from "../brokers/index.ts";
import type { Path } from "./problem.ts";
import { CaseSlaEntry, Name, ScenarioFile, SlaEntry, System } from "./schema.ts";
import { overrides } from "./workload-schema.ts";
import { isMap, list, type Written } from "./written.ts";

/**
 * A scenario file that has been parsed, once and part by part, so that a mistake in one hides none in the others. What is wrong is undefined:
 * `issues` say why. Defaults of a workload are left out, as its cases may bring the field.
 */
export interface Parts
	extends Undefined<
		Pick<
			ScenarioFile,
			| ("name" | "target" | "clients" | "aws" | "kubernetes" | "repeat" | "baseline")
			| ("pin" | "generator" | "strict")
		>
	> {
	/** What has been parsed: to ask what is there at all. */
	readonly written: Written;
	readonly issues: readonly z.core.$ZodIssue[];
	readonly systems: readonly WrittenSystem[];
	/** Keys that are written stand here, and have a value when that is right. */
	readonly workload: Written;
	readonly cases: readonly Written[];
	readonly matrix: Readonly<Record<string, readonly unknown[]>>;
	/** One with a mistake is undefined, and hides no others. */
	readonly faults: readonly (ScenarioFile["faults"][number] | undefined)[];
	/** The scenario's first, then those of its cases. */
	readonly sla: readonly WrittenSla[];
}

type Undefined<T> = { readonly [Key in keyof T]: T[Key] | undefined };

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
	const parser = new Parser();
	const top = <Field extends keyof ScenarioFile>(field: Field) =>
		parser.parse(shape[field], written[field], [field]) as ScenarioFile[Field] | undefined;
	const cases = parser.list(written.cases, ["cases"], shape.cases);
	const faults = top("faults");
	parser.refuseUnknown(written, shape, []);
	return {
		written,
		issues: parser.issues,
		name: top("name"),
		target: top("target"),
		clients: written.clients === undefined ? undefined : top("clients"),
		aws: top("aws"),
		kubernetes: top("kubernetes"),
		systems: systemsOf(written, systemKeys, parser),
		workload: parser.fields(written.workload, ["workload"], shape.workload, overrides),
		cases: cases.map(({ value, path }) =>
			parser.fields(value, path, oneCase, { ...oneCase.shape, ...overrides }),
		),
		matrix: matrixOf(written.matrix, parser),
		repeat: top("repeat"),
		sla: [
			...slaOf(written.sla, ["sla"], SlaEntry, null, parser),
			...cases.flatMap(({ value, path }, index) =>
				isMap(value) ? slaOf(value.sla, [...path, "sla"], CaseSlaEntry, index, parser) : [],
			),
		],
		baseline: top("baseline"),
		faults: faults ?? list(written.faults).map((one) => fault.safeParse(one).data),
		pin: top("pin"),
		generator: top("generator"),
		strict: top("strict"),
	};
}

// --- internal ---

const { shape } = ScenarioFile;
const fault = shape.faults.unwrap().element;
/** Its sla is parsed line by line. */
const oneCase = shape.cases.unwrap().element.extend({ sla: z.unknown().optional() });

/** Parses values, and keeps what is wrong with them under the path that they have in the file. */
class Parser {
	readonly issues: z.core.$ZodIssue[] = [];

	parse<Schema extends z.ZodType>(
		schema: Schema,
		value: unknown,
		path: Path,
	): z.output<Schema> | undefined {
		const { data, error } = schema.safeParse(value);
		for (const issue of error?.issues ?? [])
			this.issues.push({ ...issue, path: [...path, ...issue.path] });
		return data;
	}

	/** Each value of a map by its schema; of what is no map that is all that is said. */
	fields(
		value: unknown,
		path: Path,
		whole: z.ZodType,
		schemas: Readonly<Record<string, z.ZodType>>,
	): Written {
		if (!isMap(value)) {
			this.parse(whole, value, path);
			return {};
		}
		this.refuseUnknown(value, schemas, path);
		return Object.fromEntries(
			Object.entries(value)
				.filter(([key]) => Object.hasOwn(schemas, key))
				.map(([key, one]) => [key, this.parse(schemas[key] as z.ZodType, one, [...path, key])]),
		);
	}

	/** The items of a list with their places; of what is none, or empty, only that is said. */
	list(
		value: unknown,
		path: Path,
		whole: z.ZodType,
	): { readonly value: unknown; readonly path: Path }[] {
		if (Array.isArray(value) && value.length > 0)
			return value.map((item, index) => ({ value: item, path: [...path, index] }));
		this.parse(whole, value, path);
		return [];
	}

	refuseUnknown(map: Written, schemas: object, path: Path): void {
		const keys = Object.keys(map).filter((key) => !Object.hasOwn(schemas, key));
		if (keys.length > 0)
			this.issues.push({
				code: "unrecognized_keys",
				keys,
				path: [...path],
				message: "",
				input: map,
			});
	}
}

function systemsOf(
	{ system, systems }: Written,
	inOrder: readonly string[],
	parser: Parser,
): WrittenSystem[] {
	const single = parser.parse(shape.system, system, ["system"]);
	if (!isMap(systems)) {
		parser.parse(shape.systems, systems, ["systems"]);
		return [systemOf(null, system, single, ["system"])];
	}
	const keys = new Set([...inOrder, ...Object.keys(systems)]);
	return [...keys]
		.filter((key) => Object.hasOwn(systems, key))
		.map((key) => {
			const value = systems[key];
			const one = { [key]: value };
			const named = parser.parse(z.record(Name, System), one, ["systems"]) ?? {};
			const right = Object.hasOwn(named, key) ? named[key] : undefined;
			return systemOf(key, value, right, ["systems", key]);
		});
}

function systemOf(
	key: string | null,
	written: unknown,
	right: z.output<typeof System> | undefined,
	path: Path,
): WrittenSystem {
	return {
		key,
		broker: isMap(written) ? written.broker : written,
		options: typeof right === "string" ? SystemOptions.parse({ broker: right }) : right,
		path,
	};
}

function matrixOf(written: unknown, parser: Parser): Parts["matrix"] {
	const some = z.array(z.unknown()).min(1).max(100);
	const lists = Object.fromEntries(Object.keys(overrides).map((field) => [field, some]));
	const whole = parser.fields(written, ["matrix"], shape.matrix, lists);
	return Object.fromEntries(
		Object.entries(whole as Parts["matrix"]).map(([field, values]) => [
			field,
			values?.map((value, index) =>
				parser.parse(overrides[field as keyof typeof overrides], value, ["matrix", field, index]),
			),
		]),
	) as Parts["matrix"];
}

function slaOf(
	written: unknown,
	path: Path,
	schema: typeof SlaEntry | typeof CaseSlaEntry,
	inCase: number | null,
	parser: Parser,
): WrittenSla[] {
	return parser
		.list(written, path, shape.sla)
		.map(({ value, path }) => ({ line: parser.parse(schema, value, path), path, inCase }));
}
