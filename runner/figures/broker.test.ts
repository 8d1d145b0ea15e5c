import { expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { HOSTILE } from "../render/hostile.fake.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { brokerFigure } from "./broker.ts";
import { subjectOf } from "./facts.ts";

type Node = NonNullable<Run["series"]["brokerMetrics"]>[number];

const result = fixtureResult("healthy");
const [run] = result.runs as [Run];
const startS = run.window.startNs / 1e9;
const endS = run.window.endNs / 1e9;
const at = Array.from({ length: endS + 3 }, (_, i) => i + 0.004);

function one(name: string, { counter = true, shown = true, scale = 1 } = {}): Node["series"][0] {
	return { name, counter, shown, values: at.map((_, i) => i * scale) };
}

function figure(series: Node["series"], nodes = 1, times = at) {
	const node = (_: unknown, i: number) => ({ node: i + 1, at: times, series });
	const brokerMetrics = Array.from({ length: nodes }, node);
	const made = { ...run, series: { ...run.series, brokerMetrics } };
	return brokerFigure(subjectOf(made, result), 1000);
}

test("a panel for each metric that is shown, on the axis of the other charts", () => {
	const found = figure([
		one("in_msgs"),
		one("mem", { counter: false }),
		one("load", { counter: false, scale: 0.5 }),
		one("other", { shown: false }),
	]);
	expect(found?.panels.map(({ title, unit }) => [title, unit])).toEqual([
		["in_msgs per second", "messages/s"],
		["mem", "bytes"],
		["load", "cores"],
	]);
	expect(found?.x).toMatchObject({ scale: "seconds", from: -startS, to: endS - startS });
	// What was read at 1.004 s is about the first second.
	const data = found?.panels[0]?.series[0]?.data ?? [];
	expect(data).toHaveLength(endS);
	expect(data[0]).toEqual({ x: 0.5 - startS, y: 1 });
	expect(data.at(-1)).toEqual({ x: endS - startS - 0.5, y: endS });
});

test("a line for each label and node, the largest ones", () => {
	const queues = Array.from({ length: 10 }, (_, i) => one(`q{n="${i}"}`, { scale: i }));
	const found = figure(queues);
	expect(found?.panels.map(({ title }) => title)).toEqual([
		"q per second; without 4 smaller lines",
	]);
	expect(found?.panels[0]?.series.map(({ name }) => name)).toEqual(
		[9, 8, 7, 6, 5, 4].map((i) => `n="${i}"`),
	);
	const [a, b] = figure([one("m")], 2)?.panels[0]?.series ?? [];
	expect([a?.name, b?.name]).toEqual(["node 1", "node 2"]);
});

test("what was read every few seconds is a line, not dots", () => {
	const rare = at.filter((_, i) => i % 3 === 0);
	const series = [{ ...one("m"), values: rare.map((_, i) => i + 1) }];
	const found = figure(series, 1, rare);
	expect(found?.panels[0]?.series[0]?.data.filter(({ y }) => y === null)).toEqual([]);
});

test("what was 0 all the time is told, not drawn", () => {
	const found = figure([one("mem", { counter: false }), one("slow", { scale: 0 }), one("in")]);
	expect(found?.panels.map(({ title }) => title)).toEqual(["in per second", "mem"]);
	expect(found?.facts).toMatch(/; always 0: slow$/);
});

test("nothing where nothing is shown", () => {
	expect(figure([one("m", { shown: false })])).toBeNull();
	expect(figure([])).toBeNull();
	expect(brokerFigure(subjectOf(run, result), 1000)).toBeNull();
});

test.each(HOSTILE)("a hostile name is a name: %j", (name) => {
	expect(figure([one(name)])?.panels).toHaveLength(1);
	expect(figure([one(`m{l="${name}"}`)])?.panels[0]?.series).toHaveLength(1);
});
