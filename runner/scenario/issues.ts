import type { z } from "zod";
import { example } from "../brokers/index.ts";
import { didYouMean, suggest } from "../suggest.ts";
import { removed } from "../text/removed.ts";
import { tell } from "../text/tell.ts";
import { plainCount } from "../unit-slips.ts";
import { otherToolsValue } from "./other-tools.ts";
import { fieldOf, isSystem, noun, quoted } from "./place.ts";
import type { Path, Problem } from "./problem.ts";
import { examplesAt, fits, keysAt, unitExamples } from "./schema-walk.ts";
import { unknownKey } from "./unknown-keys.ts";
import { isMap, valueAt } from "./written.ts";

/** zod's issues as sentences for the person who wrote the file. `value` is what was checked. */
export function problemsOf(issues: readonly z.core.$ZodIssue[], value: unknown): Problem[] {
	// Who mends an unknown key of a map has often found the missing one.
	const misspelt = new Set(
		issues.filter(({ code }) => code === "unrecognized_keys").map(({ path }) => path.join()),
	);
	const follows = ({ path }: z.core.$ZodIssue) =>
		path.length > 0 &&
		valueAt(value, path as Path) === undefined &&
		misspelt.has(path.slice(0, -1).join());
	// A number beyond 2^53 is too large for a whole number, and for its field: the field's limit comes last.
	const last = new Map(issues.map((issue) => [`${issue.code} ${issue.path.join()}`, issue]));
	return [...last.values()].flatMap((issue) => {
		if (follows(issue)) return [];
		const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
		const about = { issue, path, value: valueAt(value, path), whole: value };
		const describe = sentences[issue.code] ?? (() => issue.message);
		const said = describe(about);
		return (Array.isArray(said) ? said : [{ path, message: said }]).map((problem) => ({
			code: issue.code,
			...problem,
		}));
	});
}

// --- internal ---

interface About {
	// biome-ignore lint/suspicious/noExplicitAny: a union of 12 shapes, told apart by the code under which `sentences` lists them.
	readonly issue: any;
	readonly path: Path;
	/** What stands at `path`. */
	readonly value: unknown;
	readonly whole: unknown;
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

	// What it is comes before what to write.
	invalid_format: ({ issue, value }) =>
		issue.message.replace(/;|$/, (end: string) => `, got ${quoted(value)}${end}`),

	invalid_type: (about) => {
		const { issue, path, value } = about;
		if (value === undefined) return missing(about);
		if (value === null || value === "") return empty(path);
		if (Array.isArray(value) && path[0] === "workload" && path.length === 2)
			return tell("one-value", {
				field: fieldOf(path),
				values: value.filter((one) => typeof one !== "object"),
			});
		return unitless(about) ?? otherKind(about, KINDS[issue.expected] ?? issue.expected);
	},

	invalid_value: (about) => choice(about, about.issue.values),

	invalid_union: (about) => {
		const { issue, path, value, whole } = about;
		if (value === undefined) return missing(about);
		if (issue.discriminator !== undefined) return choice(about, issue.options);
		if (value === null || value === "" || (isMap(value) && Object.keys(value).length === 0))
			return empty(path);
		// Of the alternatives for this kind of value, text or map, the one with the fewest mistakes.
		const branches: z.core.$ZodIssue[][] = issue.errors;
		const [branch = []] = branches
			.filter((errors) => !errors.some((error) => isOtherKind(error, value)))
			.sort((a, b) => a.length - b.length);
		if (branch.length > 0 && !branch.some((error) => isStrange(error, path, value)))
			return problemsOf(
				branch.map((error) => ({ ...error, path: [...path, ...error.path] })),
				whole,
			);
		const kinds = branches
			.flat()
			.filter((error) => error.path.length === 0)
			.map((error) => (error.code === "invalid_type" ? String(KINDS[error.expected]) : "text"));
		return unitless(about) ?? otherKind(about, EITHER.format(new Set(kinds)));
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

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

function missing({ path, issue, whole }: About): Problem[] {
	const kind = issue.discriminator !== undefined;
	const what = kind ? "broker" : noun(path);
	const [first] = kind ? [example.broker] : examplesAt(path, whole);
	const message =
		first === undefined
			? tell("missing-here", { what })
			: tell("missing", { what, write: `e.g. ${what}: ${first}` });
	return [{ path, message }];
}

function empty(path: Path): string {
	return tell("empty", { what: noun(path) });
}

/** A value of another kind: what was meant, where that can be told, else an example. */
function otherKind({ path, value, whole }: About, expected: string): string {
	const [, key = "", rest] = /^([A-Za-z]+)\s+(\S.*)$/.exec(String(value)) ?? [];
	if (keysAt(path, whole).includes(key)) return tell("colon-missing", { key, value: rest });
	const got = Array.isArray(value)
		? "a list"
		: isMap(value)
			? "a map"
			: typeof value === "string"
				? quoted(value)
				: String(value);
	const meant = meantFor(value, expected).find(
		(one) => one !== undefined && fits(path, whole, one),
	);
	const write = meant === undefined ? examplesAt(path, whole) : [JSON.stringify(meant)];
	const values = { what: noun(path), expected, got };
	return write.length === 0
		? tell("other-kind", values)
		: tell("other-kind-meant", {
				...values,
				meant: `${meant === undefined ? "e.g. " : ""}${EITHER.format(write)}`,
			});
}

/** A number or yes and no as a person has written them, a number for text, one value for a list. */
function meantFor(value: unknown, expected: string): unknown[] {
	if (typeof value === "number" || typeof value === "boolean") return [String(value)];
	if (typeof value !== "string") return [];
	const plain = /^(yes|on)$/i.test(value)
		? true
		: /^(no|off)$/i.test(value)
			? false
			: plainCount(value);
	return [plain, expected === "a list" ? [value] : undefined];
}

/** What to say of a number where a text with a unit belongs; undefined: none belongs there. */
function unitless({ path, value, whole }: About): string | undefined {
	const samples = typeof value === "number" ? unitExamples(path, whole) : [];
	if (samples.length === 0) return undefined;
	const [unit = ""] = /[^\d.]+$/.exec(samples[0] ?? "") ?? [];
	const smaller = Number(value) < 100 ? [] : ({ s: ["ms"], GiB: ["MiB"] }[unit] ?? []);
	const words = samples.flatMap((sample) => /(?<=\d) .*/.exec(sample) ?? []);
	const meant = [unit, ...smaller, ...words]
		.map((one) => `${value}${one}`)
		.filter((text) => fits(path, whole, text));
	return tell("without-unit", {
		what: noun(path),
		value,
		write: meant.length > 0 ? EITHER.format(meant) : `e.g. ${EITHER.format(samples)}`,
	});
}

/** Is the alternative for another kind of value: a map where this is text? */
function isOtherKind({ path, code }: z.core.$ZodIssue, value: unknown): boolean {
	return (
		path.length === 0 &&
		(code === "invalid_type" || (code === "invalid_value" && typeof value !== "string"))
	);
}

/** Is it a word that resembles none of those that may stand there? */
function isStrange(error: z.core.$ZodIssue, path: Path, value: unknown): boolean {
	return (
		error.code === "invalid_value" &&
		error.path.length === 0 &&
		!isSystem(path) &&
		suggest(String(value), error.values.map(String)) === undefined &&
		otherToolsValue(fieldOf(path), String(value)) === undefined
	);
}

/** One of several words, and this is none of them. */
function choice(about: About, options: readonly unknown[]): string {
	const { path, value } = about;
	const known = [...new Set(options.map(String))];
	const what = isSystem(path) ? "broker" : fieldOf(path);
	const write = `one of ${known.join(", ")}`;
	if (value === undefined) return tell("missing", { what, write });
	if (value === null || value === "") return tell("empty-of", { what, write });
	if (typeof value !== "string") return otherKind(about, write);
	return (
		removed(`${what}: ${value}`) ??
		otherToolsValue(what, value) ??
		tell("unknown", { what, word: quoted(value), meant: didYouMean(value, known) })
	);
}
