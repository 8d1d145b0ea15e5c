import { z } from "zod";
import { processFields } from "../brokers/fields.ts";
import { BrokerName, brokerOf, example } from "../brokers/index.ts";
import { TALLIES, Tally, UNITS } from "../model/tallies.ts";
import { didYouMean } from "../suggest.ts";
import {
	otherToolsValue,
	otherToolsWord,
	own,
	type Place,
} from "./other-tools.ts";
import type { Path, Problem } from "./problem.ts";
import { ScenarioFile } from "./schema.ts";
import { workloadFields } from "./workload-schema.ts";
import { valueAt } from "./written.ts";

/** zod's issues as sentences for the person who wrote the file. `value` is what was checked. */
export function problemsOf(
	issues: readonly z.core.$ZodIssue[],
	value: unknown,
): Problem[] {
	// Who mends an unknown key of a map has often found the missing one.
	const withUnknown = new Set(
		issues
			.filter(({ code }) => code === "unrecognized_keys")
			.map(({ path }) => JSON.stringify(path)),
	);
	const follows = ({ path }: z.core.$ZodIssue) =>
		path.length > 0 &&
		valueAt(value, path as Path) === undefined &&
		withUnknown.has(JSON.stringify(path.slice(0, -1)));
	return issues.flatMap((issue) => {
		if (follows(issue)) return [];
		const describe = Object.hasOwn(sentences, issue.code)
			? (sentences[issue.code] as Describe)
			: ({ issue: { message } }: Context) => [message];
		const path = issue.path.map((step) =>
			typeof step === "number" ? step : String(step),
		);
		return describe({
			issue,
			path,
			value: valueAt(value, path),
			whole: value,
		}).map((found) =>
			typeof found === "string"
				? { path, at: "value" as const, message: found }
				: found,
		);
	});
}

// --- internal ---

interface Context {
	// biome-ignore lint/suspicious/noExplicitAny: a union of 12 shapes, told apart by the code under which `sentences` lists them.
	readonly issue: any;
	readonly path: Path;
	/** What stands at `path`. */
	readonly value: unknown;
	readonly whole: unknown;
}
type Describe = (context: Context) => (string | Problem)[];

const sentences: Readonly<Record<string, Describe>> = {
	custom: ({ issue }) => [issue.message],

	unrecognized_keys: ({ issue, path, whole }) =>
		issue.keys.map((key: string) => ({
			path: [...path, key],
			at: "key",
			message: unknownKey(path, key, whole),
		})),

	invalid_type: ({ issue, path, value }) => {
		const what = noun(path);
		if (value === undefined)
			return [
				{
					path,
					at: "key",
					message: `${what} is missing${own(examples, path.join(".")) ?? ""}`,
				},
			];
		if (value === null || value === "")
			return [`${what} is empty; give it a value or remove it`];
		const field = fieldOf(path);
		if (path.length === 1 && typeof value === "string") {
			if (field === "systems")
				return [`systems is a map of names; did you mean system: ${value}?`];
			if (field === "sla") return [`sla is a list; write sla: [${value}]`];
		}
		if (path.length === 1 && field === "systems" && Array.isArray(value))
			return [
				`systems is a map of names, not a list; write e.g. systems: { ${value.map((one) => (typeof one === "string" ? `${one}: ${one}` : "NAME: { ... }")).join(", ")} }`,
			];
		if (path[0] === "matrix" && path.length === 2)
			return [
				`${field} of the matrix must be a list of values; write ${field}: [${typeof value === "object" ? "..." : String(value)}]`,
			];
		if (
			field === "messages" &&
			typeof value === "string" &&
			/\d *[KMG]?i?B$/.test(value)
		)
			return [
				`messages is how many there are, got ${quoted(value)}; did you mean message: ${value}?`,
			];
		if (typeof value === "number" && issue.expected === "string") {
			if (Object.hasOwn(units, field))
				return [`${what} ${value} has no unit; write e.g. ${units[field]}`];
			return [`${what} must be text; put ${value} in quotes`];
		}
		if (
			typeof value === "string" &&
			/^\d+$/.test(value) &&
			["number", "int"].includes(issue.expected)
		)
			return [
				`${what} must be a number, got text; remove the quotes around ${value}`,
			];
		return [`${what} must be ${expected(issue.expected)}, got ${kind(value)}`];
	},

	invalid_value: ({ issue, path, value }) => [
		choice(path, value, [...new Set((issue.values as unknown[]).map(String))]),
	],

	invalid_union: ({ issue, path, value, whole }) => {
		if (issue.discriminator !== undefined)
			return value === undefined
				? [
						{
							path,
							at: "key",
							message: `broker is missing; write e.g. broker: ${example.broker}`,
						},
					]
				: [choice(path, value, issue.options)];
		const field = fieldOf(path);
		if (value === null || value === "")
			return [`${noun(path)} is empty; give it a value or remove it`];
		if (typeof value === "number" && Object.hasOwn(units, field)) {
			if (value === 0 || !takesNumbers(issue.errors))
				return [
					`${noun(path)} ${value} has no unit; write e.g. ${units[field]}`,
				];
		}
		// Of the alternatives those that take this kind of value, text or map; of several the one with the fewest mistakes.
		const branches: z.core.$ZodIssue[][] = issue.errors.filter(
			(errors: z.core.$ZodIssue[]) =>
				!errors.some(
					(error) =>
						error.path.length === 0 &&
						(error.code === "invalid_type" ||
							(error.code === "invalid_value" && typeof value !== "string")),
				),
		);
		const [branch] = branches.sort((a, b) => a.length - b.length);
		if (!branch)
			return [
				`${noun(path)} must be ${Object.hasOwn(severalForms, field) ? severalForms[field] : "text or a map"}, got ${kind(value)}`,
			];
		return problemsOf(
			branch.map((error) => ({ ...error, path: [...path, ...error.path] })),
			whole,
		);
	},

	invalid_key: ({ issue, path }) => [
		{
			path,
			at: "key",
			message: `${issue.issues[0]?.message}, got ${quoted(path.at(-1))}`,
		},
	],

	invalid_format: ({ issue, value }) => [
		`${issue.message}, got ${quoted(value)}`,
	],

	too_small: ({ issue, path, value }) => [
		issue.origin === "number"
			? `${noun(path)} must be at least ${issue.minimum}, got ${value}`
			: `${noun(path)} is empty; give it a value or remove it`,
	],

	too_big: ({ issue, path, value }) => [
		issue.origin === "number"
			? `${noun(path)} must be at most ${issue.maximum}, got ${value}`
			: `${noun(path)} must have at most ${issue.maximum} characters`,
	],
};

/** What to write for what is missing, by its place. */
const examples: Readonly<Record<string, string>> = {
	"aws.region": "; write e.g. region: eu-central-1",
	"aws.brokers":
		" in aws: brokers run on machines of their own; write e.g. brokers: { instance: i4i.xlarge }",
	"aws.clients":
		" in aws: the load comes from machines of its own; write e.g. clients: { instance: c6in.xlarge }",
	"aws.clients.instance":
		": which machines are to make the load; write e.g. instance: c6in.xlarge",
	"aws.brokers.instance":
		": which machines are for the brokers; write e.g. instance: i4i.xlarge",
	"aws.brokers.volume.size": " of the volume; write e.g. size: 100GiB",
};

/** Fields with a unit, and how they are written. */
const units: Readonly<Record<string, string>> = {
	rate: "3000/s or 90/min",
	target: "10000/s",
	message: "256B, 1KiB (1024 B) or 1KB (1000 B)",
	duration: "10s or 5min",
	warmup: "5s",
	drain: "30s",
	timeout: "250ms or 1s",
	work: "2ms",
	mean: "2ms",
	at: "10s",
	for: "500ms",
	delay: "50ms",
	memory: "2GiB",
	ttl: "2h",
	size: "100GiB",
	throughput: "500MiB",
};

/** What may stand in fields that take several kinds of values. */
const severalForms: Readonly<Record<string, string>> = {
	backlog: "a whole number of messages or a size, e.g. 100000 or 1GiB",
	warmup: 'a duration or a number of messages, e.g. 5s or "10000 messages"',
	payload: "random, zeros, { file: ... } or { random: 0.3 }",
	keys: "none, round-robin, random, zipf or { distribution, count }",
	work: "a duration or { mean, distribution }",
	tls: "true, false or a map",
	clients:
		'a number of processes, a list of hosts or { docker: n }, e.g. 3 or ["bench@10.0.0.11"]',
	node: "a number from 1 or leader",
};

/** Does one of the alternatives take a number, though not this one? */
function takesNumbers(branches: readonly z.core.$ZodIssue[][]): boolean {
	return branches.some((errors) =>
		errors.every(
			(error) =>
				error.code !== "invalid_type" && error.code !== "invalid_value",
		),
	);
}

function unknownKey(path: Path, key: string, whole: unknown): string {
	const place = placeOf(path);
	const known = knownKeys(place, path, whole);
	if (place === "system") {
		const broker = systemBroker(valueAt(whole, path));
		if (Object.hasOwn(processFields, key))
			return `${key} has no meaning for ${broker}: there is no broker to connect to`;
		const others = BrokerName.options.filter(
			(other) => other !== broker && optionsOf(other).includes(key),
		);
		if (others.length > 0)
			return `${key} is an option of ${others.join(" and ")}, not of ${broker}${known.length === 0 ? "" : `; known: ${known.join(", ")}`}`;
	}
	if (place === "sla" && /^p\(?[\d.]+\)?$|^max$/.test(key))
		return `an objective is text, not a key; write - ${key} < 20ms`;
	const tally = Tally.safeParse(key).data;
	if (place === "sla" && tally !== undefined)
		return `an objective is text, not a key; write - ${key} ${UNITS[TALLIES[tally].unit].example}`;
	const other = otherToolsWord(place, key);
	if (other)
		return known.includes(other)
			? `unknown key ${quoted(key)}; did you mean ${other}?`
			: `unknown key ${quoted(key)}; write ${other}`;
	if (place === "scenario" && workloadKeys.includes(key))
		return `${key} belongs under workload:`;
	const above = place === "workload" || place === "case" || place === "matrix";
	if (above && place !== "case" && key === "sla")
		return `sla belongs at the top level or into a case, not under ${path[0]}:`;
	if (above && scenarioKeys.includes(key))
		return `${key} belongs at the top level, not under ${path[0]}:`;
	return `unknown key ${quoted(key)}${didYouMean(key, known)}`;
}

const scenarioKeys = Object.keys(ScenarioFile.shape);
const workloadKeys: readonly string[] = workloadFields;

/** Keys that may stand at a place. */
function knownKeys(place: Place, path: Path, whole: unknown): string[] {
	return place === "system"
		? optionsOf(systemBroker(valueAt(whole, path)))
		: keysOf(path.reduce(below, [ScenarioFile]));
}

/** What the schemas have for a step of a path: for a key of a map, an item of a list. */
function below(
	schemas: readonly z.core.$ZodType[],
	step: string | number,
): z.core.$ZodType[] {
	return schemas.flatMap(forms).flatMap((schema) => {
		if (schema instanceof z.ZodArray) return [schema.element];
		if (schema instanceof z.ZodRecord) return [schema.valueType];
		const one = schema instanceof z.ZodObject && schema.shape[step];
		return one ? [one] : [];
	});
}

function keysOf(schemas: readonly z.core.$ZodType[]): string[] {
	const keys = schemas
		.flatMap(forms)
		.flatMap((one) =>
			one instanceof z.ZodObject ? Object.keys(one.shape) : [],
		);
	return [...new Set(keys)];
}

/** What may be written there: each of several forms, without default and optionality. */
function forms(schema: z.core.$ZodType): z.core.$ZodType[] {
	if (schema instanceof z.ZodUnion) return schema.options.flatMap(forms);
	return schema instanceof z.ZodOptional ||
		schema instanceof z.ZodDefault ||
		schema instanceof z.ZodPrefault
		? forms(schema.unwrap())
		: [schema];
}

function optionsOf(broker: string): string[] {
	const name = BrokerName.safeParse(broker);
	return name.success
		? Object.keys(brokerOf({ broker: name.data }).options.shape)
		: ["broker"];
}

function choice(path: Path, value: unknown, known: string[]): string {
	const field = isSystem(path) ? "broker" : fieldOf(path);
	if (value === undefined)
		return `${field} is missing; write one of ${known.join(", ")}`;
	if (value === null || value === "")
		return `${field} is empty; write one of ${known.join(", ")}`;
	if (typeof value !== "string")
		return `${field} must be one of ${known.join(", ")}, got ${kind(value)}`;
	return (
		otherToolsValue(field, value, known) ??
		`unknown ${field} ${quoted(value)}${didYouMean(value, known)}`
	);
}

function placeOf(path: Path): Place {
	const [top, , third] = path;
	if (path.length === 0) return "scenario";
	if (top === "workload" && path.length === 1) return "workload";
	if (top === "matrix" && path.length === 1) return "matrix";
	if (top === "cases" && path.length === 2) return "case";
	if (isSystem(path)) return "system";
	if (top === "sla" && path.length === 2) return "sla";
	if (top === "cases" && third === "sla" && path.length === 4) return "sla";
	const list = path.at(-2);
	return (list === "stages" || list === "steps") &&
		typeof path.at(-1) === "number"
		? list
		: "other";
}

function isSystem(path: Path): boolean {
	return (
		(path.length === 1 && path[0] === "system") ||
		(path.length === 2 && path[0] === "systems")
	);
}

function systemBroker(system: unknown): string {
	return String(valueAt(system, ["broker"]) ?? "this system");
}

/** The field that a path leads to: that of a list for its items. */
function fieldOf(path: Path): string {
	const item = path[0] === "matrix" && path.length === 3;
	return String(item ? path[1] : path.at(-1));
}

/** "rate", "case 2", "sla line 1", "step 3", "the scenario". */
function noun(path: Path): string {
	const last = path.at(-1);
	if (last === undefined) return "the scenario";
	if (typeof last !== "number") return last;
	if (path[0] === "matrix" && path.length === 3) return fieldOf(path);
	const items: Readonly<Record<string, string>> = {
		sla: "sla line",
		cases: "case",
		stages: "stage",
		steps: "step",
	};
	const list = String(path.at(-2));
	return `${Object.hasOwn(items, list) ? items[list] : list} ${last + 1}`;
}

function expected(type: string): string {
	const words: Readonly<Record<string, string>> = {
		string: "text",
		object: "a map",
		record: "a map",
		array: "a list",
		int: "a whole number",
		number: "a number",
		boolean: "true or false",
	};
	return words[type] ?? type;
}

function kind(value: unknown): string {
	if (Array.isArray(value)) return "a list";
	if (typeof value === "object" && value !== null) return "a map";
	return typeof value === "string" ? quoted(value) : String(value);
}

function quoted(value: unknown): string {
	const text = String(value);
	return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
