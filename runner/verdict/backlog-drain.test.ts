import { describe, expect, test } from "vitest";
import type { Collected } from "../evidence/collect.ts";
import { parseSla } from "../scenario/sla.ts";
import { drainOf } from "./queue.ts";
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
		stops: [],
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
