import { isScalar, parseDocument } from "yaml";
import { tell } from "../text/tell.ts";
import { isSystem } from "./place.ts";
import type { Located, Path } from "./problem.ts";
import type { RigFile } from "./rig-file.ts";
import { copy, define, isMap, valueAt, type Written } from "./written.ts";

/** A rig that stays up, and the file that it was read from. Holds passwords. */
export interface GivenRig {
	/** As it was written on the command line. */
	readonly path: string;
	readonly rig: RigFile;
	/** Only these of a scenario's systems run, as a pattern of "system/case" says (`--only`); the others need no broker. Left out: all do. */
	readonly only?: string | undefined;
}

/** What the command line changes in a scenario. */
export interface Overrides {
	/** `--set`: "workload.rate=5000/s", the value a YAML scalar. */
	readonly set?: readonly string[] | undefined;
	readonly target?: string | undefined;
	/** URL of the one system; it implies target existing. */
	readonly url?: string | undefined;
	/** `--clients`: "3" (of a rig with clients its first three), "bench@a,bench@b", "docker=3" or "kubernetes=3". */
	readonly clients?: string | undefined;
	/** `--rig`: path of the rig.json whose brokers, and clients if it has some, are taken. */
	readonly rig?: string | undefined;
	/** `--only`, a pattern of "system/case". */
	readonly only?: string | undefined;
	/** `--quick`: everything shortened, to see that it works. */
	readonly quick?: boolean | undefined;
}

/** A value with the overrides in it, and which option each of them came by. */
export interface Overridden {
	readonly value: Written;
	readonly problems: readonly Located[];
	/** The option that set the value at `path` or around it ("--set workload.rate=5000/s"), or undefined. */
	labelOf(path: Path): string | undefined;
}

/** Applies overrides to the value of a file; the value itself stays as it is. */
export function applyOverrides(
	original: Written,
	overrides: Overrides,
	rig: GivenRig | null = null,
): Overridden {
	const value: Tree = copy(original);
	const problems: Located[] = [];
	const done: Change[] = [];
	for (const change of changes(value, overrides, rig)) {
		const message =
			"message" in change
				? change.message
				: (obstacle(value, change.path) ?? changesNothing(value, change.path));
		if (message !== undefined) problems.push({ label: change.label, message });
		else if ("path" in change) {
			put(value, change.path, change.value);
			done.push(change);
		}
	}
	return {
		value,
		problems,
		// The last one wins, as it did when the value was set. What an override made on its way is its own as well:
		// the unknown key of --set wrokload.rate=5/s is "wrokload".
		labelOf: (path) =>
			done.findLast(
				(change) =>
					begins(path, change.path) ||
					(begins(change.path, path) && valueAt(original, path) === undefined),
			)?.label,
	};
}

// --- internal ---

interface Change {
	readonly label: string;
	readonly path: string[];
	readonly value: unknown;
}
type Refused = { readonly label: string; readonly message: string };
type Tree = Record<string, unknown>;

/** Does `path` begin with all of `prefix`? */
function begins(path: Path, prefix: Path): boolean {
	return prefix.every((step, i) => String(step) === String(path[i]));
}

function* changes(
	value: Tree,
	{ set = [], target, url, clients }: Overrides,
	rig: GivenRig | null,
): Generator<Change | Refused> {
	for (const text of set) yield parse(text);
	if (clients !== undefined)
		yield { label: `--clients ${clients}`, path: ["clients"], value: clientsOf(clients) };
	if (rig !== null) {
		const label = `--rig ${rig.path}`;
		if (target !== undefined || url !== undefined)
			yield {
				label,
				message: tell("rig-beside", { option: target === undefined ? "--url" : "--target" }),
			};
		else yield { label, path: ["target"], value: rig.rig.target };
		return;
	}
	if (target !== undefined) yield { label: `--target ${target}`, path: ["target"], value: target };
	if (url === undefined) return;
	// Never the URL itself: it may hold a password.
	const label = "--url";
	const path = urlPath(value);
	if (path === undefined) yield { label, message: tell("url-of-several") };
	else {
		if (target === undefined) yield { label, path: ["target"], value: "existing" };
		yield { label, path, value: url };
	}
}

/** As a scenario would say it; what is neither is the schema's to refuse. */
function clientsOf(text: string): unknown {
	const [, kind, count] = /^(?:(docker|kubernetes)=)?(\d+)$/.exec(text) ?? [];
	if (count === undefined) return text.split(",").map((host) => host.trim());
	return kind === undefined ? Number(count) : { [kind]: Number(count) };
}

function parse(text: string): Change | Refused {
	const equals = text.indexOf("=");
	const label = `--set ${text}`;
	const path = text.slice(0, equals).trim().split(".");
	if (equals < 1 || path.includes("")) return { label, message: tell("set-form") };
	const source = text.slice(equals + 1);
	const document = parseDocument(source, { prettyErrors: false, logLevel: "error" });
	if (document.contents === null) return { label, path, value: "" };
	if (document.errors.length > 0 || !isScalar(document.contents))
		return { label, message: tell("set-one-value") };
	return { label, path, value: document.contents.value };
}

function urlPath(value: Tree): string[] | undefined {
	if (!isMap(value.systems)) return ["system", "url"];
	const keys = Object.keys(value.systems);
	return keys.length === 1 ? ["systems", keys[0] ?? "", "url"] : undefined;
}

/** What keeps `path` from being set, or undefined; whether it means anything is the schema's to judge. */
function obstacle(value: Tree, path: string[]): string | undefined {
	for (const [depth, step] of path.entries()) {
		const at = path.slice(0, depth);
		const node = valueAt(value, at);
		const above = at.join(".");
		if (Array.isArray(node) && !(/^\d+$/.test(step) && Number(step) < node.length))
			return tell("set-beyond-list", { above, items: node.length });
		if (node !== undefined && node !== null && typeof node !== "object" && !isSystem(at))
			return tell("set-no-map", { above });
	}
	return undefined;
}

/** Sets `path`, making the maps on the way. Only for a path without `obstacle`. */
function put(value: Tree, path: string[], leaf: unknown): void {
	let node: Tree = value;
	for (const [depth, step] of path.slice(0, -1).entries()) {
		let next = Object.hasOwn(node, step) ? node[step] : undefined;
		// `system: nats` is short for a map with one key: --set system.port=4222 needs the map.
		if (typeof next === "string" && isSystem(path.slice(0, depth + 1))) next = { broker: next };
		if (typeof next !== "object" || next === null) next = {};
		define(node, step, next);
		node = next as Tree;
	}
	define(node, path.at(-1) ?? "", leaf);
}

/** An override that every case overrides again would be ignored without a word. */
function changesNothing({ cases, matrix }: Tree, path: string[]): string | undefined {
	const [first, field = "", ...rest] = path;
	const sets = (map: unknown) => isMap(map) && Object.hasOwn(map, field);
	if (first !== "workload" || rest.length > 0) return undefined;
	if (sets(matrix))
		return tell("set-below", { where: "the matrix", field, path: `matrix.${field}.0` });
	return Array.isArray(cases) && cases.length > 0 && cases.every(sets)
		? tell("set-below", { where: "each case", field, path: `cases.0.${field}` })
		: undefined;
}
