import { describe, expect, test } from "vitest";
import type { TimeFigure } from "../report/charts/figure.ts";
import { liveFigure } from "./live-figure.ts";
import type { CurrentRun, Second } from "./state.ts";

const frame: CurrentRun["frame"] = {
	title: "[1/2] core",
	metric: "response",
	closed: false,
	startS: 2,
	from: -2,
	to: 10,
	marks: [{ from: -2, to: 0, text: "warm-up" }],
	limits: [{ text: "p99 < 20ms", value: 20e6 }],
};

const second = (at: number, parts: Partial<Second> = {}): Second => ({
	at,
	p50: 1e6,
	p99: 2e6,
	whose: "",
	inFlight: 1,
	held: 0,
	rates: [
		["offered", 1000],
		["sent", 999],
		["received", 998],
	],
	cores: [["generator", 0.5]],
	...parts,
});

function drawn(seconds: Second[], of: Partial<CurrentRun["frame"]> = {}) {
	const figure = liveFigure(
		{ index: 1, title: "[1/2] core", done: 0.1, rows: [], frame: { ...frame, ...of }, seconds },
		{ place: 3 },
	);
	if (figure === null) throw new Error("nothing is drawn");
	return figure;
}

const line = ({ panels }: TimeFigure, name: string) =>
	panels.flatMap(({ lines }) => lines).find((one) => one.name === name);
const points = (figure: TimeFigure, name: string) => line(figure, name)?.points;

describe("the picture of a run that is under way", () => {
	test("is none before the first second", () => {
		const run = { index: 1, title: "", done: null, rows: [], frame, seconds: [] };
		expect(liveFigure(run, { place: 0 })).toBeNull();
	});

	test("has every second as it was told, in the middle of it, from the window's start", () => {
		const figure = drawn([
			second(1, { p99: 5e6, rates: [["sent", 10]] }),
			second(2, { p99: null, p50: null, inFlight: 7 }),
			second(3),
		]);
		expect(points(figure, "p99")).toEqual([
			[-1.5, 5e6],
			[-0.5, null],
			[0.5, 2e6],
		]);
		expect(points(figure, "sent")).toEqual([
			[-1.5, 10],
			[-0.5, 999],
			[0.5, 999],
		]);
		expect(points(figure, "offered")?.map(([x]) => x)).toEqual([-0.5, 0.5]);
		expect(points(figure, "in flight")?.map(([, n]) => n)).toEqual([1, 7, 1]);
		expect(points(figure, "generator")?.map(([, n]) => n)).toEqual([0.5, 0.5, 0.5]);
		expect(figure).toMatchObject({ from: -2, to: 10, marks: frame.marks });
		expect(figure.panels[0]?.limits).toEqual(frame.limits);
	});

	test("has the colours of the report: of its system the main lines, and grey what stands beside them", () => {
		const cores: Second["cores"] = [
			["generator", 1],
			["broker", 1],
			["machine", 2],
		];
		const figure = drawn([second(3, { cores, held: 4 })]);
		const colours = figure.panels.flatMap(({ lines }) =>
			lines.map(({ name, colour }) => [name, colour]),
		);
		expect(Object.fromEntries(colours)).toEqual({
			p99: 3,
			p50: -1,
			offered: -1,
			sent: 3,
			received: -1,
			"in flight": 3,
			"held by the library": -1,
			generator: -1,
			broker: 3,
			machine: -1,
		});
	});

	test("has no line for what nobody knows, or for what never waits", () => {
		const none = drawn([second(1, { held: null, cores: [], p50: null, p99: null })]);
		expect(none.panels.map(({ title }) => title)).toEqual([
			"messages per second",
			"messages in flight",
		]);
		expect(line(drawn([second(1, { held: 0 })]), "held by the library")).toBe(undefined);
		expect(points(drawn([second(1, { held: 5 })]), "held by the library")).toEqual([[-1.5, 5]]);
	});

	test("names the percentiles of several clients as those of the worst", () => {
		const figure = drawn([second(1, { whose: " (worst of 3 clients)" })]);
		expect(line(figure, "p99 (worst of 3 clients)")).toBeDefined();
	});

	test.each([
		[20, false],
		[21, true],
	])("over a factor of %d is logarithmic: %s", (factor, logarithmic) => {
		const figure = drawn([second(1, { p50: 1e6, p99: factor * 1e6 })]);
		expect(figure.panels[0]?.logarithmic).toBe(logarithmic);
	});
});

describe("its axis", () => {
	const at = (n: number, of = {}) => drawn([second(n)], of).to;

	test("is the whole window of a short run, and goes on into the drain", () => {
		expect(at(1)).toBe(10);
		expect(at(12)).toBe(10);
		expect(at(15)).toBe(13);
	});

	test("grows with a long run, up to its window", () => {
		const long = { to: 3600 };
		expect(at(3, long)).toBe(58);
		expect(at(102, long)).toBe(150);
		expect(at(3002, long)).toBe(3600);
	});

	test("of a closed load ends where it is by now", () => {
		const closed = { closed: true, startS: 0, from: 0, to: 0 };
		expect(at(7, closed)).toBe(7);
	});
});

test("of a run of hours a point is the worst, of rates the mean, of several seconds, and the picture says so", () => {
	const seconds = Array.from({ length: 3000 }, (_, i) =>
		second(i + 1, { p99: i === 1234 ? 9e9 : 1e6, rates: [["sent", i % 5]] }),
	);
	const figure = drawn(seconds, { startS: 0, from: 0, to: 3600 });
	const p99 = points(figure, "p99");
	expect(p99).toHaveLength(600);
	expect(p99?.filter(([, value]) => value === 9e9)).toEqual([[1232.5, 9e9]]);
	// 0, 1, 2, 3, 4 in each.
	const sent = points(figure, "sent");
	expect(sent).toHaveLength(600);
	expect(new Set(sent?.map(([, value]) => value))).toEqual(new Set([2]));
	expect(figure.panels.map(({ title }) => title)).toEqual([
		"response by second, worst of 5 s",
		"messages per second, mean of 5 s",
		"messages in flight, worst of 5 s",
		"cores in use, mean of 5 s",
	]);
});
