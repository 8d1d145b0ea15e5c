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

export interface Source {
	readonly value: Readonly<Record<string, unknown>>;
	/** Offset of a key or value, or of its surroundings if it is absent. */
	locate(path: Path, at?: "key"): number;
}

/** Far above any scenario, but YAML's quadratic duplicate check stays below a second. */
const MAX_LENGTH = 64 * 1024;

export function parseSource(text: string): { source: Source } | { problems: Located[] } {
	const refused = notScenarioText(text);
	if (refused) return { problems: [{ offset: 0, message: refused }] };
	const documents = parseAllDocuments(text, {
		prettyErrors: false,
		merge: true,
		resolveKnownTags: false,
		stringKeys: true,
		logLevel: "error",
	});
	const [document, second] = "empty" in documents ? [] : documents;
	if (!document?.contents || (isScalar(document.contents) && document.contents.value === null))
		return { problems: [{ offset: 0, message: EMPTY }] };
	const problems = yamlMistakes(text, document);
	if (problems.length > 0) return { problems };
	if (second) return { problems: [{ offset: second.range[0], message: tell("second-document") }] };
	if (!isMap(document.contents))
		return { problems: [{ offset: document.contents.range?.[0] ?? 0, message: NO_MAP }] };
	try {
		const value = document.toJS({ maxAliasCount: 100 });
		// Throws if an alias is inside its own anchor.
		JSON.stringify(value);
		return { source: { value, locate: (path, at) => locate(document, path, at) } };
	} catch (error) {
		return { problems: [aliasProblem(text, error)] };
	}
}

// --- internal ---

const NO_MAP = tell("scenario-no-map");
const EMPTY = tell("scenario-empty", { broker: example.broker });

function notScenarioText(text: string): string | undefined {
	// A file of several MB must not cost a second.
	const start = text.slice(0, MAX_LENGTH);
	// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them.
	const odd = start.match(/[\u0000-\u0008\u000e-\u001f\ufffd]/g)?.length ?? 0;
	if (odd > 0) return tell("no-text-file");
	if (text.length > MAX_LENGTH)
		return tell("file-too-large", { size: Math.ceil(text.length / 1024), most: MAX_LENGTH / 1024 });
	return text.trim() === "" ? EMPTY : undefined;
}

/** After a syntax error the parser stumbles on, so only the first error is the author's. */
function yamlMistakes(text: string, { errors, warnings }: Document.Parsed): Located[] {
	const all = [...errors, ...warnings].sort((a, b) => a.pos[0] - b.pos[0]);
	const syntax = all.find(({ code }) => !INDEPENDENT.has(code));
	return (syntax ? [syntax] : all).map((error) => explain(text, error));
}

const INDEPENDENT = new Set<string>(["DUPLICATE_KEY", "TAG_RESOLVE_FAILED", "NON_STRING_KEY"]);

const SENTENCES: Readonly<Record<string, string>> = {
	TAB_AS_INDENT: tell("tab-indents"),
	DUPLICATE_KEY: tell("key-twice"),
	BAD_INDENT: tell("indented-differently"),
	BLOCK_AS_IMPLICIT_KEY: tell("colon-in-value"),
	MULTIPLE_DOCS: tell("second-document"),
};

function explain(text: string, { code, message, pos: [offset] }: YAMLError): Located {
	// YAML reads the `{` of `${NAME}` between brackets as a map.
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
			// Merged keys (<<) are elsewhere, so point at the map that merges them.
			const pair = node.items.find(
				({ key }) => isScalar(key) && String(key.value) === String(step),
			);
			if (!pair) return offset;
			offset = start(pair.key) ?? offset;
			node = pair.value;
			// Point at the key of a map or list, but at a scalar itself.
			if (last && at !== "key" && isScalar(node) && node.value !== null)
				offset = start(node) ?? offset;
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
