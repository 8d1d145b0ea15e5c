import {
	type Document,
	isAlias,
	isMap,
	isNode,
	isScalar,
	isSeq,
	parseAllDocuments,
	type YAMLError,
} from "yaml";
import { example } from "../brokers/index.ts";
import { tell } from "../text/tell.ts";
import type { Located, Path } from "./problem.ts";

/** A YAML text as one plain value that still knows where each part of it stands. */
export interface Source {
	readonly value: Readonly<Record<string, unknown>>;
	/** Offset of a key or value in the text; of what surrounds it when it isn't there. */
	locate(path: Path, at?: "key"): number;
	/** The line of a value, from 1. */
	lineOf(path: Path): number;
}

/** Far above any scenario, low enough that YAML's duplicate check (quadratic) takes no second. */
const MAX_LENGTH = 64 * 1024;

/** Reads the text, or says all that keeps it from being YAML of one map. */
export function parseSource(text: string): { source: Source } | { problems: Located[] } {
	const refused = notScenarioText(text);
	if (refused) return { problems: [{ offset: 0, message: refused }] };

	const documents = parseYaml(text);
	const [document, second] = documents;
	if (!document?.contents || isEmpty(document))
		return { problems: [{ offset: 0, message: EMPTY }] };
	const problems = yamlMistakes(text, document);
	if (problems.length > 0) return { problems };
	if (second) return { problems: [{ offset: second.range[0], message: tell("second-document") }] };
	if (!isMap(document.contents))
		return { problems: [{ offset: document.contents.range?.[0] ?? 0, message: NO_MAP }] };
	try {
		const value = document.toJS({ maxAliasCount: 100 });
		// Throws where an alias is inside of what it stands for.
		JSON.stringify(value);
		return {
			source: {
				value,
				locate: (path, at) => locate(document, path, at),
				lineOf: (path) => text.slice(0, locate(document, path)).split("\n").length,
			},
		};
	} catch (error) {
		return { problems: [aliasProblem(text, error)] };
	}
}

// --- internal ---

const EMPTY = tell("scenario-empty", { broker: example.broker });
const NO_MAP = tell("scenario-no-map");

function notScenarioText(text: string): string | undefined {
	// Not the whole text: a MB of anything must not cost a second.
	const start = text.slice(0, MAX_LENGTH);
	// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
	const odd = start.match(/[\u0000-\u0008\u000e-\u001f\ufffd]/g)?.length ?? 0;
	if (odd > 0) return tell("no-text-file");
	if (text.length > MAX_LENGTH)
		return tell("file-too-large", { size: Math.ceil(text.length / 1024), most: MAX_LENGTH / 1024 });
	return text.trim() === "" ? EMPTY : undefined;
}

function isEmpty(document: Document.Parsed): boolean {
	return isScalar(document.contents) && document.contents.value === null;
}

/** The documents of a text; each carries its errors. */
function parseYaml(text: string): Document.Parsed[] {
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
function yamlMistakes(text: string, { errors, warnings }: Document.Parsed): Located[] {
	const all = [...errors, ...warnings].sort((a, b) => a.pos[0] - b.pos[0]);
	const syntax = all.find(({ code }) => !INDEPENDENT.has(code));
	return (syntax ? [syntax] : all).map((error) => explain(text, error));
}

/** Errors in a text that could be read all the same: each is a mistake of its own. */
const INDEPENDENT: ReadonlySet<string> = new Set([
	"DUPLICATE_KEY",
	"TAG_RESOLVE_FAILED",
	"NON_STRING_KEY",
]);

const SENTENCES: Readonly<Record<string, string>> = {
	TAB_AS_INDENT: tell("tab-indents"),
	DUPLICATE_KEY: tell("key-twice"),
	BAD_INDENT: tell("indented-differently"),
	BLOCK_AS_IMPLICIT_KEY: tell("colon-in-value"),
	MULTIPLE_DOCS: tell("second-document"),
};

/** The library's error in words of this file. */
function explain(text: string, { code, message, pos: [offset] }: YAMLError): Located {
	// Between brackets, `{` begins a map wherever it stands.
	const [reference] = /^\{\w+\}/.exec(text.slice(offset)) ?? [];
	if (reference !== undefined && text[offset - 1] === "$")
		return { offset: offset - 1, message: tell("braces-in-value", { meant: `"$${reference}"` }) };
	const sentence = message.startsWith("Implicit")
		? tell("key-without-value")
		: message.startsWith("Flow")
			? tell("not-closed")
			: SENTENCES[message.startsWith("Sequence") ? "BAD_INDENT" : code];
	return { offset, message: sentence ?? tell("no-yaml", { reason: message.slice(0, 200) }) };
}

function aliasProblem(text: string, error: unknown): Located {
	const reason = error instanceof Error ? error.message : "";
	const alias = /^Unresolved alias .*: (.*)$/.exec(reason)?.[1];
	return {
		offset: Math.max(0, text.indexOf(`*${alias ?? ""}`)),
		message: alias === undefined ? tell("alias-too-much") : tell("alias-unknown", { alias }),
	};
}

function locate(document: Document.Parsed, path: Path, at?: "key"): number {
	let node: unknown = document.contents;
	let offset = document.contents?.range?.[0] ?? 0;
	for (const [depth, step] of path.entries()) {
		if (isAlias(node)) node = node.resolve(document);
		const last = depth === path.length - 1;
		if (isMap(node)) {
			// Merged keys (<<) stand elsewhere: the map that takes them in is named instead.
			const pair = node.items.find(
				({ key }) => isScalar(key) && String(key.value) === String(step),
			);
			if (!pair) return offset;
			offset = start(pair.key) ?? offset;
			node = pair.value;
			// A map or a list is named by its key, a single value by itself.
			if (last && at !== "key" && isScalar(node) && !isNull(node)) offset = start(node) ?? offset;
		} else if (isSeq(node)) {
			node = node.items[Number(step)];
			offset = start(node) ?? offset;
		} else return offset;
	}
	return offset;
}

function start(node: unknown): number | undefined {
	return isNode(node) ? node.range?.[0] : undefined;
}

function isNull(node: unknown): boolean {
	return isScalar(node) && node.value === null;
}
