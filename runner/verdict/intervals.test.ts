import { describe, expect, test } from "vitest";
import { planOf } from "../evidence/built.fake.ts";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import type { Second } from "../model/client-file.ts";
import { intendedInWindow } from "../plan/samples.ts";
import { intendedPerInterval, limitIntervals, offeredIntervals } from "./intervals.ts";
import { clustering } from "./statistics.ts";

const { plan } = collect(firstRun(fixture("healthy")));
const withSchedule = (messages: number, perNs: number, warmupNs: number, durationNs: number) => ({
	...plan,
	schedule: { ...plan.schedule, rate: { messages, perNs }, warmupNs, durationNs },
});

describe("messages intended per 100 ms", () => {
	test.each([
		[3000, 1e9, 5e9, 10e9],
		[7, 3e9, 1e9, 10e9],
		[90, 60e9, 0, 5e9],
		[123_457, 1e9, 333_333_333, 1_050_000_000],
		[1, 7, 123, 1_000_000],
	])(
		"of %d per %d ns, after %d ns for %d ns, are counted one by one",
		(messages, perNs, warmupNs, durationNs) => {
			const counts = new Array<number>(Math.ceil(durationNs / 1e8)).fill(0);
			for (let i = 0n; ; i++) {
				const offset = Number((i * BigInt(perNs)) / BigInt(messages)) - warmupNs;
				if (offset >= durationNs) break;
				if (offset >= 0)
					counts[Math.floor(offset / 1e8)] = (counts[Math.floor(offset / 1e8)] ?? 0) + 1;
			}
			expect(intendedPerInterval(withSchedule(messages, perNs, warmupNs, durationNs))).toEqual(
				counts,
			);
		},
	);
});

describe("the counts over a limit", () => {
	test("of the stall are 490 in five intervals of 100 ms", () => {
		const run = collect(firstRun(fixture("stall")));
		const intervals = limitIntervals(run, 0);
		expect(intervals).toHaveLength(100);
		expect(intervals.map((i) => i.over).filter((n) => n > 0)).toEqual([100, 100, 100, 100, 90]);
		expect(intervals.findIndex((i) => i.over > 0)).toBe(40);
		expect(intervals.reduce((n, i) => n + i.n, 0)).toBe(intendedInWindow(run.plan));
	});

	test("have lost messages where they were intended", () => {
		const intervals = limitIntervals(collect(firstRun(fixture("lost"))), 0);
		expect(intervals[20]).toEqual({ n: 100, over: 12, overWithoutLag: 12, censored: 12 });
		expect(intervals.filter((i) => i.censored > 0)).toHaveLength(1);
	});

	test("have every message of a second without a line as censored", () => {
		const run = collect(firstRun(fixture("healthy")));
		const seconds = run.seconds.filter((s) => s.second !== 3);
		const intervals = limitIntervals({ ...run, seconds }, 0);
		expect(intervals.slice(30, 40).every((i) => i.censored === 100 && i.over === 100)).toBe(true);
		expect(intervals[29]?.censored).toBe(0);
	});
});

// --- a closed load ---

const closedPlan = (n: number) =>
	planOf({
		pattern: "work-queue",
		inFlight: 10,
		limits: [{ metric: "service", limitNs: 1e6 }],
		schedule: {
			kind: "closed",
			rate: null,
			warmupNs: 0,
			durationNs: 60e9,
			warmupMessages: 0,
			messages: n,
		},
	});

const run = (n: number, seconds: Second[]) => ({ plan: closedPlan(n), seconds, ledgers: null });

/** 100 messages in each 100 ms of that many seconds; over: how many of interval i. */
const counted = (seconds: number, over: (i: number) => number): Second[] =>
	Array.from({ length: seconds }, (_, second) => ({
		second,
		metrics: {},
		limits: [
			{
				count: Array.from({ length: 10 }, () => 100),
				over: Array.from({ length: 10 }, (_, j) => over(second * 10 + j)),
				overWithoutLag: Array.from({ length: 10 }, () => 0),
			},
		],
	}));

test("every message is in one interval, those that never completed over the limit", () => {
	const found = limitIntervals(
		run(
			2015,
			counted(2, () => 0),
		),
		0,
	);
	expect(found.reduce((n, i) => n + i.n, 0)).toBe(2015);
	expect(found.reduce((n, i) => n + i.over, 0)).toBe(15);
	expect(found.reduce((n, i) => n + i.censored, 0)).toBe(15);
});

test("those that never completed stand where most are over the limit: the worst place for clustering", () => {
	const seconds = counted(2, (i) => (i === 7 ? 20 : i % 2));
	const found = limitIntervals(run(2015, seconds), 0);
	expect(found[7]).toMatchObject({ n: 115, over: 35, censored: 15 });
	// No other interval would make phi larger.
	const bare = limitIntervals(run(2000, seconds), 0);
	const phi = clustering(found);
	for (const k of bare.keys())
		expect(
			clustering(bare.map((i, at) => (at === k ? { n: i.n + 15, over: i.over + 15 } : i))),
		).toBeLessThanOrEqual(phi + 1e-9);
});

test("with nothing counted at all they are an interval of their own", () => {
	expect(limitIntervals(run(30, []), 0)).toEqual([
		{ n: 30, over: 30, overWithoutLag: 30, censored: 30 },
	]);
});

test("of a run that was stopped those under way are not over the limit", () => {
	const found = offeredIntervals(
		run(
			5000,
			counted(1, () => 1),
		),
		0,
		1010,
	);
	expect(found.reduce((n, i) => n + i.n, 0)).toBe(1010);
	expect(found.reduce((n, i) => n + i.over, 0)).toBe(10);
});
