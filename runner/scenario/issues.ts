import { stringify } from "yaml";
import { z } from "zod";
import { processFields } from "../brokers/fields.ts";
import { BrokerName, brokerOf, example, loginUrl, realBrokers } from "../brokers/index.ts";
import { workloadFields } from "../model/workload.ts";
import { didYouMean, suggest } from "../suggest.ts";
import { tell } from "../text/tell.ts";
import { otherToolsValue, otherToolsWord, own } from "./other-tools.ts";
import {
	fieldOf,
	isMap,
	isSystem,
	noun,
	quoted,
	systemBroker,
	valueAt,
	type Written,
} from "./place.ts";
import type { Path, Problem } from "./problem.ts";
import { ScenarioFile, written } from "./schema.ts";

/** Turns zod's issues into sentences for the scenario's author; `value` is the checked value. */
export function problemsOf(
	issues: readonly z.core.$ZodIssue[],
	value: unknown,
	file: z.ZodType = ScenarioFile,
): Problem[] {
	// Correcting an unknown key often supplies the missing one.
	const misspelt = new Set(
		issues.filter(({ code }) => code === "unrecognized_keys").map(({ path }) => path.join()),
	);
	const follows = ({ path }: z.core.$ZodIssue) =>
		path.length > 0 &&
		valueAt(value, path as Path) === undefined &&
		misspelt.has(path.slice(0, -1).join());
	// zod reports a number beyond 2^53 twice, and the field's own limit comes last.
	const last = new Map(issues.map((issue) => [`${issue.code} ${issue.path.join()}`, issue]));
	return [...last.values()].flatMap((issue) => {
		if (follows(issue)) return [];
		const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
		const about = { issue, path, value: valueAt(value, path), whole: { value, file } };
		const sentence = sentences[issue.code]?.(about) ?? issue.message;
		return (Array.isArray(sentence) ? sentence : [{ path, message: sentence }]).map((problem) => ({
			code: issue.code,
			...problem,
		}));
	});
}

interface Whole {
	readonly value: unknown;
	readonly file: z.ZodType;
}

/** The keys allowed at `path`, for a system its broker's keys. */
export function keysAt(path: Path, whole: Whole): string[] {
	const keys = schemasAt(path, whole)
		.flatMap(forms)
		.flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : []));
	return [...new Set(keys)];
}

export function fits(path: Path, whole: Whole, value: unknown): boolean {
	return schemasAt(path, whole).some((one) => z.safeParse(one, value).success);
}

/** As YAML. */
export function examplesAt(path: Path, whole: Whole): string[] {
	const examples = (schema: z.core.$ZodType): unknown[] =>
		(z.globalRegistry.get(schema)?.examples as unknown[] | undefined) ??
		inside(schema).flatMap(examples);
	return schemasAt(path, whole)
		.flatMap(examples)
		.map((one) => stringify(one, { collectionStyle: "flow", lineWidth: 0 }).trim());
}

// --- internal ---

interface About {
	// biome-ignore lint/suspicious/noExplicitAny: a union of 12 shapes, distinguished by the code under which `sentences` lists them.
	readonly issue: any;
	readonly path: Path;
	readonly value: unknown;
	readonly whole: Whole;
}

const sentences: Readonly<Record<string, (about: About) => string | Problem[]>> = {
	custom: ({ issue, path }) =>
		issue.params?.ofValue === undefined ? issue.message : `${noun(path)} ${issue.params.ofValue}`,

	unrecognized_keys: ({ issue, path, whole }) =>
		issue.keys.map((key: string) => ({
			path: [...path, key],
			at: "key",
			message: unknownKey(path, key, whole),
		})),

	invalid_key: ({ issue, path }) => [
		{ path, at: "key", message: `${issue.issues[0]?.message}, got ${quoted(path.at(-1))}` },
	],

	// The value goes before the remedy.
	invalid_format: ({ issue, value }) =>
		issue.message.replace(/;|$/, (end: string) => `, got ${quoted(value)}${end}`),

	invalid_type: (about) => {
		const { issue, path, value } = about;
		if (value === undefined) return missing(about);
		if (value === null || value === "") return empty(path);
		return otherKind(about, KINDS[issue.expected] ?? issue.expected);
	},

	invalid_value: (about) => choice(about, about.issue.values),

	invalid_union: (about) => {
		const { issue, path, value, whole } = about;
		if (value === undefined) return missing(about);
		if (issue.discriminator !== undefined) return choice(about, issue.options);
		if (value === null || value === "" || (isMap(value) && Object.keys(value).length === 0))
			return empty(path);
		// Choose the alternative for this kind of value that has the fewest mistakes.
		const branches: z.core.$ZodIssue[][] = issue.errors;
		const [branch] = branches
			.filter((errors) => !errors.some((error) => isOtherKind(error, value)))
			.sort((a, b) => a.length - b.length);
		if (branch)
			return problemsOf(
				branch.map((one) => ({ ...one, path: [...path, ...one.path] })),
				whole.value,
				whole.file,
			);
		const kinds = branches
			.flat()
			.filter((error) => error.path.length === 0)
			.map((error) => (error.code === "invalid_type" ? String(KINDS[error.expected]) : "text"));
		return otherKind(about, EITHER.format(new Set(kinds)));
	},

	too_small: ({ issue, path, value }) =>
		issue.origin === "string" || issue.origin === "array"
			? empty(path)
			: tell("below-least", { what: noun(path), least: issue.minimum, got: value }),

	too_big: ({ issue, path, value }) =>
		issue.origin === "string" || issue.origin === "array"
			? tell(issue.origin === "array" ? "too-many" : "too-long", {
					what: noun(path),
					most: issue.maximum,
					got: (value as { length: number }).length,
				})
			: tell("above-most", { what: noun(path), most: issue.maximum, got: value }),
};

const KINDS: Readonly<Record<string, string>> = {
	string: "text",
	object: "a map",
	record: "a map",
	array: "a list",
	int: "a whole number",
	number: "a number",
	boolean: "true or false",
};

const FLAGS = { yes: true, on: true, no: false, off: false };

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

function missing({ path, issue, whole }: About): string {
	const kind = issue.discriminator !== undefined;
	const what = kind ? "broker" : noun(path);
	const [first] = kind ? [example.broker] : examplesAt(path, whole);
	return first === undefined
		? tell("missing-here", { what })
		: tell("missing", { what, write: `e.g. ${what}: ${first}` });
}

function empty(path: Path): string {
	return tell("empty", { what: noun(path) });
}

function otherKind({ path, value, whole }: About, expected: string): string {
	if (Array.isArray(value) && path[0] === "workload" && path.length === 2)
		return tell("one-value", {
			field: fieldOf(path),
			values: value.filter((one) => typeof one !== "object"),
		});
	const what = noun(path);
	const examples = examplesAt(path, whole);
	const isPlain = typeof value === "number" || typeof value === "boolean";
	const [unit] = /(?<=^\d+)[^\d.\s].*$/.exec(examples[0] ?? "") ?? [];
	if (isPlain && unit !== undefined) {
		const write = fits(path, whole, `${value}${unit}`)
			? `${value}${unit}`
			: `e.g. ${EITHER.format(examples)}`;
		return tell("without-unit", { what, value, write });
	}
	const kind = Array.isArray(value) ? "a list" : isMap(value) ? "a map" : null;
	const got = kind ?? (isPlain ? String(value) : quoted(value));
	// Without quotes YAML 1.2 reads 2.1 as a number, and `yes` as text; a list may have one entry.
	const flag = typeof value === "string" ? own(FLAGS, value.toLowerCase()) : undefined;
	const unquoted = typeof value === "string" ? Number(value) : undefined;
	const meant = [flag, isPlain ? String(value) : unquoted, [value]].find(
		(one) => one !== undefined && fits(path, whole, one),
	);
	const example = examples.length > 0 ? `e.g. ${EITHER.format(examples)}` : null;
	const write = meant === undefined ? example : JSON.stringify(meant);
	return write === null
		? tell("other-kind", { what, expected, got })
		: tell("other-kind-meant", { what, expected, got, meant: write });
}

function isOtherKind({ path, code }: z.core.$ZodIssue, value: unknown): boolean {
	return (
		path.length === 0 &&
		(code === "invalid_type" || (code === "invalid_value" && typeof value !== "string"))
	);
}

function choice(about: About, options: readonly unknown[]): string {
	const { path, value } = about;
	const known = [...new Set(options.map(String))];
	const what = isSystem(path) ? "broker" : fieldOf(path);
	const write = `one of ${known.join(", ")}`;
	if (value === undefined) return tell("missing", { what, write });
	if (value === null || value === "") return tell("empty-of", { what, write });
	if (typeof value !== "string" || options.includes(Number(value))) return otherKind(about, write);
	const near = didYouMean(value, known);
	const isNew = what === "broker" && /^[a-z][a-z0-9]*$/.test(value) && near.startsWith("; known");
	const meant = isNew ? near + tell("driver-of-yours", { name: value }) : near;
	return otherToolsValue(what, value) ?? tell("unknown", { what, word: quoted(value), meant });
}

function unknownKey(path: Path, key: string, whole: Whole): string {
	const map = valueAt(whole.value, path) as Written;
	const known = keysAt(path, whole);
	if (isSystem(path)) {
		const broker = systemBroker(path, whole.value);
		if (Object.hasOwn(processFields, key)) return tell("option-without-effect", { key, broker });
		if (LOGIN.includes(key.toLowerCase()) && realBrokers.includes(broker))
			return tell("login-as-key", { ...loginUrl(brokerOf({ broker })), key: quoted(key) });
		const others = BrokerName.options.filter(
			(other) => other !== broker && Object.hasOwn(brokerOf({ broker: other }).options.shape, key),
		);
		// `ack: all` means Kafka's acks, although RabbitMQ has an ack.
		const near = suggest(key, known);
		const meant = near !== undefined && fits([...path, near], whole, map[key]);
		if (others.length > 0 && !meant)
			return tell("other-brokers-option", { key, brokers: others.join(" and "), broker });
	}
	const unknown = (meant: string) => tell("unknown", { what: "key", word: quoted(key), meant });
	const word = otherToolsWord(path, key);
	if (word) return unknown(known.includes(word) ? `; did you mean ${word}?` : `; write ${word}`);
	const isField = (workloadFields as readonly string[]).includes(key);
	if (path.length === 0 && isField) return tell("under-workload", { key });
	if (/^(workload|matrix|cases,\d+)$/.test(String(path)) && Object.hasOwn(ScenarioFile.shape, key))
		return tell("at-top-level", { key, place: path[0] });
	// Different alternatives have these keys, for example a payload with both file and random.
	if (known.includes(key)) {
		const both = Object.keys(map).filter((one) => known.includes(one));
		return tell("one-of-keys", { what: noun(path), keys: both.join(" or ") });
	}
	return unknown(didYouMean(key, known));
}

const LOGIN = ["password", "passwd", "pass", "user", "username", "auth", "token"];

function schemasAt(path: Path, whole: Whole): z.core.$ZodType[] {
	let schemas: z.core.$ZodType[] = [whole.file];
	for (const [depth, step] of path.entries()) {
		const here = path.slice(0, depth + 1);
		schemas = schemas.flatMap(forms).flatMap((schema) => below(schema, step));
		if (!isSystem(here)) continue;
		const broker = systemBroker(here, whole.value);
		const own = schemas
			.flatMap(forms)
			.find((one) => one instanceof z.ZodObject && z.safeParse(one.shape.broker, broker).success);
		if (own) schemas = [own];
	}
	return schemas;
}

function below(schema: z.core.$ZodType, step: string | number): z.core.$ZodType[] {
	if (schema instanceof z.ZodArray) return [schema.element];
	if (schema instanceof z.ZodRecord) return [schema.valueType];
	const one =
		schema instanceof z.ZodObject && Object.hasOwn(schema.shape, step) && schema.shape[step];
	return one ? [one] : [];
}

/** The alternatives, without defaults and optionality. */
function forms(schema: z.core.$ZodType): z.core.$ZodType[] {
	const within = inside(schema);
	return within.length === 0 ? [schema] : within.flatMap(forms);
}

function inside(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
	if (schema instanceof z.ZodUnion) return schema.options;
	// The written form, before any transform.
	if (schema instanceof z.ZodPipe) return [schema.in];
	const bare = written(schema);
	return bare === schema ? [] : [bare];
}
