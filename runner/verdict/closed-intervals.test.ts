import { expect, test } from "vitest";
import { planOf } from "../evidence/built.fake.ts";
import type { Second } from "../model/client-file.ts";
import { limitIntervals, offeredIntervals } from "./intervals.ts";
import { clustering } from "./statistics.ts";

const plan = (n: number) =>
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

const run = (n: number, seconds: Second[]) => ({ plan: plan(n), seconds, ledgers: null });

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
