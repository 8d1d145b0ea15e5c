import { type Document, isAlias, isMap, isNode, isScalar, isSeq, visit } from "yaml";
import { example } from "../brokers/index.ts";
import { tell } from "../text/tell.ts";
import type { Located, Path } from "./problem.ts";
import { parseYaml, yamlMistakes } from "./yaml-mistakes.ts";

/** A YAML text as one plain value that still knows where each part of it stands. */
export interface Source {
	readonly value: Readonly<Record<string, unknown>>;
	/** Offset of a key or value in the text; of what surrounds it when it isn't there. */
	locate(path: Path, at?: "key"): number;
	/** Keys of `systems`, in the order of the text. */
	readonly systemKeys: readonly string[];
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
	const problems = yamlMistakes(text, [document]);
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
				systemKeys: keysOf(document, "systems"),
				lineOf: (path) => text.slice(0, locate(document, path)).split("\n").length,
			},
		};
	} catch (error) {
		return { problems: [aliasProblem(document, error)] };
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

function aliasProblem(document: Document.Parsed, error: unknown): Located {
	const reason = error instanceof Error ? error.message : "";
	const alias = /^Unresolved alias .*: (.*)$/.exec(reason)?.[1];
	let offset = 0;
	visit(document, {
		Alias(_, node) {
			offset = start(node) ?? 0;
			return alias === undefined || node.source === alias ? visit.BREAK : undefined;
		},
	});
	return {
		offset,
		message: alias === undefined ? tell("alias-too-much") : tell("alias-unknown", { alias }),
	};
}

function keysOf(document: Document.Parsed, field: string): string[] {
	const node = document.get(field, true);
	const map = isAlias(node) ? node.resolve(document) : node;
	return isMap(map) ? map.items.map(({ key }) => String(isScalar(key) ? key.value : key)) : [];
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
