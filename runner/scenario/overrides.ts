import { isScalar, parseDocument } from "yaml";
import { tell } from "../text/tell.ts";
import { isMap, isSystem, valueAt, type Written } from "./place.ts";
import type { GivenRig, Located, Path } from "./problem.ts";

export interface Overrides {
	/** `--set`: "workload.rate=5000/s", where the value is a YAML scalar. */
	readonly set?: readonly string[] | undefined;
	readonly target?: string | undefined;
	/** URL of the only system; implies target existing. */
	readonly url?: string | undefined;
	/** `--clients`: "3" (a rig's first three), "bench@a,bench@b", "docker=3" or "kubernetes=3". */
	readonly clients?: string | undefined;
	/** `--rig`: path of a rig.json, which provides brokers and may provide clients. */
	readonly rig?: string | undefined;
	/** `--only`: a pattern of "system/case". */
	readonly only?: string | undefined;
	readonly quick?: boolean | undefined;
}

/** Leaves `original` unchanged. `labelOf`: the option that set the value at a path or around it ("--set workload.rate=5000/s"). */
export function applyOverrides(
	original: Written,
	{ set = [], target, url, clients }: Overrides,
	rig: GivenRig | null = null,
) {
	// Copying turns aliases (*name) into separate maps, so one of them can be set.
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
		// The URL itself may hold a password.
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
		// Later options win. An override also owns the maps it created: with --set wrokload.rate=5/s the unknown key is "wrokload".
		labelOf: (path: Path) =>
			done.findLast(
				(change) =>
					begins(path, change.path) ||
					(begins(change.path, path) && valueAt(original, path) === undefined),
			)?.label,
	};
}

// --- internal ---

type Tree = Record<string, unknown>;

function begins(path: Path, prefix: Path): boolean {
	return prefix.every((step, i) => String(step) === String(path[i]));
}

/** Takes the forms of a scenario; the schema refuses anything else. */
function clientsOf(text: string): unknown {
	const [, kind, count] = /^(?:(docker|kubernetes)=)?(\d+)$/.exec(text) ?? [];
	if (count === undefined) return text.split(",").map((host) => host.trim());
	return kind === undefined ? Number(count) : { [kind]: Number(count) };
}

/** Returns undefined if the text is not a YAML scalar; no text is "". */
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

/** Why `path` cannot be set. The schema checks whether it means anything. */
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

/** Creates missing maps. `path` must have no `obstacle`. */
function put(value: Tree, path: readonly string[], leaf: unknown): void {
	let node: Tree = value;
	for (const [depth, step] of path.slice(0, -1).entries()) {
		let next = Object.hasOwn(node, step) ? node[step] : undefined;
		// `system: nats` is short for a map with one key, and --set system.port=4222 needs the map.
		if (typeof next === "string" && isSystem(path.slice(0, depth + 1))) next = { broker: next };
		if (typeof next !== "object" || next === null) next = {};
		define(node, step, next);
		node = next as Tree;
	}
	define(node, path.at(-1) ?? "", leaf);
}

/** Plain assignment to "__proto__" would change the prototype instead of adding an unknown key. */
function define(node: object, key: string, value: unknown): void {
	Object.defineProperty(node, key, { value, writable: true, enumerable: true, configurable: true });
}

/** An override that every case overrides again would be ignored silently. */
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
