import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baselineWith } from "../compare/baseline.fake.ts";
import { comparingOf } from "../compare/comparing.ts";
import { comparedFigures } from "../figures/comparison.ts";
import { figuresOf } from "../figures/figures.ts";
import { trendsOf } from "../figures/trends.ts";
import { FIXTURES, hostileResult, manyResult, searchedResult } from "../page/pages.fake.ts";
import { addResult, resultOf } from "../result/indexed.fake.ts";
import { readRuns } from "../result/indexed.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import { placeOf } from "./axes.ts";
import { figureOf } from "./figure.fake.ts";
import type { Figure } from "./figure.ts";
import { shown } from "./head.ts";
import { firstView, groupsOf, optionOf } from "./option.ts";
import { altOf } from "./read.ts";
import { svgOf } from "./svg.ts";
import { COLOURS, colourOf, dashesOf, HEAT, markOf } from "./theme.ts";

const PUBLISHED = ["nats-stall", "message-queue-latency", "commit-log-latency"];
const SETS: readonly (readonly [string, () => readonly Figure[]])[] = [
	...FIXTURES.map((name) => [name, () => figuresOf(fixtureResult(name))] as const),
	...PUBLISHED.map((name) => [name, () => figuresOf(publishedOnce(name))] as const),
	["a search", () => figuresOf(searchedResult())],
	["hostile names", () => figuresOf(hostileResult())],
	["20 runs", () => figuresOf(manyResult(20)).filter(({ id }) => !id.startsWith("run-"))],
	["a comparison", compared],
	["trends", trends],
];

function compared(): Figure[] {
	const side = (path: string, factor: number) => ({
		path,
		baseline: baselineWith({ "response p99": [9e5, 8e5, 7e5, 9e5, 8e5].map((v) => v * factor) }),
	});
	return comparedFigures(comparingOf(side("a", 1), side("b", 1.6)));
}

function trends(): Figure[] {
	const root = mkdtempSync(join(tmpdir(), "mqbench-trends-"));
	for (const day of [1, 2, 3])
		addResult(root, `r${day}`, resultOf("repeats", { startedAt: `2026-01-0${day}T12:00:00Z` }));
	const entries = readRuns(root);
	rmSync(root, { recursive: true });
	return trendsOf(entries).map(({ figure }) => figure);
}

interface Drawn {
	readonly name?: string;
	readonly type: string;
	readonly step?: string | false;
	readonly connectNulls?: boolean;
	readonly xAxisIndex: number;
	readonly data: readonly unknown[];
	readonly color?: string;
	readonly markLine: { readonly data: readonly (readonly { readonly symbol: string }[])[] };
	readonly lineStyle?: { readonly width: number; readonly type: unknown };
}

const light = (figure: Figure) => firstView(figure, "light");

function drawnIn(figure: Figure): Drawn[] {
	return optionOf(figure, { ...light(figure), logarithmic: false }).series as Drawn[];
}

function pointsOf({ data }: Drawn): [x: number, y: number | null][] {
	return data.map((one) => (Array.isArray(one) ? one : (one as { value: never }).value) as never);
}

describe.each(SETS)("the figures of %s", (_, make) => {
	const figures = make();

	test("have names that are unique and good for files, and say in words what they show", () => {
		const ids = figures.map(({ id }) => id);
		expect(new Set(ids).size).toBe(ids.length);
		for (const figure of figures) {
			expect(figure.id).toMatch(/^[A-Za-z0-9-]+$/);
			for (const text of [figure.title, figure.facts, altOf(figure)])
				expect(text).not.toMatch(/^$|NaN|Infinity|undefined|\bnull\b|\[object/);
		}
	});

	test("are plain data: places ascend, values lie in their intervals, names find their series", () => {
		for (const figure of figures) {
			expect(JSON.parse(JSON.stringify(figure))).toEqual(figure);
			const { panels, spans } = figure;
			for (const { series } of panels) {
				expect(new Set(series.map(({ name }) => name)).size).toBe(series.length);
				for (const { data } of series) {
					const places = data.map(({ x }) => x);
					expect(places).toEqual(places.toSorted((a, b) => a - b));
					for (const { y, low, high } of data) {
						if (y !== null && low != null) expect(low).toBeLessThanOrEqual(y);
						if (y !== null && high != null) expect(high).toBeGreaterThanOrEqual(y);
					}
				}
			}
			for (const { from, to } of spans) expect(from).toBeLessThanOrEqual(to);
		}
	});

	test("are drawn value by value: nothing is left out, nothing made up, and a gap stays a gap", () => {
		for (const figure of figures) {
			const drawn = drawnIn(figure);
			for (const [grid, { series }] of figure.panels.entries()) {
				const own = drawn.filter(({ xAxisIndex }) => xAxisIndex === grid);
				for (const { data } of series.filter(
					({ draw, group }) => draw !== "cells" && draw !== "band" && group !== "",
				)) {
					const at = (x: number) => (figure.x.scale === "names" ? Math.round(x) || 0 : x);
					const points = data.map(({ x, y }) => [placeOf(figure.x, x), y]);
					const places = own.map((one) => pointsOf(one).map(([x, y]) => [at(x), y]));
					expect(places).toContainEqual(points);
				}
				expect(own.filter(({ connectNulls }) => connectNulls)).toEqual([]);
			}
		}
	});

	test("have a cell for each stretch and value, in a shade that no other part has", () => {
		for (const figure of figures.filter(({ x }) => x.scale === "seconds")) {
			const data = figure.panels.flatMap(({ series }) => series.filter((s) => s.draw === "cells"));
			const fills = svgOf(figure, light(figure)).match(/fill="#\w+"/g) ?? [];
			expect(fills.filter((fill) => HEAT.light.includes(fill.slice(6, -1)))).toHaveLength(
				data.reduce((sum, one) => sum + one.data.length, 0),
			);
		}
	});

	test("are drawn in both themes without a number that is none, and names stay names", () => {
		for (const figure of figures)
			for (const theme of ["light", "dark"] as const) {
				const svg = svgOf(figure, firstView(figure, theme));
				expect(svg).not.toMatch(/NaN|Infinity|undefined|\bnull\b|<script|<img/);
				expect(svg).toContain(`"${COLOURS[theme].page}"`);
			}
	});

	test("have a legend whose texts stand beside the lines that they name", () => {
		for (const figure of figures) {
			const option = optionOf(figure, light(figure));
			const groups = groupsOf(figure);
			expect((option.legend as { data: unknown }).data).toEqual(
				groups.map(({ group }) => shown(group)),
			);
			// ECharts draws the look of the first series of that name.
			for (const { group, color } of groups)
				expect(drawnIn(figure).find(({ name }) => name === shown(group))?.color).toBe(
					colourOf(color, "light"),
				);
		}
	});
});

test("the sets hold every way to draw on every scale that has it", () => {
	const ways = SETS.flatMap(([, make]) => make()).flatMap(({ x, panels }) =>
		panels.flatMap(({ series }) => series.map(({ draw }) => `${draw} over ${x.scale}`)),
	);
	expect([...new Set(ways)].sort()).toEqual([
		"band over names",
		"band over nines",
		"cells over seconds",
		"dots over names",
		"line over date",
		"line over linear",
		"line over log",
		"line over nines",
		"line over seconds",
		"step over seconds",
	]);
});

test.each(["message-queue-latency", "commit-log-latency"])(
	"a system has one colour, mark and dash on every chart of %s that compares, and no other has it",
	(name) => {
		const looks = new Map<string, Set<string>>();
		for (const figure of figuresOf(publishedOnce(name)).filter(({ id }) => !id.startsWith("run-")))
			for (const { group, color, dash } of groupsOf(figure)) {
				const look = [colourOf(color, "light"), markOf(color), dashesOf(dash)].join(" ");
				looks.set(group, (looks.get(group) ?? new Set()).add(look));
			}
		expect(looks.size).toBeGreaterThan(2);
		const all = [...looks.values()].flatMap((own) => [...own]);
		expect(all).toHaveLength(looks.size);
		expect(new Set(all).size).toBe(looks.size);
	},
);

// --- one property at a time ---

const PERCENTILES = [0, 50, 90, 99].map((x, i) => ({ x, y: 1e6 * (i + 1) }));

describe("by percentile", () => {
	test("each value holds until the next, and all panels have the same axes", () => {
		const figure = figureOf({ scale: "nines" }, PERCENTILES, { panels: 2 });
		const option = optionOf(figure, light(figure));
		for (const axes of [option.xAxis, option.yAxis] as { min: number; max: number }[][])
			expect(new Set(axes.map(({ min, max }) => `${min} ${max}`)).size).toBe(1);
		expect(drawnIn(figure).flatMap(({ name, step }) => (name === "nats" ? [step] : []))).toEqual([
			"end",
			"end",
		]);
	});

	test("a repeat that does not decide is thin, and only the deciding one has marks at its percentiles", () => {
		const named = PERCENTILES.map((datum) => ({ ...datum, text: "1ms" }));
		for (const thin of [false, true]) {
			const [line] = drawnIn(figureOf({ scale: "nines" }, named, { thin })).filter(
				(d) => d.name === "nats",
			);
			expect(line?.lineStyle?.width).toBe(thin ? 1 : 2);
			expect(line?.data.some((one) => !Array.isArray(one))).toBe(!thin);
		}
	});

	test("what never completed is an arrow with its words, in the place of a maximum", () => {
		const end = { x: 99, y: null, text: "3 never completed: > 30s" };
		const svg = (thin: boolean) => {
			const figure = figureOf({ scale: "nines" }, PERCENTILES, { end, thin });
			return svgOf(figure, light(figure));
		};
		expect(svg(false)).toContain(">3 never completed: &gt; 30s</text>");
		expect(svg(true)).not.toMatch(/never completed[^<]*<\/text>/);
	});
});

test.each(["nines", "seconds", "linear", "names"] as const)(
	"over %s limits of one value are one line with their texts",
	(scale) => {
		const limits = ["p99", "p50"].map((p) => ({ text: `${p} < 20ms`, y: 2e7 }));
		const names = scale === "names" ? ["a"] : null;
		const figure = figureOf({ scale, names }, PERCENTILES, { panel: { limits } });
		expect(svgOf(figure, light(figure))).toContain(">p99 &lt; 20ms, p50 &lt; 20ms</text>");
	},
);

test("a point between two gaps is seen", () => {
	const data = [1e6, null, 3e6, 2e6].map((y, i) => ({ x: i + 0.5, y }));
	const [line] = drawnIn(figureOf({}, data)).filter(({ name }) => name === "nats");
	expect(line?.data[0]).toMatchObject({ symbol: "circle" });
	expect(line?.data[2]).toEqual([2.5, 3e6]);
});

test("an interval without an upper bound ends in an arrow, one with both in a line", () => {
	const data = [
		{ x: 0, y: 1e6, low: 9e5, high: 2e6 },
		{ x: 1, y: 2e6, low: 9e5, high: null },
	];
	const figure = figureOf({ scale: "names", names: ["a", "b"] }, data, { draw: "dots" });
	const [line] = drawnIn(figure).filter(({ name }) => name === "nats");
	expect(line?.markLine.data.map((ends) => ends.map(({ symbol }) => symbol))).toEqual([
		["rect", "rect"],
		["rect", "arrow"],
	]);
	expect(svgOf(figure, light(figure))).not.toContain("NaN");
});

test("a run that does not pass has a mark of its own, and the newest is told", () => {
	const data = ["pass", "fail"].map((look, i) => ({
		x: i * 864e5,
		y: 1e6,
		look,
		text: `${i + 1}ms`,
	}));
	const figure = figureOf({ scale: "date" }, data);
	const [line] = drawnIn(figure).filter(({ name }) => name === "nats");
	const marks = line?.data.map((one) => (one as { symbol?: string }).symbol);
	expect(marks?.[0]).toBeUndefined();
	expect(marks?.[1]).toMatch(/^path:/);
	expect(altOf(figure)).toBe("nats: 1970-01-02 00:00 UTC 2ms FAIL.");
});
