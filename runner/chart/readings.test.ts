import { describe, expect, test } from "vitest";
import { figuresOf, listOf } from "../figures/figures.ts";
import { FIXTURES, searchedResult } from "../page/pages.fake.ts";
import { tablesOf } from "../page/table.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import type { Figure } from "./old-figure.ts";
import { readingAt, stopsOf } from "./readings.ts";
import { placeText, stretchText, unitText } from "./units.ts";

const ALL = { off: new Set<string>() };
const RESULTS = [
	...FIXTURES.map((name) => [name, () => fixtureResult(name)] as const),
	...["message-queue-latency", "commit-log-latency"].map(
		(name) => [name, () => publishedOnce(name)] as const,
	),
	["search", searchedResult] as const,
];

// Whoever points, taps or uses keys reads what the table says: two ways through the same figure.
describe.each(RESULTS)("what a pointer tells in the charts of %s", (_, result) => {
	const figures = listOf(figuresOf(result()));
	const of = <K extends Figure["kind"]>(kind: K) =>
		figures.filter((f): f is Extract<Figure, { kind: K }> => f.kind === kind);

	test("of percentiles: at each stop the column of the table, for every curve", () => {
		for (const figure of of("percentiles")) {
			const [table] = tablesOf(figure);
			for (const stop of stopsOf(figure, ALL))
				for (const panel of figure.panels.keys()) {
					const reading = readingAt(figure, ALL, stop, panel);
					const name = reading?.title.split(",")[0] ?? "";
					const at = table?.head.indexOf(name === "maximum" ? "max" : name);
					const own = [...figure.curves.entries()].filter(([, curve]) => curve.panel === panel);
					expect(reading?.rows.map((r) => r.text)).toEqual(
						own.map(([i, { censored }]) => {
							const text = table?.rows[i]?.[at ?? -1] ?? "no cell";
							return text === "n/a" ? (censored ?? text) : text;
						}),
					);
				}
			expect(stopsOf(figure, ALL).length).toBeGreaterThanOrEqual((table?.head.length ?? 0) - 2);
		}
	});

	test("over time: at each second the cells of its row", () => {
		for (const figure of of("time")) {
			const stops = stopsOf(figure, ALL);
			const cells = new Map<string, string>();
			for (const { head, rows } of tablesOf(figure))
				for (const [second = "", ...row] of rows)
					for (const [i, text] of row.entries()) cells.set(`${second} ${head[i + 1]}`, text);
			for (const stop of stops) {
				const reading = readingAt(figure, ALL, stop);
				const values = reading?.rows.filter(({ key }) => key !== null) ?? [];
				const lines = figure.panels.flatMap((panel) =>
					panel.lines.map((line) => ({ panel, line })),
				);
				expect(values).toHaveLength(lines.length);
				for (const [i, { panel, line }] of lines.entries()) {
					const inside = line.points.filter(
						([second]) => second > stop - figure.width / 2 && second <= stop + figure.width / 2,
					);
					const [[only] = []] = inside;
					const cell = cells.get(`${stretchText(stop, figure.width)} ${panel.title}: ${line.name}`);
					const most = Math.max(...inside.map(([, value]) => value ?? -1));
					// A line of shorter stretches tells its largest, one of others its nearest.
					if (inside.length === 1 && only === stop) expect(values[i]?.text).toBe(cell);
					else if (inside.length > 2 && most >= 0)
						expect(values[i]?.text).toBe(unitText(panel.unit, most));
				}
			}
		}
	});

	test("of a heat map: samples, slowest and never completed as in its row", () => {
		for (const figure of of("heat")) {
			const [table] = tablesOf(figure);
			const rows = table?.rows ?? [];
			const stops = stopsOf(figure, ALL);
			expect(stops).toHaveLength(rows.length);
			for (const [i, stop] of stops.entries()) {
				const reading = readingAt(figure, ALL, stop);
				const said = new Map(reading?.rows.map((r) => [r.name, r.text]));
				const row = new Map(table?.head.map((name, k) => [name, rows[i]?.[k]]));
				expect(said.get("messages")).toBe(row.get("samples"));
				expect(said.get("never completed") ?? "0").toBe(row.get("never completed") ?? "0");
				const slowest = said.get("slowest");
				if (slowest !== undefined) expect(slowest.split(":")[0]).toBe(row.get("slowest"));
				const cells = figure.cells.filter(([second]) => second + figure.width / 2 === stop);
				const most = Math.max(0, ...cells.map(([, , count]) => count));
				if (most > 0) expect(said.get("most")?.replaceAll(/.*: |\D/g, "")).toBe(`${most}`);
			}
		}
	});

	test("by rate or case: at each place the row of the table", () => {
		for (const figure of of("rate")) {
			const rows = tablesOf(figure)[0]?.rows ?? [];
			expect(stopsOf(figure, ALL)).toHaveLength(rows.length);
			for (const [i, stop] of stopsOf(figure, ALL).entries()) {
				const reading = readingAt(figure, ALL, stop);
				expect([reading?.title, ...(reading?.rows ?? []).map((r) => r.text)]).toEqual(rows[i]);
				expect(reading?.title).toBe(placeText(figure.axis, stop));
			}
		}
	});

	test("a group that is off is not told, and a pointer snaps to the nearest stop", () => {
		for (const figure of figures) {
			const stops = stopsOf(figure, ALL);
			if (stops.length < 2) continue;
			const [first = 0, second = 0] = stops;
			const near = first + (second - first) * 0.4;
			expect(readingAt(figure, ALL, near)?.x).toBe(first);
			const groups = new Set(
				readingAt(figure, ALL, first)?.rows.flatMap((r) => r.key?.group ?? []),
			);
			for (const off of groups)
				expect(
					readingAt(figure, { off: new Set([off]) }, first)?.rows.filter(
						(r) => r.key?.group === off,
					) ?? [],
				).toEqual([]);
		}
	});
});
