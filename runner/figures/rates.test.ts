import { describe, expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { manyResult, searchedResult } from "../page/pages.fake.ts";
import { phase } from "../render/hostile.fake.ts";
import { percentileAmount } from "../result/select.ts";
import { show, showInterval } from "../result/show.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import { subjectOf } from "./facts.ts";
import { caseFigures, searchFigure, stepsFigure } from "./rates.ts";

const percentile = (run: Run, p: number) =>
	run.metrics.response?.percentiles.find((x) => x.p === p);

describe("p99 by case", () => {
	test.each([
		["message-queue-latency", "names", null],
		["commit-log-latency", "log", "bytes"],
	])(
		"of %s has the values and intervals of result.json; over a size, where only that varies",
		(name, scale, unit) => {
			const result = publishedOnce(name);
			const figure = caseFigures(result).find(({ id }) => id === "cases-response");
			expect(figure?.x).toMatchObject({ scale, unit });
			const series = figure?.panels[0]?.series ?? [];
			expect(series.length).toBeGreaterThan(2);
			for (const { group, data } of series)
				expect(data.map(({ y, low, high }) => [y, low, high])).toEqual(
					result.runs
						.filter((run) => run.system === group)
						.map((run) => {
							const p = percentile(run, 99);
							return [p?.value, p?.low, p?.high];
						}),
				);
		},
	);

	test("where the rate varies with a size there are small multiples, over the rate; of one case more they are names", () => {
		const result = manyResult(12);
		const cases = [
			[256, 100],
			[256, 200],
			[1024, 100],
			[1024, 200],
		] as const;
		const runs = cases.flatMap(([messageBytes, messages]) =>
			result.runs.slice(0, 2).map((run, i): Run => {
				const load = { ...run.load, messageBytes, rate: { messages, perNs: 1e9 } };
				return { ...run, system: `s${i}`, case: `${messageBytes} ${messages}`, load };
			}),
		);
		const of = (some: readonly Run[]) => caseFigures({ ...result, runs: [...some] })[0];
		const figure = of(runs);
		expect(figure?.x).toMatchObject({ scale: "linear", unit: "messages/s" });
		expect(figure?.panels.map(({ title }) => title)).toEqual([
			"size of a message 256B",
			"size of a message 1KiB",
		]);
		for (const { series } of figure?.panels ?? [])
			for (const { data } of series) expect(data.map(({ x }) => x)).toEqual([100, 200]);
		// A line of one point shows nothing.
		expect(of(runs.slice(0, -2))?.x.names).toHaveLength(3);
		const more = runs.slice(0, 2).map((run): Run => ({ ...run, case: "with keys" }));
		expect(of([...runs, ...more])?.x.names).toHaveLength(5);
	});

	test("of two patterns are no points of one line", () => {
		const result = publishedOnce("message-queue-latency");
		const [first, , third] = [...new Set(result.runs.map((run) => run.case))];
		for (const run of result.runs)
			if (run.case === first || run.case === third) run.load = { ...run.load, pattern: "fan-out" };
		const figures = caseFigures(result).filter(({ id }) => id.startsWith("cases-"));
		const points = figures.map(({ id, panels }) => [
			id,
			panels[0]?.series.map((s) => s.data.length),
		]);
		expect(points).toEqual([
			["cases-response-fan-out", [2, 2, 2, 2]],
			["cases-response-round-trip", [3, 3, 3, 3]],
		]);
		expect(figures[0]?.title).toMatch(/, fan-out$/);
	});

	test("goes through the repeats that decide, with every repeat thin beside them: nothing is averaged", () => {
		const once = manyResult(8);
		const slower = (p: Run["metrics"]["response"], by: number) =>
			p && { ...p, percentiles: p.percentiles.map((x) => ({ ...x, value: (x.value ?? 0) * by })) };
		const runs = [2, 3, 1].flatMap((by, i) =>
			once.runs.map((run): Run => {
				const response = slower(run.metrics.response, by);
				return { ...run, repeat: i + 1, metrics: { ...run.metrics, response } };
			}),
		);
		const series = caseFigures({ ...once, runs })[0]?.panels[0]?.series ?? [];
		const of = (name: string) => series.find((s) => s.name === name)?.data.map(({ y }) => y);
		expect(of("nats")).toEqual(of("nats, repeat 1"));
		expect(of("nats")).not.toEqual(of("nats, repeat 2"));
		expect(series.filter(({ thin }) => !thin).map(({ name }) => name)).toEqual([
			...new Set(once.runs.map(({ system }) => system)),
		]);
	});
});

test("of closed loops there is what was carried each second", () => {
	const result = publishedOnce("message-queue-latency");
	const runs = result.runs.map((run, i): Run => {
		const schedule = { ...run.load.schedule, kind: "closed" } as const;
		const throughput = { ...run.throughput, sent: 1000 + i, received: null };
		return { ...run, load: { ...run.load, rate: null, schedule }, throughput };
	});
	const [figure, ...others] = caseFigures({ ...result, runs }).filter(
		({ id }) => id !== "cases-response",
	);
	expect([figure?.id, others]).toEqual(["cases-sent", []]);
	for (const { group, data } of figure?.panels[0]?.series ?? []) {
		const own = runs.filter((run) => run.system === group);
		expect(data.map(({ y }) => y)).toEqual(own.map(({ throughput }) => throughput.sent));
	}
});

test("a search has the runs below its answer, by rate", () => {
	const result = searchedResult();
	const [search] = result.searches;
	if (search === undefined) throw new Error("no search");
	const [max, p99] = searchFigure("s", search, result)?.panels[0]?.series ?? [];
	const carried = search.runs.filter(({ role }) => role !== "probe");
	expect(p99?.data.map(({ x, y }) => [x, y])).toEqual(carried.map((r) => [r.rate, r.p99]));
	expect(max?.data.map(({ y }) => y)).toEqual(carried.map((r) => r.max));
});

test("steps have p50, p99 and the maximum of each phase, and none where messages never completed", () => {
	const result = fixtureResult("lost");
	const [run] = result.runs as [Run];
	const m = run.metrics.response;
	if (m === null) throw new Error("no response");
	const phases = [
		phase({ rate: 200, latency: m }),
		phase({ rate: 100, latency: { ...m, censored: 0 } }),
	];
	const of = (changes: Partial<Run>) => stepsFigure(subjectOf({ ...run, ...changes }, result));
	const [max, p99] = of({ phases })?.panels[0]?.series ?? [];
	expect(max?.data).toEqual([
		{ x: 100, y: m.max, text: expect.any(String) },
		{ x: 200, y: null, text: "> 30s" },
	]);
	const p = percentile(run, 99);
	if (p === undefined) throw new Error("no p99");
	const text = `${show(percentileAmount(p, run))} ${showInterval(p)}`.trim();
	expect(p99?.data.map((d) => [d.x, d.y, d.text])).toEqual([
		[100, p.value, text],
		[200, p.value, text],
	]);
	expect(of({ phases: phases.slice(0, 1) })).toBeNull();
	expect(of({ phases, load: { ...run.load, pattern: "backlog" } })).toBeNull();
});
