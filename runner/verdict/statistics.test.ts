import { describe, expect, test } from "vitest";
import { binomialAtMost } from "../stats/binomial.ts";
import { supportOf, tail } from "../stats/support.ts";
import {
	clustering,
	events,
	fails,
	type Interval,
	passes,
	passLimit,
	testOver,
} from "./statistics.ts";

const even = (n: number, count: number, over = 0): Interval[] =>
	Array.from({ length: count }, () => ({ n: n / count, over }));

describe("the binomial test", () => {
	// Expected number over the limit, in the limit of many messages.
	test.each([
		[3, 0, 7],
		[5, 1, 10],
		[10, 4, 16],
		[20, 12, 29],
		[30, 20, 40],
		[50, 38, 63],
		[100, 83, 118],
		[300, 271, 330],
		[1000, 947, 1053],
	])("of %d expected passes up to %d and fails from %d on", (k, pass, fail) => {
		const n = 1e8;
		const share = k / n;
		expect(passLimit(n, share)).toBe(pass);
		expect(passes(pass + 1, n, share)).toBe(false);
		expect(fails(fail, n, share)).toBe(true);
		expect(fails(fail - 1, n, share)).toBe(false);
	});

	test.each([
		[99, 299],
		[99.9, 2995],
		[99.99, 29_956],
		[99.999, 299_572],
	])("needs n for a PASS of p%d with nothing over: %d", (p, n) => {
		expect(passes(0, n, tail(p))).toBe(true);
		expect(passes(0, n - 1, tail(p))).toBe(false);
	});

	test("gives MLPerf's 459 queries for p99 at 99 %", () => {
		expect(binomialAtMost(0, 459, 0.01)).toBeLessThanOrEqual(0.01);
		expect(binomialAtMost(0, 458, 0.01)).toBeGreaterThan(0.01);
	});

	test("with few messages fails but never passes", () => {
		expect(fails(3, 3, 0.01)).toBe(true);
		expect(fails(1, 1, 0.5)).toBe(false);
		expect(passLimit(100, 0.01)).toBeNull();
	});
});

describe("clustering", () => {
	test("is 1 when nothing, or everything, is over the limit", () => {
		expect(clustering(even(1000, 100))).toBe(1);
		expect(clustering(even(1000, 100, 10))).toBe(1);
	});

	test("is 515 for a stall of 500 ms in 10 s at 1000/s", () => {
		// 490 over, in the five pieces of 100 ms from 4 s on.
		const intervals = even(10_000, 100).map((i, at) => ({
			...i,
			over: at === 44 ? 90 : at >= 40 && at < 44 ? 100 : 0,
		}));
		expect(clustering(intervals)).toBeCloseTo(515, 0);
	});

	test("of one interval of a hundred that is over whole: by hand", () => {
		// pi = .01, y = 100 in one of 100 intervals of 100: ((99)^2 + 99 * 1) / .99 / 99 = 101.01 for single intervals; batches of
		// 10 (10 of n = 1000): (90^2 + 9 * 100) / 9.9 / 9 = 101.01 too.
		const intervals = even(10_000, 100).map((i, at) => ({ ...i, over: at === 7 ? 100 : 0 }));
		expect(clustering(intervals, [1])).toBeCloseTo(101.0101, 3);
		expect(clustering(intervals, [10])).toBeCloseTo(101.0101, 3);
	});

	test("leaves out intervals without messages and sizes with fewer than 10 batches", () => {
		expect(clustering([...even(90, 9).map((i) => ({ ...i, over: 1 })), { n: 0, over: 0 }])).toBe(1);
	});

	test("counts runs of intervals as events, with their lengths", () => {
		const over = [0, 1, 1, 0, 0, 3, 0, 1];
		expect(events(over.map((o) => ({ n: 10, over: o })))).toEqual([2, 1, 1]);
	});
});

describe("the verdict on a count over the limit", () => {
	const spread = (n: number, intervals: number, over: number) =>
		even(n, intervals).map((i, at) => ({
			...i,
			over: Math.floor(((at + 1) * over) / intervals) - Math.floor((at * over) / intervals),
		}));

	test("a stall of 500 ms in 10 s spends the budget twice: FAIL, though corrected it would be open", () => {
		const intervals = even(10_000, 100).map((i, at) => ({
			...i,
			over: at === 44 ? 90 : at >= 40 && at < 44 ? 100 : 0,
		}));
		expect(testOver(intervals, 99)).toMatchObject({
			verdict: "fail",
			reason: "budget",
			n: 10_000,
			over: 490,
			events: 1,
			longestEvent: 5,
		});
		expect(testOver(intervals, 99).allowed).toBeCloseTo(100, 9);
	});

	test("samples that come singly are judged by the plain test", () => {
		expect(testOver(spread(10_000, 100, 83), 99).verdict).toBe("pass");
		expect(testOver(spread(10_000, 100, 84), 99).verdict).toBe("inconclusive");
		expect(testOver(spread(10_000, 100, 119), 99).verdict).toBe("fail");
	});

	test("late messages in every 100 ms in which any was due are there throughout, whatever the gaps of the schedule", () => {
		const over = (...all: (number | null)[]) =>
			testOver(
				all.map((n) => ({ n: n === null ? 0 : 100, over: n ?? 0 })),
				99,
			).throughout;
		expect(over(null, 1, 5, null, 2)).toBe(true);
		expect(over(1, 5, 0, 2)).toBe(false);
		expect(over(0, 1, 1)).toBe(false);
	});

	test("12 over in 2 stalls is no PASS where 24 would be allowed, 2 over is", () => {
		const inTwo = (each: number) =>
			even(3300, 100).map((i, at) => ({ ...i, over: at === 20 || at === 70 ? each : 0 }));
		expect(testOver(inTwo(1), 99)).toMatchObject({ verdict: "pass", events: 2 });
		expect(testOver(inTwo(6), 99)).toMatchObject({ verdict: "inconclusive", over: 12, events: 2 });
	});

	test.each([
		[90, 36],
		[99, 368],
		[99.9, 3688],
		[99.99, 36_887],
		[99.999, 368_887],
	])("p%d: a PASS begins with %d messages, where the report begins to print it", (p, weak) => {
		expect([supportOf(weak - 1, p), supportOf(weak, p)]).toEqual(["none", "weak"]);
		// The binomial test alone would pass it.
		expect(passes(0, weak - 1, tail(p))).toBe(true);
		expect(testOver(even(weak - 1, 10), p)).toMatchObject({
			verdict: "inconclusive",
			reason: "samples",
		});
		expect(testOver(even(weak, 10), p).verdict).toBe("pass");
	});

	test("no messages at all are neither PASS nor FAIL", () => {
		expect(testOver([], 99).verdict).toBe("inconclusive");
	});
});

test("at 1/s empty intervals neither dilute a stall nor cut it: 12 in a row are one event", () => {
	// 4000 messages, one in every tenth interval of 100 ms; 40 may be over p99.
	const intervals = Array.from({ length: 40_000 }, (_, i): Interval => {
		const n = i % 10 === 0 ? 1 : 0;
		const second = Math.floor(i / 10);
		return { n, over: second >= 1000 && second < 1012 ? n : 0 };
	});
	const found = testOver(intervals, 99);
	expect(found).toMatchObject({ verdict: "inconclusive", events: 1 });
	expect(found.phi).toBeGreaterThan(10);
	expect(found.phi).toBeLessThan(13);
	// From the first to the last of them, by their times: 11.1 s.
	expect(found.longestEvent).toBe(111);
});
