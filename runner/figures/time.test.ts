import { describe, expect, test } from "vitest";
import type { Figure } from "../chart/figure.ts";
import type { Result, Run } from "../model/result.ts";
import { phase } from "../render/hostile.fake.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { formatDuration } from "../units.ts";
import { subjectOf } from "./facts.ts";
import { timeFigure } from "./time.ts";

function runOf(name: string, changes: (run: Run) => Partial<Run> = () => ({})) {
	const result = fixtureResult(name);
	const [run] = result.runs as [Run];
	return { result, run: { ...run, ...changes(run) } };
}

const withSeries = (
	name: string,
	changes: (series: Run["series"]) => Partial<Run["series"]>,
	more: Partial<Run> = {},
) => runOf(name, ({ series }) => ({ ...more, series: { ...series, ...changes(series) } }));

const timeOf = ({ result, run }: { result: Result; run: Run }, most = 300) =>
	timeFigure(subjectOf(run, result), most);

function panel(figure: Pick<Figure, "panels"> | null, title: string) {
	const found = figure?.panels.find((p) => p.title.startsWith(title));
	if (found === undefined) throw new Error(`no panel ${title}`);
	return found;
}

function line(figure: Pick<Figure, "panels"> | null, title: string, name: string) {
	const found = panel(figure, title).series.find((series) => series.name === name);
	if (found === undefined) throw new Error(`no line ${name} in ${title}`);
	return found.data;
}

const pairs = (...of: Parameters<typeof line>) => line(...of).map(({ x, y }) => [x, y]);

const [RATES, IN_FLIGHT] = ["messages per second", "messages in flight"];

/** A run of 20 minutes, of the first second and tick of a fixture. */
function longRun(
	name: string,
	second: (i: number) => Partial<Run["series"]["seconds"][number]>,
	tick: (i: number) => Partial<Run["series"]["ticks"][number]> = () => ({}),
) {
	const repeated = <T>(values: readonly T[], changes: (i: number) => Partial<T>) =>
		Array.from({ length: 1200 }, (_, i) => ({ ...(values[0] as T), ...changes(i) }));
	return withSeries(
		name,
		({ seconds, ticks }) => ({
			seconds: repeated(seconds, (i) => ({ second: i, ...second(i) })),
			ticks: repeated(ticks, (i) => ({ at: i + 1, ...tick(i) })),
		}),
		{ window: { startNs: 0, endNs: 1200e9 } },
	);
}

describe("over time", () => {
	const stall = runOf("stall");
	const { series, window } = stall.run;

	test("a second stands at its middle with the values of result.json, the most messages in flight of it", () => {
		const time = timeOf(stall);
		for (const key of ["p50", "p99", "max"] as const)
			expect(pairs(time, "response", key)).toEqual(
				series.seconds.map((s) => [s.second + 0.5, s[key]]),
			);
		const ticks = series.ticks.filter(({ at }) => at <= window.endNs / 1e9);
		expect(pairs(time, RATES, "sent")).toEqual(
			ticks.map(({ at, sent }) => [at - 0.5 - window.startNs / 1e9, sent]),
		);
		expect(pairs(time, IN_FLIGHT, "in flight")).toEqual(
			ticks.map(({ at, backlog }) => [at - 0.5 - window.startNs / 1e9, Math.max(...backlog)]),
		);
	});

	test("what the client library held is a line beside them, where it held anything", () => {
		const holding = (held: number[] | null) =>
			timeOf(withSeries("stall", ({ ticks }) => ({ ticks: ticks.map((t) => ({ ...t, held })) })));
		const points = line(holding([0, 7]), IN_FLIGHT, "held by the library");
		expect(new Set(points.map(({ y }) => y))).toEqual(new Set([7]));
		for (const held of [[0, 0], null])
			expect(panel(holding(held), IN_FLIGHT).series.map(({ name }) => name)).toEqual(["in flight"]);
	});

	test("what was not measured is a gap, also where a second is missing altogether", () => {
		const holed = withSeries("stall", ({ seconds }) => ({
			seconds: seconds
				.map((s) => (s.second === 1 ? { ...s, p99: null } : s))
				.filter((s) => s.second !== 3),
		}));
		const p99 = new Map(line(timeOf(holed), "response", "p99").map(({ x, y }) => [x, y]));
		expect([p99.get(1.5), p99.get(3.5)]).toEqual([null, null]);
		expect(p99.get(2.5)).toBeGreaterThan(0);
	});

	test("a long run has at most 300 points a line: the worst of each stretch, means of counts", () => {
		const long = longRun(
			"stall",
			(i) => (i === 701 ? { p99: 9e9, max: 9e9 } : { p99: 1e6, max: 1e6 }),
			(i) => ({ sent: i % 4 === 0 ? 400 : 0 }),
		);
		const p99 = pairs(timeOf(long), "response", "p99");
		expect(p99).toHaveLength(300);
		expect(p99.filter(([, y]) => y === 9e9)).toEqual([[702, 9e9]]);
		expect(new Set(line(timeOf(long), RATES, "sent").map(({ y }) => y))).toEqual(new Set([100]));
	});

	test("lag and queued have their line where they were measured", () => {
		const beside = withSeries("stall", ({ seconds }) => ({
			seconds: seconds.map((s, i) => ({ ...s, lag: { p99: 1000 + i, max: 2000 }, queued: null })),
		}));
		const { series: lines } = panel(timeOf(beside), "the generator's lag");
		expect(lines.map(({ name }) => name)).toEqual(["lag p99"]);
		expect(lines[0]?.data.map(({ y }) => y)).toEqual(series.seconds.map((_, i) => 1000 + i));
	});

	test("stretches of several seconds are the same in all panels, counted from the window's start, and hold what was due in them", () => {
		// A warm-up of 1 s and a window of 5 s; twice as many are due in each second as in the one before.
		const rate = (messages: number) => ({ messages, perNs: 1e9 });
		const due = [100, 200, 400, 800, 1600, 3200];
		const stages = runOf("healthy", ({ load }) => ({
			load: {
				...load,
				schedule: {
					...load.schedule,
					kind: "stages",
					rate: rate(3200),
					pieces: due.map((n) => ({ durationNs: 1e9, from: rate(n), to: rate(n) })),
				},
			},
		}));
		expect(stages.run.window).toMatchObject({ startNs: 1e9, endNs: 6e9 });
		const time = timeOf(stages, 3);
		expect(time?.x.step).toBe(2);
		// -1 s to 0 s is the half of a stretch that was; 4 s to 5 s of one that will be.
		expect(pairs(time, RATES, "scheduled")).toEqual([
			[-1, 100],
			[1, (200 + 400) / 2],
			[3, (800 + 1600) / 2],
			[5, 3200],
		]);
		for (const [title, name] of [
			[RATES, "sent"],
			["response", "p99"],
			["CPU", "generator"],
		] as const)
			for (const { x } of line(time, title, name)) expect([-1, 1, 3, 5]).toContain(x);
	});
});

describe("spans", () => {
	const spansOf = (...of: Parameters<typeof runOf>) =>
		timeOf(runOf(...of))
			?.spans.filter(({ kind }) => kind !== "missing")
			.map(({ from, to, text }) => [from, to, text]);

	test("are faults as they were done, not as they were planned", () => {
		expect(spansOf("failover")?.slice(1)).toEqual([
			[4.004, 7.412, "kill of node 2 (the leader) for 3.41s"],
			[9.002, 9.302, "pause for 300ms"],
		]);
		const other = spansOf("failover", ({ failover: [first, second] }) => {
			if (!first || !second) throw new Error("no faults");
			return {
				failover: [
					// From the command to the broker on: none of its effects is before its mark.
					{ ...first, calledNs: first.beganNs - 0.2e9, endedNs: null },
					{ ...second, error: "it could not be done" },
				],
			};
		});
		expect(other?.slice(1)).toEqual([[3.804, 12, "kill of node 2 (the leader), never taken back"]]);
	});

	test("are warm-up and phases", () => {
		const marked = spansOf("stall", () => ({
			window: { startNs: 2e9, endNs: 12e9 },
			phases: [
				phase({ name: "step 1: 100/s", toNs: 5e9 }),
				phase({ name: "step 2: 200/s", fromNs: 5e9, toNs: 10e9 }),
			],
		}));
		expect(marked).toEqual([
			[-2, 0, "warm-up"],
			[0, 5, "step 1: 100/s"],
			[5, 10, "step 2: 200/s"],
		]);
	});
});

describe("messages that never completed", () => {
	const lost = runOf("lost");
	const at2 = lost.run.series.seconds.find((s) => s.second === 2);

	test("are counted in the second that they were due in; its maximum and p99 are gaps with words, its p50 is none", () => {
		const time = timeOf(lost);
		const at = (key: string) => line(time, "response", key).find(({ x }) => x === 2.5);
		const completed = `> 30s (${formatDuration(at2?.max ?? 0)} of those that completed)`;
		expect(at("max")).toEqual({ x: 2.5, y: null, text: completed });
		expect(at("p99")).toEqual({ x: 2.5, y: null, text: "> 30s" });
		expect(at("p50")).toEqual({ x: 2.5, y: at2?.p50 });
		expect(line(time, "response", "never completed")).toEqual([
			{ x: 2.5, y: null, text: "12 of 1 000" },
		]);
		expect(time?.spans).toContainEqual({
			from: 2,
			to: 3,
			text: "12 of 1 000 never completed",
			kind: "missing",
		});
	});

	test("keep their mark in a long run, and the stretch is a gap though its other seconds were fast", () => {
		const time = timeOf(
			longRun("lost", (i) =>
				i === 701
					? { count: 0, missing: 1000, p50: null, p99: null, max: null }
					: { count: 999, missing: i === 30 ? 1 : 0, max: 5e6 },
			),
		);
		expect(line(time, "response", "never completed").map(({ x, text }) => [x, text])).toEqual([
			[30, "1 of 3 997"],
			[702, "1 000 of 3 997"],
		]);
		for (const [key, gaps] of [
			["max", [30, 702]],
			["p99", [702]],
			["p50", [702]],
		] as const)
			expect(line(time, "response", key).flatMap(({ x, y }) => (y === null ? [x] : []))).toEqual(
				gaps,
			);
	});

	test("in stretches that follow each other are one span, but none is of both warm-up and window", () => {
		const change = ({ seconds: [one] }: Run["series"]) => ({
			seconds: [-1, 0, 1, 3].map((second) => ({
				...(one as Run["series"]["seconds"][number]),
				second,
				count: 9,
				missing: 1,
			})),
		});
		const window = { startNs: 1e9, endNs: lost.run.window.endNs };
		const spans = timeOf(withSeries("lost", change, { window }))?.spans ?? [];
		expect(
			spans.flatMap(({ from, to, text, kind }) => (kind === "missing" ? [[from, to, text]] : [])),
		).toEqual([
			[-1, 0, "1 of 10 never completed"],
			[0, 2, "2 of 20 never completed"],
			[3, 4, "1 of 10 never completed"],
		]);
	});
});
