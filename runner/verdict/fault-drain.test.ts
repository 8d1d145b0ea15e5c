import { describe, expect, test } from "vitest";
import { steady } from "../evidence/built.fake.ts";
import type { Collected } from "../evidence/collect.ts";
import { drainedOf } from "./queue.ts";

/** Messages in flight x seconds after a fault, ten times a second; the fault is 5 s after T0, of a window of 40 s. */
function drained(
	inFlight: (x: number) => number,
	{ perSecond = 1000, lost = 0, givenUp = 0, servedS = 0 } = {},
): number | null {
	const [faultS, seconds] = [5, 40];
	const ticks = Array.from({ length: seconds }, (_, k) => ({
		at: k + 1,
		backlog: Array.from({ length: 10 }, (_, i) =>
			inFlight(Number((k + (i + 1) / 10 - faultS).toFixed(1))),
		),
	}));
	const { drainedNs: ns } = drainedOf(
		{
			plan: {
				pattern: "round-trip",
				client: { index: 0, count: 1 },
				schedule: steady(perSecond, 0, seconds),
				timeoutNs: 30e9,
			},
			ticks,
			counters: { warmup: null, window: { lost, unknown: givenUp } },
			totals: { unanswered: givenUp },
		} as unknown as Collected,
		{ beganNs: faultS * 1e9, untilNs: seconds * 1e9, servedNs: (faultS + servedS) * 1e9 },
	);
	return ns === null ? null : ns / 1e9;
}

/** Nothing completes for `d` seconds, and what waited is worked off at 3000/s beside what is sent. */
const outage =
	(d: number, calm = 1) =>
	(x: number): number =>
		x <= 0 ? calm : calm + Math.max(0, x <= d ? 1000 * x : 1000 * (3 * d - 2 * x));

describe("a queue is drained", () => {
	// 2 s of 1000/s shrink by 2000/s: gone 1 s later, but for the 10 messages that are no queue.
	test("when what has waited is worked off", () => {
		expect(drained(outage(2))).toBe(3);
		expect(drained(outage(4))).toBe(6);
	});

	test("though a handful more is in flight later, as in a level queue it is", () => {
		expect(drained((x) => outage(2)(x) + (x > 20 && x % 1 === 0 ? 9 : 0))).toBe(3);
	});

	test("though another stall comes when it had been level for 2 s", () => {
		const then = (at: number) => (x: number) => outage(2)(x) + (x > at && x < at + 0.5 ? 300 : 0);
		expect(drained(then(5))).toBe(3);
		expect(drained(then(4.5))).toBe(5);
	});

	test("after the time without answers, whatever stalls before or behind it", () => {
		// Sends fail at once: there is no queue while nobody answers, but for a stall of 0.2 s each.
		const stalls = (x: number) => ((x > 1 && x < 1.2) || (x > 9 && x < 9.2) ? 50 : 1);
		expect(drained(stalls)).toBe(1.2);
		expect(drained(stalls, { servedS: 5 })).toBe(5);
	});

	test("after the first that waited, however late that was", () => {
		expect(drained((x) => (x < 5 ? 1 : outage(2)(x - 5)))).toBe(8);
	});

	test("never, where it is not to the end; at once where it never was longer", () => {
		expect(drained(outage(30))).toBeNull();
		expect(drained(() => 7)).toBe(0);
		expect(drained((x) => (x > 3 ? 17 : 7))).toBe(0);
		expect(drained((x) => (x > 3 ? 18 : 7))).toBeNull();
	});

	test("also in the last half second of the window", () => {
		expect(drained((x) => (x > 0 && x < 34.6 ? 500 : 1))).toBe(34.6);
		// The last four samples are no level queue yet.
		expect(drained((x) => (x > 0 && x < 34.7 ? 500 : 1))).toBeNull();
	});

	test.each([
		// A message every 200 ms: one of them may be met by any sample, two are a queue.
		[5, 2, 0],
		[5, 3, 1],
		// 5 messages are due in 100 ms.
		[50, 6, 0],
		[50, 7, 1],
		[1000, 11, 0],
		[1000, 12, 1],
	])("at %i/s counts as a queue from so many on: %i", (perSecond, n, expected) => {
		expect(drained((x) => (x > 0 && x < 1 ? n : 1), { perSecond })).toBe(expected);
	});
});

describe("messages that never come do not wait", () => {
	const stays = (n: number, untilS: number) => (x: number) =>
		outage(2)(x) + (x > 0 && x < untilS ? n : 0);

	test("nor do those that are given up at their timeout", () => {
		expect(drained(stays(50, 30))).toBe(30);
		expect(drained(stays(50, 30), { givenUp: 50 })).toBe(3);
		expect(drained(stays(50, 100), { lost: 50 })).toBe(3);
	});

	test("but no more than the run has lost or given up", () => {
		expect(drained(stays(50, 30), { givenUp: 30 })).toBe(30);
		expect(drained(stays(50, 100), { lost: 30 })).toBeNull();
	});

	test("and a queue that grows is one, of which some are given up later", () => {
		// 10 s of it, then half is answered at once; the rest is given up after 30 s.
		const half = (x: number) => (x <= 0 ? 1 : x < 10 ? 1 + 1000 * x : x < 30 ? 5001 : 1);
		expect(drained(half, { givenUp: 5000 })).toBe(10);
	});
});
