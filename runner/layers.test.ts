import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ABOVE_ALL, LAYERS } from "./layers.ts";
import { packageFolder } from "./package.ts";
import { sources } from "./sources.fake.ts";

const read = (file: string) => readFileSync(path.join(packageFolder, file), "utf8");

describe("the layers", () => {
	const graph = new Map(
		sources()
			.filter((file) => !ABOVE_ALL.some((f) => file.startsWith(`${f}/`)))
			.map((file) => [file, importsOf(file)] as const),
	);

	it("have folders that exist", () => {
		for (const folder of [...LAYERS.flat(), ...ABOVE_ALL])
			expect(existsSync(path.join(packageFolder, folder)), folder).toBe(true);
	});

	it("are imported downwards only, and would show an import that goes up or beside", () => {
		expect(against(graph)).toEqual([]);
		expect(against(new Map([["runner/plan/a.ts", ["runner/render/b.ts"]]]))).toEqual([
			"runner/plan imports from runner/render, which stands above it (runner/layers.ts): runner/plan/a.ts -> runner/render/b.ts",
		]);
		expect(against(new Map([["runner/init/a.ts", ["runner/doctor/b.ts"]]]))).toHaveLength(1);
	});

	it("hold no circle of files, and would show one", () => {
		expect(circle(graph)).toEqual([]);
		const round = { "a.ts": ["d.ts", "b.ts"], "b.ts": ["c.ts"], "c.ts": ["b.ts"], "d.ts": [] };
		expect(circle(new Map(Object.entries(round)))).toEqual(["b.ts", "c.ts"]);
	});
});

/** A command reads its options, calls, and prints; anything else belongs in a lower room. */
describe("a command", () => {
	const shared = "runner/commands/options.ts";
	const commands = sources().filter(
		(file) => file.startsWith("runner/commands/") && file !== shared,
	);

	it.each(commands)("is short: %s", (file) => {
		expect(ownLines(read(file))).toBeLessThanOrEqual(60);
	});
});

// --- internal ---

/** Not blank lines, imports, or descriptions of options, which are data. */
function ownLines(text: string): number {
	return text
		.replaceAll(/^import\b[^;]*;$/gm, "")
		.replace(/^export function declare\b[\s\S]*?^}$/m, "")
		.split("\n")
		.filter((line) => line.trim() !== "").length;
}

type Graph = ReadonlyMap<string, readonly string[]>;

function importsOf(file: string): string[] {
	return [...read(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+\.ts)"/g)].map(
		([, to = ""]) => path.posix.join(path.posix.dirname(file), to),
	);
}

/** From the longest entry that contains the file. */
function layerOf(file: string): { readonly at: number; readonly name: string } {
	const found = [...LAYERS, ABOVE_ALL]
		.flatMap((names, at) => names.map((name) => ({ at, name })))
		.filter(({ name }) => file === name || file.startsWith(`${name}/`))
		.sort((a, b) => b.name.length - a.name.length)[0];
	if (!found) throw new Error(`${file} is in no layer of runner/layers.ts`);
	return ABOVE_ALL.includes(found.name) ? { ...found, at: -1 } : found;
}

function against(graph: Graph): string[] {
	return [...graph].flatMap(([file, imports]) =>
		imports.flatMap((to) => {
			const [from, into] = [layerOf(file), layerOf(to)];
			const where = from.at === into.at ? "beside" : "above";
			return from.name === into.name || from.at < into.at
				? []
				: `${from.name} imports from ${into.name}, which stands ${where} it (runner/layers.ts): ${file} -> ${to}`;
		}),
	);
}

/** The first cycle found, or an empty list. */
function circle(graph: Graph): string[] {
	const done = new Set<string>();
	const from = (file: string, way: readonly string[]): string[] => {
		if (way.includes(file)) return way.slice(way.indexOf(file));
		if (done.has(file)) return [];
		done.add(file);
		return (graph.get(file) ?? [])
			.map((to) => from(to, [...way, file]))
			.reduce((a, b) => (a.length > 0 ? a : b), []);
	};
	return [...graph.keys()].map((file) => from(file, [])).find(({ length }) => length > 0) ?? [];
}
