import type { z } from "zod";
import { Tally } from "../plan/plan.ts";
import {
	otherToolsWord,
	type Place,
	plannedKey,
	plannedValue,
} from "./planned.ts";
import type { Path, Problem } from "./problem.ts";
import { ScenarioFile, workloadFields } from "./schema.ts";
import { didYouMean } from "./suggest.ts";

/** zod's issues as sentences for the person who wrote the file. `value` is what was checked. */
export function problemsOf(
	issues: readonly z.core.$ZodIssue[],
	value: unknown,
): Problem[] {
	return issues.flatMap((issue) => {
		const describe = Object.hasOwn(sentences, issue.code)
			? (sentences[issue.code] as Describe)
			: ({ issue: { message } }: Context) => [message];
		const path = issue.path.map((step) =>
			typeof step === "number" ? step : String(step),
		);
		return describe({ issue, path, value: at(value, path), whole: value }).map(
			(found) =>
				typeof found === "string"
					? { path, at: "value" as const, message: found }
					: found,
		);
	});
}

/** Keys that a part of a scenario may have. */
export function knownKeys(place: Place): string[] {
	return {
		scenario: Object.keys(ScenarioFile.shape),
		workload: [...workloadFields],
		system: ["broker", "url", "port"],
		sla: ["expect", "system", "case", "abort"],
	}[place];
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
			return [{ path, at: "key", message: `${what} is missing` }];
		if (value === null || value === "")
			return [`${what} is empty; give it a value or remove it`];
		const field = String(path.at(-1));
		if (path.length === 1 && typeof value === "string") {
			if (field === "systems")
				return [`systems is a map of names; did you mean system: ${value}?`];
			if (field === "sla") return [`sla is a list; write sla: [${value}]`];
		}
		if (typeof value === "number" && issue.expected === "string") {
			if (field in units)
				return [`${what} ${value} has no unit; write e.g. ${units[field]}`];
			return [`${what} must be text; put ${value} in quotes`];
		}
		return [`${what} must be ${expected(issue.expected)}, got ${kind(value)}`];
	},

	invalid_value: ({ issue, path, value }) => [
		choice(path, value, issue.values),
	],

	invalid_union: ({ issue, path, value, whole }) => {
		if (issue.discriminator !== undefined)
			return value === undefined
				? [
						{
							path,
							at: "key",
							message: `broker is missing; write e.g. broker: ${issue.options[0]}`,
						},
					]
				: [choice(path, value, issue.options)];
		// Of the alternatives the one that takes this kind of value: text or map.
		const branch = issue.errors.find(
			(errors: z.core.$ZodIssue[]) =>
				!errors.some(
					(error) =>
						error.path.length === 0 &&
						(error.code === "invalid_type" ||
							(error.code === "invalid_value" && typeof value !== "string")),
				),
		);
		if (!branch)
			return value === null
				? [`${noun(path)} is empty; give it a value or remove it`]
				: [`${noun(path)} must be text or a map, got ${kind(value)}`];
		return problemsOf(
			branch.map((error: z.core.$ZodIssue) => ({
				...error,
				path: [...path, ...error.path],
			})),
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

/** Fields with a unit, and how they are written. */
const units: Readonly<Record<string, string>> = {
	rate: "3000/s or 90/min",
	message: "256B, 1KiB (1024 B) or 1KB (1000 B)",
	duration: "10s or 5min",
	warmup: "5s",
	drain: "30s",
	timeout: "250ms or 1s",
};

function unknownKey(path: Path, key: string, whole: unknown): string {
	const place = placeOf(path);
	const planned = plannedKey(place, key);
	if (planned) return planned;
	if (place === "system" && (key === "url" || key === "port"))
		return `${key} has no meaning for ${systemBroker(at(whole, path))}: there is no broker to connect to`;
	if (place === "sla" && /^p\(?[\d.]+\)?$|^max$/.test(key))
		return `an objective is text, not a key; write - ${key} < 20ms`;
	if (place === "sla" && Tally.safeParse(key).success)
		return `an objective is text, not a key; write - ${key} == 0`;
	const known = knownKeys(place);
	const other = otherToolsWord(place, key);
	if (other) return `unknown key ${quoted(key)}; did you mean ${other}?`;
	if (place === "scenario" && knownKeys("workload").includes(key))
		return `${key} belongs under workload:`;
	if (place === "workload" && knownKeys("scenario").includes(key))
		return `${key} belongs at the top level, not under ${path[0]}:`;
	return `unknown key ${quoted(key)}${didYouMean(key, known)}`;
}

function choice(path: Path, value: unknown, known: string[]): string {
	const field = isSystem(path) ? "broker" : String(path.at(-1));
	if (value === null || value === "")
		return `${field} is empty; write one of ${known.join(", ")}`;
	if (typeof value !== "string")
		return `${field} must be one of ${known.join(", ")}, got ${kind(value)}`;
	return (
		plannedValue(field, value, known) ??
		`unknown ${field} ${quoted(value)}${didYouMean(value, known)}`
	);
}

function placeOf(path: Path): Place {
	if (path[0] === "workload" || path[0] === "cases") return "workload";
	if (path[0] === "system" || path[0] === "systems") return "system";
	return path[0] === "sla" ? "sla" : "scenario";
}

function isSystem(path: Path): boolean {
	return (
		(path.length === 1 && path[0] === "system") ||
		(path.length === 2 && path[0] === "systems")
	);
}

function systemBroker(system: unknown): string {
	return String(at(system, ["broker"]) ?? "this system");
}

/** "rate", "case 2", "sla line 1", "the scenario". */
function noun(path: Path): string {
	const last = path.at(-1);
	if (last === undefined) return "the scenario";
	if (typeof last !== "number") return String(last);
	return `${path.at(-2) === "sla" ? "sla line" : "case"} ${last + 1}`;
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

function at(value: unknown, path: Path): unknown {
	let node = value;
	for (const step of path) {
		if (typeof node !== "object" || node === null) return undefined;
		if (!Object.hasOwn(node, step)) return undefined;
		node = (node as Record<string, unknown>)[step];
	}
	return node;
}
