import { expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { subjectOf } from "./facts.ts";
import { heatFigure } from "./time.ts";

type Heat = Run["series"]["heat"];

function heatOf(name: string, heat?: Heat) {
	const result = fixtureResult(name);
	const [run] = result.runs as [Run];
	const series = heat === undefined ? run.series : { ...run.series, heat };
	return { run, figure: heatFigure(subjectOf({ ...run, series }, result), 300) };
}

const read = (figure: ReturnType<typeof heatFigure>, name: string) =>
	figure?.panels[0]?.series.find((series) => series.name === name)?.data;

test("has the cells of result.json, each from its bin's lower bound to the next one's", () => {
	const cells: [number, number, number][] = [
		[-1, 0, 5],
		[0, 0, 9],
		[0, 2, 1],
		[1, 1, 3],
	];
	const { figure } = heatOf("stall", { binsNs: [1e5, 2e5, 4e5], endNs: 8e5, width: 1, cells });
	expect(read(figure, "samples")).toEqual([
		{ x: -0.5, y: 1e5, y2: 2e5, n: 5 },
		{ x: 0.5, y: 1e5, y2: 2e5, n: 9 },
		{ x: 0.5, y: 4e5, y2: 8e5, n: 1 },
		{ x: 1.5, y: 2e5, y2: 4e5, n: 3 },
	]);
});

test("is nothing where nothing was measured", () => {
	expect(heatOf("stall", null).figure).toBeNull();
});

test("of a long run joins columns without losing a message", () => {
	const cells = Array.from({ length: 600 }, (_, i): [number, number, number] => [i - 5, i % 2, 2]);
	const { figure } = heatOf("stall", { binsNs: [1e5, 2e5], endNs: 4e5, width: 1, cells });
	const joined = read(figure, "samples") ?? [];
	expect(new Set(joined.map(({ x }) => x)).size).toBeLessThanOrEqual(301);
	expect(joined.reduce((n, cell) => n + (cell.n ?? 0), 0)).toBe(1200);
	// No column holds both warm-up and window.
	expect(joined.filter(({ x }) => Math.abs(x) < (figure?.x.step ?? 0) / 2)).toEqual([]);
});

test("messages that never completed are in no cell: they are counted in their second", () => {
	const { figure } = heatOf("lost");
	expect(read(figure, "never completed")).toEqual([{ x: 2.5, y: null, text: "12 of 1 000" }]);
	const due = (read(figure, "samples") ?? []).filter(({ x }) => x === 2.5);
	expect(due.reduce((n, cell) => n + (cell.n ?? 0), 0)).toBe(988);
	expect(figure?.spans.at(-1)).toMatchObject({ from: 2, to: 3, kind: "missing" });
	expect(read(heatOf("healthy").figure, "never completed")).toBeUndefined();
});
