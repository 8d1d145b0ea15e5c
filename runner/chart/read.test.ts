import { describe, expect, test } from "vitest";
import { figuresOf } from "../figures/figures.ts";
import { FIXTURES, searchedResult } from "../page/pages.fake.ts";
import { parseCsv } from "../render/csv.fake.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import type { Figure, Panel, Series } from "./figure.ts";
import { packed, unpacked } from "./packed.ts";
import { csvOf, readingAt, stopsOf, tablesOf } from "./read.ts";

const ALL = { off: new Set<string>() };
const RESULTS = [
	...FIXTURES.map((name) => [name, () => fixtureResult(name)] as const),
	["commit-log-latency", () => publishedOnce("commit-log-latency")] as const,
	["search", searchedResult] as const,
];

/** What tables say, by place and series: "p99 nats", "2s to 3s response: p50". */
function cellsOf(figure: Figure): Map<string, string> {
	const cells = new Map<string, string>();
	for (const { head, rows } of tablesOf(figure))
		for (const [name = "", ...row] of rows) {
			const [of = "", value, verdict = ""] = row;
			if (figure.x.scale === "date")
				cells.set(`${name} ${of}`, `${value} ${verdict.toUpperCase()}`);
			else
				for (const [i, text] of row.entries())
					cells.set(
						figure.x.scale === "nines" ? `${head[i + 1]} ${name}` : `${name} ${head[i + 1]}`,
						text,
					);
		}
	return cells;
}

describe.each(RESULTS)("the figures of %s", (_, result) => {
	const figures: readonly Figure[] = figuresOf(result());

	test("tell at each stop what their tables say: whoever points, taps or uses keys reads the same", () => {
		for (const figure of figures) {
			const { panels, x: axis } = figure;
			const cells = cellsOf(figure);
			let compared = 0;
			for (const stop of stopsOf(figure, ALL))
				for (const panel of figure.layout === "grid" ? panels.keys() : [0]) {
					const reading = readingAt(figure, ALL, stop, panel);
					const place = reading?.title.split(",")[0]?.replace("maximum", "max") ?? "";
					for (const { key, at, text } of reading?.rows ?? []) {
						if (key === null) continue;
						// A line of shorter stretches tells its largest, one of longer ones its nearest.
						const near = key.data.filter(({ x }) => Math.abs(x - stop) <= axis.step / 2);
						if (axis.step > 0 && (near.length !== 1 || near[0]?.x !== stop)) continue;
						const title = at === null ? "" : panels[at.panel]?.title;
						const cell =
							cells.get(`${place} ${title}: ${key.name}`) ?? cells.get(`${place} ${key.name}`);
						// Series of other stretches have rows of their own.
						if (cell === undefined) continue;
						expect(text).toBe(cell);
						compared++;
					}
				}
			const lines = panels.flatMap(({ series }) => series).filter(({ group }) => group !== "");
			if (lines.length > 0) expect(compared).toBeGreaterThan(0);
		}
	});

	test("are copied as CSV with every cell of their tables", () => {
		for (const figure of figures) {
			const tables = csvOf(figure)
				.split("\n\n")
				.map((text) =>
					parseCsv(`${text.trimEnd()}\n`.replaceAll("\n", "\r\n").replaceAll("'-", "-")),
				);
			expect(tables).toEqual(tablesOf(figure).map(({ head, rows }) => [head, ...rows]));
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

	test("are the same when they have been packed", () => {
		for (const figure of figures)
			expect(unpacked(JSON.parse(JSON.stringify(packed(figure))))).toEqual(figure);
	});
});

describe("a figure as a table", () => {
	const series = (parts: Partial<Series>): Series => ({
		key: "k",
		name: "p99",
		group: "nats",
		color: 0,
		dash: 0,
		thin: false,
		draw: "line",
		data: [],
		...parts,
	});
	const panel = (parts: Partial<Panel>): Panel => ({
		title: "",
		unit: "ns",
		log: null,
		limits: [],
		series: [],
		...parts,
	});
	const figure = (x: Partial<Figure["x"]>, panels: readonly Panel[]): Figure => ({
		id: "x-1",
		title: "a title",
		facts: "on 4 cores",
		x: { scale: "nines", title: "x", unit: null, names: null, from: null, to: null, step: 0, ...x },
		layout: "stack",
		panels,
		spans: [],
	});

	test("of percentiles: one row for each curve, with intervals, and what never completed in the place of a maximum", () => {
		const curves = [
			series({
				name: "nats p99",
				data: [
					{ x: 0, y: 1e5 },
					{ x: 50, y: 2e5, text: "200us [190us, 210us]", low: 19e4, high: 21e4 },
					{ x: 99, y: 4e8, text: "~400ms [196ms, \u221e]", low: 196e6, high: null },
				],
				end: { x: 99.9, y: 5e8 },
			}),
			series({
				name: "nats service",
				data: [{ x: 50, y: 1e5, text: "100us" }],
				end: { x: 50, y: null, text: "3 never completed: > 30s" },
			}),
		];
		expect(tablesOf(figure({}, [panel({ series: curves })]))).toEqual([
			{
				head: ["curve", "p50", "p99", "max"],
				rows: [
					["nats p99", "200us [190us, 210us]", "~400ms [196ms, \u221e]", "500ms"],
					["nats service", "100us", "n/a", "3 never completed: > 30s"],
				],
			},
		]);
	});

	test("over time: panels with the same seconds share one, a gap is n/a and never 0, a rate that holds is in every row", () => {
		const of = (title: string, unit: Panel["unit"], data: Series["data"], more: Series[] = []) =>
			panel({ title, unit, series: [...more, series({ data })] });
		const missing = series({
			name: "never completed",
			group: "",
			draw: "words",
			data: [{ x: 1.5, y: null, text: "2 of 5" }],
		});
		const panels = [
			of(
				"response",
				"ns",
				[
					{ x: 0.5, y: 1e6 },
					{ x: 1.5, y: null },
				],
				[missing],
			),
			of(
				"in flight",
				"messages",
				[
					{ x: 0.5, y: 0 },
					{ x: 1.5, y: 1234 },
				],
				[series({ name: "scheduled", data: [{ x: -1, y: 5, x2: 2 }] })],
			),
			of("CPU", "cores", [{ x: 0.7, y: 0.254 }]),
			of("disk", "bytes/s", [{ x: 0.7, y: 2048 }]),
		];
		const tables = tablesOf(figure({ scale: "seconds", title: "second", step: 1 }, panels));
		expect(tables.map(({ head, rows }) => [head, rows])).toEqual([
			[
				["second", "never completed", "response: p99", "in flight: scheduled", "in flight: p99"],
				[
					["0s to 1s", "0", "1ms", "5", "0"],
					["1s to 2s", "2 of 5", "n/a", "5", "1 234"],
				],
			],
			[["second", "CPU: p99", "disk: p99"], [["0.7s", "0.25", "2KiB/s"]]],
		]);
	});

	test("of areas: how many in each column, and the slowest; a pointer tells the same", () => {
		const cells = series({
			name: "samples",
			group: "",
			draw: "cells",
			data: [
				{ x: 0, y: 1e6, x2: 1, y2: 2e6, n: 5 },
				{ x: 0, y: 2e6, x2: 1, y2: 4e6, n: 2 },
				{ x: 1, y: 1e6, x2: 2, y2: 2e6, n: 7 },
			],
		});
		const heat = figure({ scale: "seconds", title: "second", step: 1 }, [
			panel({ series: [cells] }),
		]);
		expect(tablesOf(heat)).toEqual([
			{
				head: ["second", "samples", "slowest", "samples by latency"],
				rows: [
					["0s", "7", "2ms to 4ms", "2ms to 4ms: 2, 1ms to 2ms: 5"],
					["1s", "7", "1ms to 2ms", "1ms to 2ms: 7"],
				],
			},
		]);
		expect(stopsOf(heat, ALL)).toEqual([0.5, 1.5]);
		const { title, rows } = readingAt(heat, ALL, 0.3) ?? {};
		expect([title, ...(rows ?? []).map(({ name, text }) => `${name} ${text}`)]).toEqual([
			"0s to 1s",
			"messages 7",
			"slowest that completed 2ms to 4ms: 2",
			"most 1ms to 2ms: 5",
		]);
	});

	test("begins no formula when it is copied", () => {
		const one = figure({ scale: "names", names: ['=HYPERLINK("x")'] }, [
			panel({ series: [series({ data: [{ x: 0, y: 1, text: "1.02" }] })] }),
		]);
		expect(csvOf(one)).toBe(`x,p99\n"'=HYPERLINK(""x"")",1.02\n`);
	});
});
