import { describe, expect, test } from "vitest";
import { figuresOf, listOf } from "../figures/figures.ts";
import { HOSTILE } from "../page/pages.fake.ts";
import { fixtureResult, publishedFolder, storedResult } from "../result/stored.fake.ts";
import { depthOf, type Part } from "./axes.ts";
import { shown } from "./frame.ts";
import type {
	Figure,
	PercentileFigure,
	RateFigure,
	SeriesKey,
	TimeFigure,
	TrendFigure,
	View,
} from "./old-figure.ts";
import { firstView, keysOf, optionOf } from "./options.ts";
import { pictureOf } from "./picture.ts";
import { COLOURS, colourOf, lineType, markOf } from "./theme.ts";

interface Series {
	readonly name?: string;
	readonly type: string;
	readonly step?: string | false;
	readonly connectNulls?: boolean;
	readonly xAxisIndex: number;
	readonly data: readonly unknown[];
	readonly symbol?: string;
	readonly lineStyle?: { readonly width: number; readonly type: unknown };
	readonly color?: string;
	readonly markLine?: {
		readonly data: readonly { readonly name: string; readonly yAxis: number }[];
	};
}

const key = (name: string, more: Partial<SeriesKey> = {}): SeriesKey => ({
	key: name,
	name,
	group: name,
	colour: 0,
	dash: 0,
	hidden: false,
	...more,
});
const texts = { title: "T", facts: "F", description: "D" };
const unfinished = { stretches: [], beyond: "> 30s", unplaced: null };
const limits = [{ text: "p99 < 20ms", value: 2e7 }];

const percentiles = (values: readonly number[]): PercentileFigure => ({
	...texts,
	kind: "percentiles",
	id: "p",
	panels: [{ title: "256B" }, { title: "1KiB" }],
	curves: [0, 1].map((panel) => ({
		...key(`nats ${panel}`, { group: "nats" }),
		panel,
		metric: "response",
		points: values.map((value, i) => [[0, 50, 90, 99][i] ?? 0, value] as const),
		max: null,
		marks: [],
		censored: null,
	})),
	hidden: [],
	limits: [{ text: "p99 < 20ms", value: 2e7, p: 99 }],
});

const time: TimeFigure = {
	...texts,
	kind: "time",
	id: "t",
	width: 1,
	from: 0,
	to: 4,
	marks: [],
	unfinished,
	panels: [
		{
			title: "response",
			unit: "ns",
			logarithmic: false,
			limits,
			lines: [
				{
					...key("p99"),
					points: [
						[0.5, 1e6],
						[1.5, null],
						[2.5, 3e6],
						[3.5, 2e6],
					],
					steps: false,
				},
			],
		},
	],
};

const rate = (names: readonly string[] | null): RateFigure => ({
	...texts,
	kind: "rate",
	id: "r",
	axis: { title: "case", unit: "cases", names },
	unit: "ns",
	lines: [
		{
			...key("nats"),
			points: [
				{ x: 0, value: 1e6, low: 9e5, high: 2e6, text: "1ms" },
				{ x: 1, value: 2e6, low: 9e5, high: null, text: "2ms" },
			],
		},
	],
	limits,
});

const trend: TrendFigure = {
	...texts,
	kind: "trend",
	id: "x",
	unit: "ns",
	lines: [
		{
			...key("nats"),
			points: ["pass", "fail"].map((verdict, i) => ({
				at: i * 864e5,
				value: 1e6 * (i + 1),
				verdict,
				text: `${i + 1}ms`,
				href: null,
			})),
		},
	],
};

function seriesOf(figure: Figure, theme: View["theme"] = "light"): Series[] {
	return optionOf(figure, firstView(figure, theme)).series as Series[];
}

/** Lines of a group, without those that stand for a shape or a limit. */
function linesOf(figure: Figure, group: string): Series[] {
	return seriesOf(figure).filter(
		({ name, type, data, lineStyle }) =>
			name === shown(group) &&
			(type === "line" || type === "scatter") &&
			data.length > 0 &&
			!isDotted(lineStyle),
	);
}

function isDotted(style: Series["lineStyle"]): boolean {
	return JSON.stringify(style?.type) === "[1,3]";
}

function pointsOf({ data }: Series): unknown[] {
	return data.map((one) => (Array.isArray(one) ? one : (one as { value: unknown }).value));
}

describe("a curve of percentiles", () => {
	const values = [1e6, 2e6, 3e6, 4e6];

	test("goes through its exact points, each value until the next", () => {
		for (const line of linesOf(percentiles(values), "nats")) {
			expect(line.step).toBe("end");
			expect(pointsOf(line)).toEqual([0, 50, 90, 99].map((p, i) => [depthOf(p), values[i]]));
		}
		expect([0, 90, 99, 99.9].map((p) => Number(depthOf(p).toFixed(9)))).toEqual([0, 1, 2, 3]);
	});

	test("has the same axes in every panel", () => {
		const figure = percentiles(values);
		const option = optionOf(figure, firstView(figure, "light"));
		for (const axes of [option.xAxis, option.yAxis] as Part[][]) {
			const [first, second] = axes.map(({ min, max, type }) => [min, max, type]);
			expect(axes).toHaveLength(2);
			expect(second).toEqual(first);
		}
	});

	test("of a repeat that does not decide is thin; the deciding one is strong and has the marks", () => {
		const [figure] = figuresOf(fixtureResult("repeats")).overview;
		if (figure?.kind !== "percentiles") throw new Error("no curves");
		for (const group of ["nats", "kafka"]) {
			const curves = figure.curves.filter((c) => c.group === group);
			const widths = linesOf(figure, group).map((l) => l.lineStyle?.width);
			expect(widths).toEqual(curves.map(({ thin }) => (thin ? 1 : 2)));
			const marked = linesOf(figure, group).map(({ data }) =>
				data.some((one) => !Array.isArray(one)),
			);
			expect(marked).toEqual(curves.map(({ thin }) => !thin));
		}
	});
});

test.each([
	["of percentiles", percentiles([1e6, 2e6]), 2],
	["over time", time, 1],
	["over cases", rate(["a", "b"]), 1],
] as const)("%s limits are lines with their text", (_, figure, panels) => {
	const lines = seriesOf(figure).flatMap(({ markLine }) => markLine?.data ?? []);
	expect(lines.filter(({ name }) => name === "p99 < 20ms").map((l) => l.yAxis)).toEqual(
		Array(panels).fill(2e7),
	);
	expect(pictureOf(figure, firstView(figure, "light"))).toContain(">p99 &lt; 20ms</text>");
});

describe("over time", () => {
	test("a gap stays a gap, and a point between two gaps is seen", () => {
		const [line] = linesOf(time, "p99");
		expect(line?.connectNulls).toBe(false);
		expect(line && pointsOf(line)).toEqual(
			time.panels[0]?.lines[0]?.points.map((point) => [...point]),
		);
		expect(line?.data[0]).toMatchObject({ symbol: "circle" });
		expect(line?.data[2]).toEqual([2.5, 3e6]);
	});
});

describe("by case or rate", () => {
	test("cases are not joined by lines, rates are", () => {
		expect(linesOf(rate(["a", "b"]), "nats").map((s) => s.type)).toEqual(["scatter"]);
		expect(linesOf(rate(null), "nats").map((s) => s.type)).toEqual(["line"]);
	});

	test("an interval without an upper bound ends in an arrow, one with both in a line", () => {
		const svg = pictureOf(rate(["a", "b"]), firstView(rate(null), "light"));
		const whiskers = [...svg.matchAll(/<path d="([^"]*)"[^>]*>/g)]
			.map(([, d = ""]) => d)
			.filter((d) => /^M[\d.]+ [\d.]+L[\d.]+ [\d.]+M/.test(d));
		expect(whiskers).toHaveLength(2);
		const lines = whiskers.map((d) => d.match(/L/g)?.length);
		// Foot, stem and head; an arrow's head has two lines.
		expect(lines).toEqual([3, 4]);
	});
});

test("in a trend a run that does not pass has a mark of its own", () => {
	const [line] = linesOf(trend, "nats");
	const [pass, fail] = (line?.data ?? []) as { symbol: string }[];
	expect(pass?.symbol).toBe("circle");
	expect(fail?.symbol).toMatch(/^path:/);
});

test.each(["message-queue-latency", "commit-log-latency"])(
	"a system has one colour, mark and dash on every chart of %s that compares",
	(name) => {
		const { overview } = figuresOf(storedResult(publishedFolder(name)));
		const looks = new Map<string, Set<string>>();
		for (const { group, colour, dash } of overview.flatMap(keysOf))
			looks.set(
				group,
				(looks.get(group) ?? new Set()).add(
					[colourOf(colour, "light"), markOf(colour), lineType(dash)].join(" "),
				),
			);
		expect(looks.size).toBeGreaterThan(2);
		expect([...looks.values()].map(({ size }) => size)).toEqual(Array(looks.size).fill(1));
		expect(new Set([...looks.values()].map(([look]) => look)).size).toBe(looks.size);
	},
);

test.each(["message-queue-latency", "nats-stall"])(
	"each text of the legends of %s stands beside the line that it names",
	(name) => {
		const figures = listOf(figuresOf(storedResult(publishedFolder(name))));
		const told = figures.flatMap((figure) => {
			const view = { ...firstView(figure, "light"), alone: true };
			const { legend, series } = optionOf(figure, view) as {
				legend: { data: readonly string[]; show: boolean };
				series: readonly Series[];
			};
			if (!legend.show) return [];
			// ECharts draws the look of the first series of that name.
			return legend.data.map((group) => {
				const first = series.find((one) => one.name === group);
				const line = keysOf(figure).find((k) => shown(k.group) === group);
				expect([group, first?.color]).toEqual([group, line && colourOf(line.colour, "light")]);
				return group;
			});
		});
		expect(told.length).toBeGreaterThan(1);
	},
);

test("names of markup, lines and 300 letters stay names", () => {
	const figure = {
		...rate([HOSTILE, "b"]),
		title: HOSTILE,
		lines: rate(null).lines.map((line) => ({
			...line,
			key: HOSTILE,
			name: HOSTILE,
			group: HOSTILE,
		})),
	};
	const svg = pictureOf(figure, firstView(figure, "dark"));
	expect(svg).not.toMatch(/<script|<img|NaN|undefined/);
	expect(svg).toContain("&lt;/script&gt;");
	expect(svg).toContain(COLOURS.dark.page);
});

test("every figure is drawn in both themes without a number that is none", () => {
	for (const figure of listOf(figuresOf(fixtureResult("lost"))))
		for (const theme of ["light", "dark"] as const)
			expect(pictureOf(figure, firstView(figure, theme))).not.toMatch(
				/NaN|Infinity|undefined|\bnull\b/,
			);
});
