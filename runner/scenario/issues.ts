import type { z } from "zod";
import { example } from "../brokers/index.ts";
import { didYouMean, suggest } from "../suggest.ts";
import { removed } from "../text/removed.ts";
import { tell } from "../text/tell.ts";
import { plainCount } from "../unit-slips.ts";
import { otherToolsValue, own } from "./other-tools.ts";
import { fieldOf, isSystem, noun, quoted } from "./place.ts";
import { type Path, type Problem, refuseKey } from "./problem.ts";
import { fits, keysAt, unitExamples } from "./schema-walk.ts";
import { meantObjective } from "./sla.ts";
import { unknownKey } from "./unknown-keys.ts";
import { isMap, valueAt } from "./written.ts";

/** zod's issues as sentences for the person who wrote the file. `value` is what was checked. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], value: unknown): Problem[] {
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
	// A number beyond 2^53 is too large for a whole number, and for its field.
	const repeats = (issue: z.core.$ZodIssue) =>
		issue.code === "too_big" &&
		issues.some(
			(other) =>
				other.code === "too_big" &&
				other.maximum < issue.maximum &&
				other.path.join() === issue.path.join(),
		);
	return issues.flatMap((issue) => {
		if (follows(issue) || repeats(issue)) return [];
		const describe = Object.hasOwn(sentences, issue.code)
			? (sentences[issue.code] as Describe)
			: ({ issue: { message } }: Context) => [message];
		const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
		return describe({ issue, path, value: valueAt(value, path), whole: value }).map((mistake) =>
			typeof mistake === "string"
				? { path, at: "value" as const, message: mistake, code: issue.code }
				: { code: issue.code, ...mistake },
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
	custom: ({ issue, path }) => [
		issue.params?.ofValue === undefined ? issue.message : `${noun(path)} ${issue.params.ofValue}`,
	],

	unrecognized_keys: ({ issue, path, whole }) =>
		issue.keys.map((key: string) => ({
			path: [...path, key],
			at: "key",
			message: unknownKey(path, key, whole),
		})),

	invalid_type: ({ issue, path, value, whole }) => {
		const what = noun(path);
		if (value === undefined)
			return [
				{
					path,
					at: "key",
					message: own(examples, path.join(".")) ?? tell("missing-here", { what }),
				},
			];
		if (value === null || value === "") return [empty(path)];
		const field = fieldOf(path);
		const list = listOf(field, value);
		if (list) return [list];
		if (path[0] === "matrix" && path.length === 2)
			return [
				tell("matrix-without-list", { field, value: typeof value === "object" ? "..." : value }),
			];
		if (Array.isArray(value) && path[0] === "workload" && path.length === 2)
			return [tell("one-value", { field, values: value.filter((one) => typeof one !== "object") })];
		if (issue.expected === "array" && isMap(value)) return [tell("map-for-list", { what })];
		if (field === "messages" && typeof value === "string" && /\d *[KMG]?i?B$/.test(value))
			return [tell("messages-as-size", { size: value })];
		if (typeof value === "number" && issue.expected === "string")
			return [unitless(path, value, whole) ?? tell("number-for-text", { what, value })];
		const [, key = "", rest] = /^([A-Za-z]+)\s+(\S.*)$/.exec(String(value)) ?? [];
		if (keysAt(path, whole).includes(key)) return [tell("colon-missing", { key, value: rest })];
		const meant = typeof value === "string" ? meantValue(value) : undefined;
		const values = { what, expected: expected(issue.expected), got: kind(value) };
		return [
			meant !== undefined && fits(path, whole, meant)
				? tell("other-kind-meant", { ...values, meant })
				: tell("other-kind", values),
		];
	},

	invalid_value: ({ issue, path, value }) => [
		choice(path, value, [...new Set((issue.values as unknown[]).map(String))]),
	],

	invalid_union: ({ issue, path, value, whole }) => {
		if (issue.discriminator !== undefined)
			return value === undefined
				? [refuseKey(path, "missing", { what: "broker", write: `e.g. broker: ${example.broker}` })]
				: [choice(path, value, issue.options)];
		if (value === undefined && own(examples, path.join(".")) !== undefined)
			return sentences.invalid_type?.({ issue, path, value, whole }) ?? [];
		if (value === null || value === "" || isEmptyMap(value)) return [empty(path)];
		if (typeof value === "number" && (value === 0 || !takesNumbers(issue.errors))) {
			const mistake = unitless(path, value, whole);
			if (mistake !== undefined) return [mistake];
		}
		// Of the alternatives those that take this kind of value, text or map; of several the one with the fewest mistakes.
		const branches: z.core.$ZodIssue[][] = issue.errors.filter(
			(errors: z.core.$ZodIssue[]) => !errors.some(isOtherKind(value)),
		);
		const [branch] = branches.sort((a, b) => a.length - b.length);
		const several = own(severalForms, fieldOf(path));
		if (!branch || (several !== undefined && isStrange(branch, path, value)))
			return [
				tell("other-kind", {
					what: noun(path),
					got: kind(value),
					expected: several ?? kindsOf(issue.errors),
				}),
			];
		return problemsOf(
			branch.map((error) => ({ ...error, path: [...path, ...error.path] })),
			whole,
		);
	},

	invalid_key: ({ issue, path }) => [
		{ path, at: "key", message: `${issue.issues[0]?.message}, got ${quoted(path.at(-1))}` },
	],

	invalid_format: ({ issue, value }) => [
		// What it is comes before what to write.
		issue.message.replace(/;|$/, (end: string) => `, got ${quoted(value)}${end}`),
	],

	too_small: ({ issue, path, value }) => [
		issue.origin === "string" || issue.origin === "array"
			? empty(path)
			: tell("below-least", { what: noun(path), least: issue.minimum, got: value }),
	],

	too_big: ({ issue, path, value }) => [
		issue.origin === "string" || issue.origin === "array"
			? tell(issue.origin === "array" ? "too-many" : "too-long", {
					what: noun(path),
					most: issue.maximum,
					got: (value as { length: number }).length,
				})
			: tell("above-most", { what: noun(path), most: issue.maximum, got: value }),
	],
};

/** What to say of what is missing, by its place. */
const examples: Readonly<Record<string, string>> = {
	"aws.region": tell("region-missing"),
	"aws.brokers": tell("broker-machines-missing"),
	"aws.clients": tell("client-machines-missing"),
	"aws.clients.instance": tell("client-instance-missing"),
	"aws.brokers.instance": tell("broker-instance-missing"),
	"aws.brokers.volume.size": tell("volume-size-missing"),
};

/** What may stand in fields that take several kinds of values. */
const severalForms: Readonly<Record<string, string>> = {
	backlog: tell("form-of-backlog"),
	warmup: tell("form-of-warmup"),
	payload: tell("form-of-payload"),
	keys: tell("form-of-keys"),
	work: tell("form-of-work"),
	tls: tell("form-of-tls"),
	clients: tell("form-of-clients"),
	node: tell("form-of-node"),
};

function empty(path: Path): string {
	return tell("empty", { what: noun(path) });
}

/** Of what stands where a list of objectives or a map of systems belongs: what to write. */
function listOf(field: string, value: unknown): string | undefined {
	if (field === "systems" && typeof value === "string")
		return tell("systems-text", { system: value });
	if (field === "systems" && Array.isArray(value))
		return tell("systems-list", {
			systems: value.map((one) => (typeof one === "string" ? `${one}: ${one}` : "NAME: { ... }")),
		});
	if (field !== "sla") return undefined;
	const lines = isMap(value)
		? Object.entries(value).map(([key, limit]) => meantObjective(key, limit))
		: [String(value)];
	return lines.every((line) => line !== undefined)
		? tell("sla-not-a-list", { lines })
		: tell("sla-map");
}

/** What to say of a number where a text with a unit belongs; undefined: none belongs there. */
function unitless(path: Path, value: number, whole: unknown): string | undefined {
	const samples = unitExamples(path, whole);
	if (samples.length === 0) return undefined;
	const field = fieldOf(path);
	const beside = (map: unknown) => isMap(map) && Object.hasOwn(map, "messages");
	const closed = beside(valueAt(whole, path.slice(0, -1))) || beside(valueAt(whole, ["workload"]));
	const unit =
		field === "warmup" && closed
			? " messages"
			: (own(likelierUnits, field)?.(value) ?? /[^\d.]+$/.exec(samples[0] ?? "")?.[0]);
	const meant = `${value}${unit}`;
	return tell("without-unit", {
		what: noun(path),
		value,
		write: fits(path, whole, meant) ? meant : `e.g. ${samples.join(" or ")}`,
	});
}

/** Units that follow from how large a number is; else it is that of the field's first example. */
const likelierUnits: Readonly<Record<string, (value: number) => string>> = {
	for: (value) => (value < 100 ? "s" : "ms"),
	timeout: (value) => (value < 100 ? "s" : "ms"),
	memory: (value) => (value < 64 ? "GiB" : "MiB"),
	heap: (value) => (value < 64 ? "GiB" : "MiB"),
};

/** A number or yes and no, as a person has written them. */
function meantValue(text: string): number | boolean | undefined {
	if (/^(yes|on)$/i.test(text)) return true;
	if (/^(no|off)$/i.test(text)) return false;
	return plainCount(text);
}

function isEmptyMap(value: unknown): boolean {
	return isMap(value) && Object.keys(value).length === 0;
}

/** Is it a word that resembles none of those that may stand there? */
function isStrange(errors: readonly z.core.$ZodIssue[], path: Path, value: unknown): boolean {
	return errors.some(
		(error) =>
			error.code === "invalid_value" &&
			error.path.length === 0 &&
			typeof value === "string" &&
			suggest(value, error.values.map(String)) === undefined &&
			otherToolsValue(fieldOf(path), value) === undefined,
	);
}

/** Does one of the alternatives take a number, though not this one? */
function takesNumbers(branches: readonly z.core.$ZodIssue[][]): boolean {
	return branches.some((errors) =>
		errors.every((error) => error.code !== "invalid_type" && error.code !== "invalid_value"),
	);
}

/** Is the alternative for another kind of value: a map where this is text? */
function isOtherKind(value: unknown) {
	return ({ path, code }: z.core.$ZodIssue) =>
		path.length === 0 &&
		(code === "invalid_type" || (code === "invalid_value" && typeof value !== "string"));
}

/** "text, a number or a map": what the alternatives take. */
function kindsOf(branches: readonly z.core.$ZodIssue[][]): string {
	const kinds = branches.flatMap((errors) =>
		errors
			.filter(({ path }) => path.length === 0)
			.map((error) => (error.code === "invalid_type" ? expected(error.expected) : "text")),
	);
	return new Intl.ListFormat("en-GB", { type: "disjunction" }).format([
		...new Set(kinds.flatMap((one) => one.split(" or "))),
	]);
}

function choice(path: Path, value: unknown, known: string[]): string {
	const field = isSystem(path) ? "broker" : fieldOf(path);
	const write = `one of ${known.join(", ")}`;
	if (value === undefined) return tell("missing", { what: field, write });
	if (value === null || value === "") return tell("empty-of", { what: field, write });
	if (typeof value !== "string")
		return tell("other-kind", { what: field, expected: write, got: kind(value) });
	return (
		removed(`${field}: ${value}`) ??
		otherToolsValue(field, value) ??
		tell("unknown", { what: field, word: quoted(value), meant: didYouMean(value, known) })
	);
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
	if (isMap(value)) return "a map";
	return typeof value === "string" ? quoted(value) : String(value);
}
