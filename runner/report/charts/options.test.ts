import { describe, expect, test } from "vitest";
import {
	fixtureResult,
	publishedFolder,
	storedResult,
} from "../stored.fake.ts";
import type {
	Figure,
	HeatFigure,
	PercentileFigure,
	RateFigure,
	SeriesKey,
	TimeFigure,
	TrendFigure,
	View,
} from "./figure.ts";
import { figuresOf, listOf } from "./figures.ts";
import { heatLevel } from "./heat-option.ts";
import { depthOf } from "./nines.ts";
import {
	firstView,
	heightOf,
	keysOf,
	optionOf,
	readingAt,
	stopsOf,
} from "./options.ts";
import { pictureOf } from "./picture.ts";

interface Axis {
	readonly min: number;
	readonly max: number;
	readonly axisLabel: {
		readonly customValues: readonly number[];
		readonly formatter: (value: number) => string;
	};
}
interface Option {
	readonly xAxis: readonly Axis[];
	readonly yAxis: readonly Axis[];
	readonly series: readonly {
		readonly type: string;
		readonly step?: string;
		readonly data: readonly unknown[];
	}[];
}

const key = (name: string, more: Partial<SeriesKey> = {}): SeriesKey => ({
	key: name,
	name,
	system: "nats",
	case: "1KiB",
	colour: 0,
	dash: 0,
	hidden: false,
	...more,
});
const texts = { title: "T", facts: "F", description: "D" };

const curves: PercentileFigure = {
	...texts,
	kind: "percentiles",
	id: "p",
	curves: [
		{
			...key("response"),
			metric: "response",
			points: [
				[0, 1e6],
				[50, 2e6],
				[90, 1e8],
				[99, 2e8],
			],
			max: { p: 99.99, value: 5e8 },
			marks: [
				{ p: 50, value: 2e6, text: "~2ms", interval: "[1ms, 3ms]" },
				{ p: 99, value: 2e8, text: "200ms", interval: "[150ms, 300ms]" },
			],
			censored: null,
		},
		{
			...key("service", { colour: 1, dash: 1, hidden: true }),
			metric: "service",
			points: [
				[0, 1e6],
				[99, 2e6],
			],
			max: null,
			marks: [{ p: 50, value: 1e6, text: "1ms", interval: "" }],
			censored: "3 never completed: > 30s",
		},
	],
	hidden: [{ upper: "response", lower: "service", text: "hidden" }],
	limits: [{ text: "p99 < 20ms", value: 2e7, p: 99, verdict: "fail" }],
};

const time: TimeFigure = {
	...texts,
	kind: "time",
	id: "t",
	from: -1,
	to: 4,
	panels: [
		{
			title: "response",
			unit: "ns",
			logarithmic: false,
			lines: [
				{
					...key("p99"),
					points: [
						[-0.5, 1e6],
						[0.5, null],
						[1.5, 3e6],
						[2.5, null],
						[3.5, 2e6],
					],
					steps: false,
				},
			],
			limits: [],
		},
		{
			title: "CPU",
			unit: "cores",
			logarithmic: false,
			lines: [
				{
					...key("generator"),
					points: [
						[-0.5, 0.1],
						[0.5, 0.25],
						[1.5, 0.3],
					],
					steps: true,
				},
			],
			limits: [],
		},
		{
			title: "memory",
			unit: "bytes",
			logarithmic: false,
			lines: [{ ...key("generator"), points: [[0.5, 1e6]], steps: true }],
			limits: [],
		},
	],
	marks: [
		{ from: -1, to: 0, text: "warm-up" },
		{ from: 2, to: 2.5, text: "pause for 500ms" },
	],
	unfinished: { stretches: [], beyond: "> 30s", unplaced: null },
};

const heat: HeatFigure = {
	...texts,
	kind: "heat",
	id: "h",
	system: "nats",
	case: "1KiB",
	bins: [1e5, 2e5, 4e5],
	end: 8e5,
	width: 1,
	from: 0,
	to: 3,
	cells: [
		[0, 0, 1000],
		[0, 2, 1],
		[2, 1, 30],
	],
	limits: [],
	unfinished: { stretches: [], beyond: "> 30s", unplaced: null },
};

const rate: RateFigure = {
	...texts,
	kind: "rate",
	id: "r",
	axis: { title: "size", unit: "bytes", names: null },
	unit: "ns",
	lines: [
		{
			...key("nats"),
			points: [
				{ x: 256, value: 1e6, low: 9e5, high: null, text: "1ms" },
				{ x: 1_048_576, value: null, low: null, high: null, text: "n/a" },
			],
		},
	],
	limits: [],
};

const trend: TrendFigure = {
	...texts,
	kind: "trend",
	id: "x",
	unit: "ns",
	lines: [
		{
			...key("nats"),
			points: [
				{
					at: Date.UTC(2026, 0, 1),
					value: 1e6,
					text: "1ms",
					verdict: "pass",
					href: null,
				},
				{
					at: Date.UTC(2026, 2, 1),
					value: 4e6,
					text: "4ms",
					verdict: "fail",
					href: "a/report.html",
				},
			],
		},
	],
};

const all: readonly Figure[] = [curves, time, heat, rate, trend];
const view = (figure: Figure, more: Partial<View> = {}): View => ({
	...firstView(figure, "light"),
	alone: false,
	off: new Set<string>(),
	...more,
});
const option = (figure: Figure, more: Partial<View> = {}) =>
	optionOf(figure, view(figure, more)) as unknown as Option;
const labels = ({ axisLabel }: Axis) =>
	axisLabel.customValues.map(axisLabel.formatter);

describe("the percentile axis", () => {
	test("gives every nine the same width, and is labelled in percent", () => {
		expect(depthOf(0)).toBe(0);
		expect(depthOf(90)).toBeCloseTo(1, 12);
		expect(depthOf(99.99)).toBeCloseTo(4, 9);
		const [x] = option(curves).xAxis as [Axis];
		expect(labels(x)).toEqual(["0%", "50%", "90%", "99%", "99.9%", "99.99%"]);
	});

	test("zooms into a part of it, with finer labels", () => {
		const [x] = option(curves, { zoom: [1, 2.5] }).xAxis as [Axis];
		expect([x.min, x.max]).toEqual([1, 2.5]);
		expect(labels(x)).toEqual(["90%", "95%", "97.5%", "99%", "99.5%"]);
	});

	test("holds each value until the next, and goes on to the maximum", () => {
		const [line, beyond] = option(curves).series;
		expect(line?.step).toBe("end");
		expect(line?.data).toEqual(
			[
				[0, 1e6],
				[50, 2e6],
				[90, 1e8],
				[99, 2e8],
			].map(([p, v]) => [depthOf(p as number), Math.log10(v as number)]),
		);
		expect(beyond?.data.at(-1)).toEqual([depthOf(99.99), Math.log10(5e8)]);
	});

	test("is logarithmic in its values when they span more than a factor of 20, or as it is wanted", () => {
		const log = option(curves).yAxis[0] as Axis;
		expect(log.max).toBeLessThan(10);
		expect(labels(log)).toContain("10ms");
		const linear = option(curves, { logarithmic: false }).yAxis[0] as Axis;
		expect(linear.min).toBe(0);
		expect(labels(linear)).toContain("200ms");
	});

	test("leaves out what is switched off", () => {
		const lines = (off: string[]) =>
			option(curves, { off: new Set(off) }).series.filter(
				(s) => s.type === "line",
			).length;
		expect(lines([])).toBe(4);
		expect(lines(["service"])).toBe(2);
		expect([...firstView(curves, "light").off]).toEqual(["service"]);
	});
});

test("every x axis shows the stretch that is zoomed into", () => {
	for (const [figure, zoom] of [
		[curves, [1, 2]],
		[time, [0.5, 2]],
		[heat, [1, 2]],
		[rate, [3, 5]],
		[trend, [Date.UTC(2026, 1, 1), Date.UTC(2026, 1, 9)]],
	] as const)
		for (const { min, max } of option(figure, { zoom }).xAxis)
			expect([min, max]).toEqual(zoom);
});

describe("a pointer", () => {
	test("stops at the percentiles with a name and at the maximum, and says what the tables say", () => {
		const at = (p: number) => readingAt(curves, view(curves), depthOf(p));
		expect(stopsOf(curves, view(curves))).toEqual([50, 99, 99.99].map(depthOf));
		expect(at(52)).toMatchObject({
			x: depthOf(50),
			title: "p50",
			rows: [
				{ name: "response", text: "~2ms [1ms, 3ms]" },
				{ name: "service", text: "1ms" },
			],
		});
		expect(at(99)?.rows[1]?.text).toBe("3 never completed: > 30s");
		expect(at(99.98)).toMatchObject({
			title: "maximum",
			rows: [{ text: "500ms" }, { text: "3 never completed: > 30s" }],
		});
	});

	test("over time reads every panel, and a gap is n/a", () => {
		const reading = readingAt(time, view(time), 0.6);
		expect(reading?.title).toBe("at 0.5s");
		expect(reading?.rows.map(({ name, text }) => [name, text])).toEqual([
			["p99", "n/a"],
			["CPU: generator", "0.25"],
			["memory: generator", "1MB"],
		]);
		expect(readingAt(time, view(time), -0.7)?.title).toBe("at -0.5s, warm-up");
	});

	const unfinished = {
		stretches: [
			{
				from: 2,
				to: 3,
				count: 12,
				due: 1000,
				beyond: ["max", "p99"],
				longest: 4e6,
			},
		],
		beyond: "> 30s",
		unplaced: null,
	};

	test("tells what never completed, and that the percentile lies among it", () => {
		const figure = { ...time, unfinished };
		const rows = (x: number) =>
			readingAt(figure, view(figure), x)?.rows.map(({ name, text }) => [
				name,
				text,
			]);
		expect(rows(2.5)?.slice(0, 2)).toEqual([
			["never completed", "12 of 1 000"],
			["p99", "> 30s"],
		]);
		expect(rows(1.5)?.[0]).toEqual(["p99", "3ms"]);
		const map = { ...heat, unfinished: { ...unfinished, stretches: [] } };
		const column = {
			from: 1,
			to: 2,
			count: 5,
			due: 5,
			beyond: [],
			longest: null,
		};
		const marked = {
			...heat,
			unfinished: { ...unfinished, stretches: [column] },
		};
		// A column of which nothing completed has no cell, and is a stop all the same.
		expect(stopsOf(map, view(map))).toEqual([0.5, 2.5]);
		expect(stopsOf(marked, view(marked))).toEqual([0.5, 1.5, 2.5]);
		expect(
			readingAt(marked, view(marked), 1.5)?.rows.map((r) => [r.name, r.text]),
		).toEqual([
			["messages", "0"],
			["never completed", "5 of 5"],
		]);
	});

	test("reads a line of two points at the nearest one; a schedule's rate all along it", () => {
		const figure = (more: { throughout?: boolean }): TimeFigure => ({
			...time,
			panels: [
				{
					...(time.panels[0] as TimeFigure["panels"][number]),
					lines: [
						{
							...key("sent"),
							points: [
								[0.5, 10],
								[3.5, 30],
							],
							steps: true,
							...more,
						},
					],
				},
			],
		});
		const at = (more: { throughout?: boolean }, x: number) =>
			readingAt(figure(more), view(figure(more)), x)?.rows[0]?.text;
		expect([at({}, 0.5), at({}, 3.5)]).toEqual(["10ns", "30ns"]);
		expect(at({ throughout: true }, 3.5)).toBe("10ns");
	});

	test("on a heat map tells how many there were, and the slowest", () => {
		expect(
			readingAt(heat, view(heat), 0.4)?.rows.map(({ name, text }) => [
				name,
				text,
			]),
		).toEqual([
			["messages", "1 001"],
			["slowest", "400us to 800us: 1"],
			["most", "100us to 200us: 1 000"],
		]);
	});

	test("over sizes and over days has its text and verdict", () => {
		expect(readingAt(rate, view(rate), 0)).toMatchObject({
			title: "256B",
			rows: [{ text: "1ms" }],
		});
		expect(readingAt(trend, view(trend), Date.UTC(2026, 3, 1))).toMatchObject({
			title: "2026-03-01 00:00 UTC",
			rows: [{ text: "4ms FAIL" }],
		});
	});

	test("finds nothing where all is switched off", () => {
		const off = new Set(["response", "service"]);
		expect(readingAt(curves, view(curves, { off }), 1)).toBeNull();
		expect(pictureOf(curves, { ...firstView(curves, "light"), off })).toMatch(
			/^<svg/,
		);
	});
});

describe("over time", () => {
	test("a gap stays one, and a point alone in gaps is a dot", () => {
		const line = option(time).series.find(
			(s) => s.type === "line" && s.step === undefined,
		);
		expect(line?.data).toEqual([
			{ value: [-0.5, 1e6], symbol: "circle", symbolSize: 4 },
			[0.5, null],
			{ value: [1.5, 3e6], symbol: "circle", symbolSize: 4 },
			[2.5, null],
			{ value: [3.5, 2e6], symbol: "circle", symbolSize: 4 },
		]);
	});

	test("all panels have the same seconds, and a key that they share is there once", () => {
		const { xAxis } = option(time);
		expect(xAxis.map(({ min, max }) => [min, max])).toEqual(
			Array(3).fill([-1, 4]),
		);
		expect(labels(xAxis[2] as Axis)).toEqual([
			"-1s",
			"0s",
			"1s",
			"2s",
			"3s",
			"4s",
		]);
		expect(keysOf(time).map((k) => k.key)).toEqual(["p99", "generator"]);
	});
});

test("a single message is seen on a heat map, and the most is at the end of the scale", () => {
	expect(heatLevel(1, 10_000, 9)).toBe(0);
	expect(heatLevel(100, 10_000, 9)).toBe(4);
	expect(heatLevel(10_000, 10_000, 9)).toBe(8);
	expect(heatLevel(1, 1, 9)).toBe(8);
});

describe.each(["light", "dark"] as const)(
	"pictures on their own, %s",
	(theme) => {
		test.each(all.map((f) => [f.kind, f] as const))(
			"%s is drawn with its title, facts and legend",
			(_, figure) => {
				const svg = pictureOf(figure, firstView(figure, theme));
				expect(svg).toContain('role="img" aria-labelledby="');
				expect(svg).toContain(`<title id="${figure.id}-t">T</title>`);
				expect(wellFormed(svg)).toBe(true);
				expect(svg).not.toMatch(/NaN|undefined|Infinity/);
			},
		);
	},
);

describe("hostile names", () => {
	const HOSTILE = `<script>alert(1)</script> "q" 'a' & {b|c} {value} \${x} | \u0007\u0000\uD800 \u{1F600}\n${"long ".repeat(60)}`;
	const hostile = (text: string) =>
		["title", "facts", "description", "name", "text"].includes(text);
	const made = (figure: Figure): Figure =>
		JSON.parse(
			JSON.stringify(figure, (name, value) =>
				typeof value === "string" && hostile(name)
					? `${HOSTILE}${value}`
					: value,
			),
		);
	const named = [
		"healthy",
		"stall",
		"lag",
		"lost",
		"repeats",
		"interrupted",
		"no-data",
	].flatMap((name) =>
		listOf(figuresOf(fixtureResult(name), Number.POSITIVE_INFINITY)).map(
			(figure) => [`${name}/${figure.id}`, figure] as const,
		),
	);

	test.each([...named, ...all.map((figure) => [figure.kind, figure] as const)])(
		"do no harm in %s",
		(_, plain) => {
			const figure = made(plain);
			const svg = pictureOf(figure, firstView(figure, "dark"));
			expect(wellFormed(svg)).toBe(true);
			expect(svg).not.toContain("<script");
			expect(overflow(svg)).toEqual([]);
		},
	);
});

test("every picture of a published run keeps its text within the canvas", () => {
	for (const figure of listOf(
		figuresOf(storedResult(publishedFolder("nats-stall"))),
	))
		for (const width of [360, 720, 1200]) {
			const svg = pictureOf(figure, firstView(figure, "light", width));
			expect(overflow(svg)).toEqual([]);
		}
});

test("the height is the same for what is drawn and what is asked for", () => {
	for (const figure of all) {
		const { height, ...rest } = firstView(figure, "light");
		expect(heightOf(figure, rest)).toBe(height);
		expect(pictureOf(figure, { ...rest, height })).toContain(
			`height="${height}"`,
		);
	}
});

// --- internal ---

/** Elements are closed in their order, attributes quoted, and no character is one that XML forbids. */
function wellFormed(svg: string): boolean {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids just these
	if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u.test(svg))
		return false;
	const open: string[] = [];
	let rest = svg.trim();
	while (rest !== "") {
		const text = /^[^<]+/.exec(rest)?.[0] ?? "";
		if (/&(?!(?:#\d+|#x[0-9a-f]+|amp|lt|gt|quot|apos);)/i.test(text))
			return false;
		rest = rest.slice(text.length);
		if (rest === "") break;
		const tag =
			/^<(\/?)([a-zA-Z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/.exec(rest);
		if (tag === null) return false;
		const [whole, close, name = "", , self] = tag;
		if (close) {
			if (open.pop() !== name) return false;
		} else if (!self) open.push(name);
		rest = rest.slice(whole.length);
	}
	return open.length === 0;
}

/** Texts that begin or end outside the canvas, by a careful guess at the width of letters. */
function overflow(svg: string): string[] {
	const width = Number(/<svg width="(\d+)"/.exec(svg)?.[1]);
	const texts = svg.matchAll(/<text([^>]*)>([^<]*)<\/text>/g);
	return [...texts].flatMap(([, attributes = "", text = ""]) => {
		const matrix =
			/matrix\([^)]*?([-\d.]+),([-\d.]+)\)|translate\(([-\d.]+)[ ,]/.exec(
				attributes,
			);
		const x =
			Number(matrix?.[1] ?? matrix?.[3] ?? 0) +
			Number(/ x="([-\d.]+)"/.exec(attributes)?.[1] ?? 0);
		const size = Number(/font-size:(\d+)px/.exec(attributes)?.[1] ?? 12);
		const letters = [...text.replaceAll(/&[^;]+;/g, "x")].length;
		// Letters of usual fonts are half as wide as high.
		const ems = letters * size * 0.5;
		const anchor = /text-anchor="(\w+)"/.exec(attributes)?.[1] ?? "start";
		const from =
			anchor === "end" ? x - ems : anchor === "middle" ? x - ems / 2 : x;
		return from < -1 || from + ems > width + 1
			? [`${text.slice(0, 40)} at ${from} to ${from + ems}`]
			: [];
	});
}

describe("messages that never completed", () => {
	const result = fixtureResult("lost");
	const figures = listOf(figuresOf(result)).filter(
		({ kind }) => kind === "time" || kind === "heat",
	);

	test.each(
		figures.flatMap((figure) =>
			(["light", "dark"] as const).map(
				(theme) => [figure.kind, theme, figure] as const,
			),
		),
	)("in %s, %s, are hatched and told in words", (_, theme, figure) => {
		const svg = pictureOf(figure, firstView(figure, theme));
		expect(svg).toContain("12 of 1 000 never completed");
		expect(hatches(svg)).toBe(1);
	});

	test("hundreds of stretches: each is hatched, the largest has its text, and no two texts overlap", () => {
		const [time] = figures;
		if (time?.kind !== "time") throw new Error("no figure");
		const stretches = Array.from({ length: 150 }, (_, i) => ({
			from: i / 30,
			to: i / 30 + 1 / 60,
			count: i === 77 ? 9 : 1,
			due: 10,
			beyond: ["max"],
			longest: null,
		}));
		const figure = { ...time, unfinished: { ...time.unfinished, stretches } };
		const svg = pictureOf(figure, firstView(figure, "light"));
		expect(hatches(svg)).toBe(150);
		expect(svg).toContain("9 of 10 never completed");
		const texts = svg.match(/1 of 10 never completed/g) ?? [];
		expect(texts.length).toBeGreaterThan(0);
		expect(texts.length).toBeLessThan(5);
	});

	test("seconds that follow each other are one stretch; warm-up and window are two", () => {
		const [time] = figures;
		if (time?.kind !== "time") throw new Error("no figure");
		const stretches = [-1, 0, 1, 2].map((from) => ({
			from,
			to: from + 1,
			count: 10,
			due: 1000,
			beyond: ["max"],
			longest: null,
		}));
		const figure = { ...time, unfinished: { ...time.unfinished, stretches } };
		const svg = pictureOf(figure, firstView(figure, "light"));
		expect(hatches(svg)).toBe(2);
		expect(svg).toContain("30 of 3 000 never completed");
	});

	test("of which nobody knows the second stand above the picture", () => {
		for (const figure of figures) {
			if (figure.kind !== "time" && figure.kind !== "heat") continue;
			const unknown: Figure = {
				...figure,
				unfinished: {
					stretches: [],
					beyond: "> 30s",
					unplaced: "12 never completed, not known in which second",
				},
			};
			const svg = pictureOf(unknown, firstView(unknown, "light"));
			expect(svg).toContain("12 never completed");
			expect(hatches(svg)).toBe(0);
		}
	});

	test("are nowhere in a run that has none", () => {
		for (const figure of listOf(figuresOf(fixtureResult("healthy")))) {
			const svg = pictureOf(figure, firstView(figure, "light"));
			expect(svg).not.toContain("never completed");
			expect(hatches(svg)).toBe(0);
		}
	});
});

/** Paths of slanted lines, as nothing else in a picture is drawn. */
function hatches(svg: string): number {
	return [
		...svg.matchAll(
			/<path [^>]*stroke-opacity="0\.55"|<path [^>]*opacity="0\.55"/g,
		),
	].length;
}
