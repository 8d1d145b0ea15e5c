import { isScalar, parseDocument } from "yaml";
import { tell } from "../text/tell.ts";
import { isSystem } from "./place.ts";
import type { Located, Path } from "./problem.ts";
import type { RigFile } from "./rig-file.ts";
import { isMap, valueAt, type Written } from "./written.ts";

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
	{ set = [], target, url, clients }: Overrides,
	rig: GivenRig | null = null,
): Overridden {
	// An alias (*name) is another map in each place that it stands for: one of them may be set.
	const value: Tree = JSON.parse(JSON.stringify(original));
	const problems: Located[] = [];
	const done: { readonly label: string; readonly path: readonly string[] }[] = [];
	const change = (label: string, path: readonly string[], leaf: unknown) => {
		const message = obstacle(value, path) ?? changesNothing(value, path);
		if (message !== undefined) problems.push({ label, message });
		else {
			put(value, path, leaf);
			done.push({ label, path });
		}
	};
	for (const text of set) {
		const label = `--set ${text}`;
		const [, path, source = ""] = /^\s*([^=.]+(?:\.[^=.]+)*?)\s*=(.*)$/s.exec(text) ?? [];
		const leaf = scalar(source);
		if (path === undefined) problems.push({ label, message: tell("set-form") });
		else if (leaf === undefined) problems.push({ label, message: tell("set-one-value") });
		else change(label, path.split("."), leaf.value);
	}
	if (clients !== undefined) change(`--clients ${clients}`, ["clients"], clientsOf(clients));
	if (rig !== null) {
		const label = `--rig ${rig.path}`;
		const option = url === undefined ? "--target" : "--url";
		if (target !== undefined || url !== undefined)
			problems.push({ label, message: tell("rig-beside", { option }) });
		else change(label, ["target"], rig.rig.target);
	} else if (target !== undefined) change(`--target ${target}`, ["target"], target);
	if (rig === null && url !== undefined) {
		// Never the URL itself: it may hold a password.
		const label = "--url";
		const path = urlPath(value);
		if (path === undefined) problems.push({ label, message: tell("url-of-several") });
		else {
			if (target === undefined) change(label, ["target"], "existing");
			change(label, path, url);
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

type Tree = Record<string, unknown>;

/** Does `path` begin with all of `prefix`? */
function begins(path: Path, prefix: Path): boolean {
	return prefix.every((step, i) => String(step) === String(path[i]));
}

/** As a scenario would say it; what is neither is the schema's to refuse. */
function clientsOf(text: string): unknown {
	const [, kind, count] = /^(?:(docker|kubernetes)=)?(\d+)$/.exec(text) ?? [];
	if (count === undefined) return text.split(",").map((host) => host.trim());
	return kind === undefined ? Number(count) : { [kind]: Number(count) };
}

/** A YAML scalar; nothing is "". undefined: it is none. */
function scalar(source: string): { readonly value: unknown } | undefined {
	const { contents, errors } = parseDocument(source, { prettyErrors: false, logLevel: "error" });
	if (contents === null) return { value: "" };
	return errors.length === 0 && isScalar(contents) ? { value: contents.value } : undefined;
}

function urlPath(value: Tree): string[] | undefined {
	if (!isMap(value.systems)) return ["system", "url"];
	const keys = Object.keys(value.systems);
	return keys.length === 1 ? ["systems", keys[0] ?? "", "url"] : undefined;
}

/** What keeps `path` from being set, or undefined; whether it means anything is the schema's to judge. */
function obstacle(value: Tree, path: readonly string[]): string | undefined {
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
function put(value: Tree, path: readonly string[], leaf: unknown): void {
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

/** A plain assignment to "__proto__" would change the prototype instead of being an unknown key. */
function define(node: object, key: string, value: unknown): void {
	Object.defineProperty(node, key, { value, writable: true, enumerable: true, configurable: true });
}

/** An override that every case overrides again would be ignored without a word. */
function changesNothing({ cases, matrix }: Tree, path: readonly string[]): string | undefined {
	const [first, field = "", ...rest] = path;
	const sets = (map: unknown) => isMap(map) && Object.hasOwn(map, field);
	if (first !== "workload" || rest.length > 0) return undefined;
	if (sets(matrix))
		return tell("set-below", { where: "the matrix", field, path: `matrix.${field}.0` });
	return Array.isArray(cases) && cases.length > 0 && cases.every(sets)
		? tell("set-below", { where: "each case", field, path: `cases.0.${field}` })
		: undefined;
}
