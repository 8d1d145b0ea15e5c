import { describe, expect, test } from "vitest";
import { steady } from "../evidence/built.fake.ts";
import type { Collected } from "../evidence/collect.ts";
import { parseSla } from "../scenario/sla.ts";
import { drainedOf, drainOf } from "./queue.ts";
import { judgeTally } from "./tally.ts";

/**
 * Consumers pause from 1 s to 2 s after T0 at 10 000/s, and then take everything at `perSecond` beside what is sent:
 * the number waiting, ten times a second.
 */
function backlog(perSecond: number, lost = 0): Collected {
	const [rate, seconds] = [10_000, 6];
	const waiting = (s: number) => {
		if (s <= 1) return 0;
		if (s <= 2) return (s - 1) * rate;
		return Math.max(0, rate - (s - 2) * (perSecond - rate)) + lost;
	};
	return {
		plan: {
			pattern: "backlog",
			client: { index: 0, count: 1 },
			backlog: { pauseNs: 1e9, resumeNs: 2e9, messages: rate },
			schedule: { kind: "constant", warmupNs: 0, durationNs: seconds * 1e9 },
		},
		ticks: Array.from({ length: seconds }, (_, k) => ({
			at: k + 1,
			sent: rate,
			backlog: Array.from({ length: 10 }, (_, i) => waiting(k + (i + 1) / 10)),
		})),
		counters: { window: { failed: 0, lost, unknown: 0 }, warmup: null },
		totals: null,
	} as unknown as Collected;
}

const judge = (collected: Collected, sla: string) =>
	judgeTally(parseSla(sla) as never, collected).verdict;

test("a backlog of 10 000 that shrinks by 4500/s is down to 1000 after 2 s, at 14 500 received/s", () => {
	const drain = drainOf(backlog(14_500));
	expect(drain).toMatchObject({ drainNs: 2e9, open: null });
	expect(drain?.perSecond).toBeCloseTo(14_500, -1);
});

describe("the distance of two samples", () => {
	// 9000 messages at 60 000/s take 0.15 s: the second sample finds them gone.
	const fast = backlog(70_000);

	test("bounds the rate from both sides", () => {
		const drain = drainOf(fast);
		expect(drain?.drainNs).toBe(2e8);
		expect(drain?.perSecond).toBeCloseTo(60_000, -1);
		expect(drain?.mostPerSecond).toBeCloseTo(120_000, -1);
	});

	test.each([
		["drainRate >= 50000/s", "pass"],
		["drainRate >= 70000/s", "inconclusive"],
		["drainRate >= 130000/s", "fail"],
		["drainTime < 300ms", "pass"],
		["drainTime < 150ms", "inconclusive"],
		["drainTime < 50ms", "fail"],
	])("decides no gate: %s is %s", (sla, verdict) => {
		expect(judge(fast, sla)).toBe(verdict);
	});
});

test("lost messages do not wait", () => {
	expect(drainOf(backlog(14_500, 7045))?.drainNs).toBe(2e9);
});

describe("a catch-up", () => {
	const reader = (catchUp: unknown): Collected =>
		({
			plan: {
				pattern: "catch-up",
				backlog: null,
				schedule: steady(1000, 5, 60),
			},
			ticks: [],
			counters: { window: null, warmup: null },
			ledgers: null,
			totals: { catchUp, receivedInWindow: 0 },
		}) as unknown as Collected;
	const caught = reader({ beganNs: 25e9, untilNs: 29e9, messages: 28_000 });

	test("lasts from its first request to its last old message, and all messages until then are its rate", () => {
		const whole = { drainNs: 4e9, perSecond: 7000, peak: 25_000, open: null };
		expect(drainOf(caught)).toMatchObject(whole);
	});

	test.each([
		["drainTime < 5s", "pass"],
		["drainTime < 4050ms", "pass"],
		["drainTime < 4s", "fail"],
		["drainRate >= 7000/s", "pass"],
		["drainRate >= 7100/s", "fail"],
	])("%s: %s", (sla, verdict) => {
		expect(judge(caught, sla)).toBe(verdict);
	});

	test.each([
		["drainTime < 30s", "fail"],
		["drainTime < 41s", "inconclusive"],
		["drainRate >= 1/s", "inconclusive"],
	])("that was behind for 40 s when the load ended: %s is %s", (sla, verdict) => {
		const never = reader({ beganNs: 25e9, untilNs: null, messages: 30_000 });
		expect(judge(never, sla)).toBe(verdict);
		expect(drainOf(never)?.open?.text).toBe(
			"it had not caught up when the main load ended, 40s after it began to read, with 30 000 messages",
		);
	});

	test("that never began has no time", () => {
		const none = { drainNs: null, open: { code: "catch-up-not-begun" } };
		expect(drainOf(reader(null))).toMatchObject(none);
	});

	test("that was never behind took no time, and has no rate", () => {
		const live = reader({ beganNs: 25e9, untilNs: 25e9, messages: 0 });
		expect(drainOf(live)).toMatchObject({ drainNs: 0, perSecond: null, open: null });
	});
});

// --- after a fault ---

/** Messages in flight x seconds after a fault, ten times a second; the fault is 5 s after T0, of a window of 40 s. */
function drained(
	inFlight: (x: number) => number,
	{ perSecond = 1000, lost = 0, givenUp = 0, resumedS = 0 } = {},
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
		{ beganNs: faultS * 1e9, untilNs: seconds * 1e9, resumedNs: (faultS + resumedS) * 1e9 },
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
		// Sends fail at once: there is no queue without answers, except for a stall of 0.2 s each.
		const stalls = (x: number) => ((x > 1 && x < 1.2) || (x > 9 && x < 9.2) ? 50 : 1);
		expect(drained(stalls)).toBe(1.2);
		expect(drained(stalls, { resumedS: 5 })).toBe(5);
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
