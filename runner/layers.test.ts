import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ABOVE_ALL, LAYERS } from "./layers.ts";
import { packageFolder } from "./package.ts";
import { sources } from "./sources.fake.ts";

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

	it("are imported downwards only", () => {
		expect(against(graph)).toEqual([]);
	});

	it("would refuse an import upwards, with a sentence that names both folders", () => {
		expect(against(new Map([["runner/plan/a.ts", ["runner/render/b.ts"]]]))).toEqual([
			"runner/plan imports from runner/render, which stands above it (runner/layers.ts): runner/plan/a.ts -> runner/render/b.ts",
		]);
		expect(against(new Map([["runner/init/a.ts", ["runner/doctor/b.ts"]]]))).toHaveLength(1);
	});

	it("hold no circle of files", () => {
		expect(circles(graph)).toEqual([]);
	});

	it("hold no two neighbours that import each other", () => {
		expect(neighbours(graph)).toEqual([]);
	});

	it("would show two neighbours that import each other", () => {
		expect(
			neighbours(
				new Map([
					["r/a/x.ts", ["r/b/x.ts", "r/y.ts"]],
					["r/b/y.ts", ["r/a/y.ts"]],
					["r/y.ts", ["r/a/y.ts"]],
				]),
			),
		).toEqual(["r/a and r/b"]);
	});

	it("would show a circle of files", () => {
		expect(
			circles(
				new Map([
					["a.ts", ["b.ts"]],
					["b.ts", ["c.ts", "d.ts"]],
					["c.ts", ["a.ts"]],
					["d.ts", []],
				]),
			),
		).toEqual([["a.ts", "b.ts", "c.ts"]]);
	});
});

/** A command reads its options, calls, and prints: whatever else it would do has a place below it. */
describe("a command", () => {
	// The words of command lines that several share.
	const shared = "runner/commands/options.ts";
	const commands = sources().filter(
		(file) => file.startsWith("runner/commands/") && file !== shared,
	);

	it.each(commands)("is short: %s", (file) => {
		const text = readFileSync(path.join(packageFolder, file), "utf8");
		expect(ownLines(text)).toBeLessThanOrEqual(60);
	});

	it("has the lines that are neither empty nor import, nor the words of its command line", () => {
		expect(
			ownLines(
				'import { a } from "a";\nimport {\n\ttype B,\n} from "b";\n\nexport function declare(program: Command): void {\n\tprogram.command("c");\n}\n\n/** Why. */\nexport const c = 1;\n',
			),
		).toBe(2);
	});
});

// --- internal ---

/** Descriptions of options are data: more of them are no second thing that a command does. */
function ownLines(text: string): number {
	return text
		.replaceAll(/^import\b[^;]*;$/gm, "")
		.replace(/^export function declare\b[\s\S]*?^}$/m, "")
		.split("\n")
		.filter((line) => line.trim() !== "").length;
}

type Graph = ReadonlyMap<string, readonly string[]>;

function importsOf(file: string): string[] {
	const text = readFileSync(path.join(packageFolder, file), "utf8");
	return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+\.ts)"/g)].map(([, to = ""]) =>
		path.posix.join(path.posix.dirname(file), to),
	);
}

/** The layer of a file: of all entries that hold it the longest. */
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
			return from.name === into.name || from.at < into.at
				? []
				: [
						`${from.name} imports from ${into.name}, which stands ${from.at === into.at ? "beside" : "above"} it (runner/layers.ts): ${file} -> ${to}`,
					];
		}),
	);
}

/** Folders of the same folder that import from each other. */
function neighbours(graph: Graph): string[] {
	const { dirname } = path.posix;
	const pairs = new Set(
		[...graph].flatMap(([file, imports]) =>
			imports.map((to) => `${dirname(file)} and ${dirname(to)}`),
		),
	);
	return [...pairs].filter((pair) => {
		const [a = "", b = ""] = pair.split(" and ");
		return a < b && dirname(a) === dirname(b) && pairs.has(`${b} and ${a}`);
	});
}

/** Groups of files that reach each other (Tarjan's strongly connected components), sorted. */
function circles(graph: Graph): string[][] {
	const index = new Map<string, number>();
	const low = new Map<string, number>();
	const stack: string[] = [];
	const found: string[][] = [];
	const visit = (file: string) => {
		index.set(file, index.size);
		low.set(file, index.get(file) ?? 0);
		stack.push(file);
		for (const to of graph.get(file) ?? []) {
			if (!index.has(to)) visit(to);
			if (stack.includes(to)) low.set(file, Math.min(low.get(file) ?? 0, low.get(to) ?? 0));
		}
		if (low.get(file) !== index.get(file)) return;
		const group = stack.splice(stack.indexOf(file));
		if (group.length > 1) found.push(group.sort());
	};
	for (const file of graph.keys()) if (!index.has(file)) visit(file);
	return found;
}
