import { describe, expect, test } from "vitest";
import { figuresOf } from "../figures/figures.ts";
import { FIXTURES, searchedResult } from "../page/pages.fake.ts";
import { parseCsv } from "../render/csv.fake.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import { isGrid } from "./axes.ts";
import { figureOf } from "./figure.fake.ts";
import type { Figure, Series } from "./figure.ts";
import { altOf, csvOf, readingAt, stopsOf, tableOf } from "./read.ts";

const ALL = { off: new Set<string>() };
const RESULTS = [
	...FIXTURES.map((name) => [name, () => fixtureResult(name)] as const),
	["commit-log-latency", () => publishedOnce("commit-log-latency")] as const,
	["search", searchedResult] as const,
];

/** What a table says, by place and series: "p99 nats". */
function cellsOf(figure: Figure): Map<string, string> {
	const { head, rows } = tableOf(figure);
	const turned = figure.x.scale === "nines";
	return new Map(
		rows.flatMap(([name = "", ...row]) =>
			row.map((text, i): [string, string] => {
				const of = head[i + 1] ?? "";
				return [turned ? `${of} ${name}` : `${name} ${of}`, text];
			}),
		),
	);
}

describe.each(RESULTS)("the figures of %s", (_, result) => {
	const figures: readonly Figure[] = figuresOf(result());

	test("tell at each stop what their tables say: whoever points or taps reads the same", () => {
		for (const figure of figures) {
			const { panels } = figure;
			const cells = cellsOf(figure);
			let compared = 0;
			for (const stop of stopsOf(figure, ALL))
				for (const panel of isGrid(figure) ? panels.keys() : [0]) {
					const reading = readingAt(figure, ALL, stop, panel);
					const place = reading?.title.split(",")[0] ?? "";
					for (const { name, text } of reading?.rows ?? []) {
						const of = cells.get(`${place} ${panels[panel]?.title}: ${name}`);
						expect((of ?? cells.get(`${place} ${name}`))?.split("; ")).toContain(text);
						compared++;
					}
				}
			expect(compared).toBeGreaterThan(0);
		}
	});

	test("have in their tables every value that they show, and are copied as CSV with every cell", () => {
		for (const figure of figures) {
			const { head, rows } = tableOf(figure);
			const csv = csvOf(figure).replaceAll("\n", "\r\n").replaceAll("'-", "-");
			expect(parseCsv(csv)).toEqual([head, ...rows]);
			const values = figure.panels
				.flatMap(({ series }) => series)
				.flatMap(({ data }) => data.filter(({ text }) => text !== undefined));
			const texts = new Set(rows.flat().flatMap((cell) => cell.split("; ")));
			for (const { text = "" } of values)
				for (const part of text.split("; ")) expect(texts).toContain(part);
		}
	});

	test("tell nothing of a group that is off, and a pointer snaps to the nearest stop", () => {
		for (const figure of figures) {
			const [first, second] = stopsOf(figure, ALL);
			if (first === undefined || second === undefined) continue;
			expect(readingAt(figure, ALL, first + (second - first) * 0.4)?.x).toBe(first);
			const groups = readingAt(figure, ALL, first)?.rows.flatMap(({ key }) => key?.group ?? []);
			for (const off of new Set(groups))
				expect(
					readingAt(figure, { off: new Set([off]) }, first)?.rows.filter(
						({ key }) => key?.group === off,
					) ?? [],
				).toEqual([]);
		}
	});
});

describe("a figure as a table", () => {
	const of = (figure: Figure, ...more: Partial<Series>[]): Figure => {
		const [panel] = figure.panels;
		if (panel === undefined) return figure;
		const [one] = panel.series;
		return {
			...figure,
			panels: [{ ...panel, series: more.map((s) => ({ ...(one as Series), ...s })) }],
		};
	};

	test("of percentiles: one row for each curve, with intervals, and what never completed in the place of a maximum", () => {
		const curves = of(
			figureOf({ scale: "nines", title: "percentile" }),
			{
				name: "nats p99",
				data: [
					{ x: 0, y: 1e5 },
					{ x: 50, y: 2e5, text: "200us [190us, 210us]", low: 19e4, high: 21e4 },
					{ x: 99, y: 4e8, text: "~400ms [196ms, \u221e]", low: 196e6, high: null },
				],
				end: { x: 99.9, y: 5e8 },
			},
			{
				name: "nats service",
				data: [{ x: 50, y: 1e5, text: "100us" }],
				end: { x: 50, y: null, text: "3 never completed: > 30s" },
			},
		);
		expect(tableOf(curves)).toEqual({
			head: ["percentile", "p50", "p99", "max"],
			rows: [
				["nats p99", "200us [190us, 210us]", "~400ms [196ms, \u221e]", "500ms"],
				["nats service", "100us", "n/a", "3 never completed: > 30s"],
			],
		});
	});

	test("over time: a gap is n/a and never 0, and what happens only sometimes is empty elsewhere", () => {
		const seconds = of(
			figureOf({ title: "second" }),
			{ name: "never completed", group: "", data: [{ x: 1.5, y: null, text: "2 of 5" }] },
			{
				name: "p99",
				data: [
					{ x: 0.5, y: 1e6 },
					{ x: 1.5, y: null },
				],
			},
			{ name: "max", data: [{ x: 0.5, y: 0 }] },
		);
		expect(tableOf(seconds)).toEqual({
			head: ["second", "never completed", "p99", "max"],
			rows: [
				["0s to 1s", "", "1ms", "0s"],
				["1s to 2s", "2 of 5", "n/a", "n/a"],
			],
		});
	});

	test("of areas: how many in each; a pointer tells the same", () => {
		const data = [
			{ x: 0.5, y: 1e6, y2: 2e6, n: 5 },
			{ x: 0.5, y: 2e6, y2: 4e6, n: 2 },
			{ x: 1.5, y: 1e6, y2: 2e6, n: 7 },
		];
		const heat = figureOf({ title: "second" }, data, { name: "samples", group: "", draw: "cells" });
		expect(tableOf(heat)).toEqual({
			head: ["second", "samples"],
			rows: [
				["0s to 1s", "1ms to 2ms: 5; 2ms to 4ms: 2"],
				["1s to 2s", "1ms to 2ms: 7"],
			],
		});
		const { title, rows } = readingAt(heat, ALL, 0.3) ?? {};
		expect([title, ...(rows ?? []).map(({ text }) => text)]).toEqual([
			"0s to 1s",
			"1ms to 2ms: 5",
			"2ms to 4ms: 2",
		]);
		expect(altOf(heat)).toBe("14 samples, the slowest 2ms to 4ms: 2.");
	});

	test("begins no formula when it is copied", () => {
		const names = ['=HYPERLINK("x")'];
		const one = figureOf({ scale: "names", names }, [{ x: 0, y: 1, text: "1.02" }]);
		expect(csvOf(one)).toBe(`x,nats\n"'=HYPERLINK(""x"")",1.02\n`);
	});
});
