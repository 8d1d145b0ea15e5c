import { type Document, parseAllDocuments, type YAMLError } from "yaml";
import type { Located } from "./problem.ts";
import { repairs } from "./repairs.ts";
import { ScenarioFile } from "./schema.ts";

/** The documents of a text; each carries its errors. */
export function parseYaml(text: string): Document.Parsed[] {
	const documents = parseAllDocuments(text, {
		prettyErrors: false,
		merge: true,
		resolveKnownTags: false,
		stringKeys: true,
		logLevel: "error",
	});
	return "empty" in documents ? [] : documents;
}

/**
 * What keeps a text from being YAML, one sentence for one mistake; empty when nothing does. The parser reports where it
 * stumbles, often many times and far from the cause: so the usual causes are mended one after the other, and one that
 * makes errors go away is what is told.
 */
export function yamlMistakes(
	text: string,
	documents: readonly Document.Parsed[],
): Located[] {
	const found: Located[] = [];
	let current = text;
	let errors = errorsOf(documents);
	for (let round = 0; errors.length > 0 && round < MOST_ROUNDS; round++) {
		const repair = current.length <= MAX_REPAIRED && best(current, errors);
		if (!repair) break;
		const { line, column, message } = repair;
		found.push({ offset: offsetOf(text, line, column), message });
		current = repair.text;
		errors = repair.errors;
	}
	return [
		...found,
		...firstOfEachLine(current, errors).map((error) => ({
			offset: sameFromLineEnd(current, text, error.pos[0]),
			message: explain(error),
		})),
	];
}

// --- internal ---

/** Mending parses again and again: enough for people's mistakes, and no second for garbage. */
const MOST_ROUNDS = 6;
const MAX_REPAIRED = 16 * 1024;
const MAX_ERRORS = 200;

function errorsOf(documents: readonly Document.Parsed[]): YAMLError[] {
	return documents
		.flatMap((one) => [...one.errors, ...one.warnings])
		.sort((a, b) => a.pos[0] - b.pos[0]);
}

/** The repair that leaves the fewest errors; of several the one whose scenario has the fewest mistakes. */
function best(text: string, errors: readonly YAMLError[]) {
	const first = errors[0];
	if (!first || errors.length > MAX_ERRORS) return undefined;
	for (const group of repairs(text, lineOf(text, first.pos[0]), first)) {
		const tried = group
			.map((repair) => {
				const documents = parseYaml(repair.text);
				return { ...repair, errors: errorsOf(documents), documents };
			})
			.filter((one) => one.errors.length < errors.length)
			.sort(
				(a, b) =>
					a.errors.length - b.errors.length ||
					issues(a) - issues(b) ||
					(a.cost ?? 0) - (b.cost ?? 0),
			);
		if (tried[0]) return tried[0];
	}
	return undefined;
}

/** What the schema still has against a text that is YAML: connections at the top level is less likely than in workload. */
function issues(tried: {
	readonly errors: readonly YAMLError[];
	readonly documents: readonly Document.Parsed[];
}): number {
	if (tried.errors.length > 0) return 0;
	try {
		const value = tried.documents[0]?.toJS({ maxAliasCount: 100 });
		const found = ScenarioFile.safeParse(value).error?.issues ?? [];
		return found.reduce(
			(sum, issue) =>
				sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1),
			0,
		);
	} catch {
		return Number.MAX_SAFE_INTEGER;
	}
}

/** After the first stumble the parser stumbles on: one error of a line says enough. */
function firstOfEachLine(
	text: string,
	errors: readonly YAMLError[],
): YAMLError[] {
	const seen = new Set<number>(); // offsets of line starts
	return errors.filter(({ pos }) => {
		const start = pos[0] === 0 ? -1 : text.lastIndexOf("\n", pos[0] - 1);
		const first = !seen.has(start);
		seen.add(start);
		return first;
	});
}

function lineOf(text: string, offset: number): number {
	return text.slice(0, offset).split("\n").length - 1;
}

function offsetOf(text: string, line: number, column: number): number {
	let start = 0;
	for (let i = 0; i < line; i++) start = text.indexOf("\n", start) + 1;
	return start + column;
}

/** Repairs keep the lines and what stands at their ends. */
function sameFromLineEnd(from: string, to: string, offset: number): number {
	if (from === to) return offset;
	const line = lineOf(from, offset);
	const [end, toEnd] = [from, to].map(
		(text) => offsetOf(text, line, 0) + (text.split("\n")[line] ?? "").length,
	) as [number, number];
	return Math.max(offsetOf(to, line, 0), toEnd - (end - offset));
}

/** The library's errors in words of this file. */
function explain(error: YAMLError): string {
	const message = {
		TAB_AS_INDENT: "a tab indents this line; YAML takes spaces only",
		DUPLICATE_KEY: "this key is here twice; remove one",
		BLOCK_AS_IMPLICIT_KEY:
			'a value with ": " in it needs quotes; or the next line is indented too far',
		BAD_INDENT: error.message.startsWith("Flow")
			? "a { or [ above is not closed"
			: "the indentation fits no line above; keys of one map begin in the same column",
		NON_STRING_KEY: "a key must be a word",
		RESOURCE_EXHAUSTION: "this is nested too deeply for a scenario",
		TAG_RESOLVE_FAILED: "tags (!name) have no meaning in a scenario",
		MULTIPLE_DOCS: "a second document begins here; write one scenario per file",
	}[error.code as string];
	return message ?? `this is no YAML: ${error.message.slice(0, 200)}`;
}
