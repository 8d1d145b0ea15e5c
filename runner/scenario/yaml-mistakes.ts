import { type Document, parseAllDocuments, type YAMLError } from "yaml";
import { tell } from "../text/tell.ts";
import type { Located } from "./problem.ts";

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

/** What keeps a text from being YAML. After a syntax error the parser stumbles on: only the first one is a person's. */
export function yamlMistakes(text: string, documents: readonly Document.Parsed[]): Located[] {
	const errors = documents
		.flatMap((one) => [...one.errors, ...one.warnings])
		.sort((a, b) => a.pos[0] - b.pos[0]);
	const syntax = errors.find(({ code }) => !INDEPENDENT.has(code));
	return syntax
		? [explain(text, syntax, errors)]
		: errors.map((error) => explain(text, error, errors));
}

// --- internal ---

/** Errors in a text that could be read all the same: each is a mistake of its own. */
const INDEPENDENT: ReadonlySet<string> = new Set([
	"DUPLICATE_KEY",
	"TAG_RESOLVE_FAILED",
	"NON_STRING_KEY",
]);

const SENTENCES: Readonly<Record<string, string>> = {
	TAB_AS_INDENT: tell("tab-indents"),
	DUPLICATE_KEY: tell("key-twice"),
	BLOCK_AS_IMPLICIT_KEY: tell("colon-in-value"),
	MULTIPLE_DOCS: tell("second-document"),
};

/** The library's error in words of this file, where a person would look for the cause. */
function explain(
	text: string,
	{ code, message, pos: [offset] }: YAMLError,
	all: readonly YAMLError[],
): Located {
	const start = text.lastIndexOf("\n", offset - 1) + 1;
	const [line = ""] = text.slice(start).split(/\r?\n/, 1);
	// Between brackets, `{` begins a map wherever it stands.
	const [reference] = /^\{\w+\}/.exec(text.slice(offset)) ?? [];
	if (reference !== undefined && text[offset - 1] === "$")
		return { offset: offset - 1, message: tell("braces-in-value", { meant: `"$${reference}"` }) };
	const glued = /^( *(?:- +)?)([A-Za-z]+):([^\s:/].*)$/.exec(line);
	if (glued && /^Implicit/.test(message))
		return {
			offset: start + (glued[1]?.length ?? 0),
			message: tell("space-missing", { key: glued[2], value: glued[3]?.trim() }),
		};
	const bare = /^\s*(?:- +)?([A-Za-z]+)[ \t]+([^\s:#][^:]*)$/.exec(
		text.slice(offset).split(/\r?\n/, 1)[0] ?? "",
	);
	if (bare && /^Implicit/.test(message))
		return { offset, message: tell("colon-missing", { key: bare[1], value: bare[2]?.trim() }) };
	if (message.startsWith("Flow")) return { offset, message: tell("not-closed") };
	if (code === "BAD_INDENT" || message.startsWith("Sequence item"))
		return { offset: filledFrom(text, start), message: tell("indented-differently") };
	const goesOn = all.some(
		(other) => other.code === "MULTILINE_IMPLICIT_KEY" && other.pos[0] === offset,
	);
	if (code === "BLOCK_AS_IMPLICIT_KEY" && goesOn)
		return {
			offset: filledFrom(text, start + line.length),
			message: tell("indented-differently"),
		};
	return { offset, message: SENTENCES[code] ?? tell("no-yaml", { reason: message.slice(0, 200) }) };
}

/** Of the first line from there on that is neither empty nor a comment: where its text begins. */
function filledFrom(text: string, start: number): number {
	const [skipped = ""] = /^(?:\s|#.*)*/.exec(text.slice(start)) ?? [];
	return start + skipped.length;
}
