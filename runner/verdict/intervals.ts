import { messagesBefore } from "../plan/offset.ts";
import type { Plan } from "../plan/plan.ts";
import type { Second } from "../run/collect.ts";
import type { Interval } from "./statistics.ts";

/** Counters over a limit stand per 100 ms of intended time. */
export const INTERVAL_NS = 100_000_000;
const PER_SECOND = 10;

/** An interval for one limit, with those that never completed among the messages over it. */
export interface LimitInterval extends Interval {
	/** As `over`, had the generator not been late. */
	readonly overWithoutLag: number;
	/** Intended, but without a value: failed, lost, unknown, not offered. */
	readonly censored: number;
}

/**
 * The window's 100 ms intervals for `plan.limits[k]`. Every message that was intended in an interval is in its n;
 * one without a value counts as over the limit: it took longer than any.
 */
export function limitIntervals(
	plan: Plan,
	seconds: readonly Second[],
	k: number,
): LimitInterval[] {
	const bySecond = new Map(seconds.map((s) => [s.second, s.limits[k]]));
	return intendedPerInterval(plan).map((n, i) => {
		const counts = bySecond.get(Math.floor(i / PER_SECOND));
		const piece = i % PER_SECOND;
		const censored = n - (counts?.count[piece] ?? 0);
		return {
			n,
			over: (counts?.over[piece] ?? 0) + censored,
			overWithoutLag: (counts?.overWithoutLag[piece] ?? 0) + censored,
			censored,
		};
	});
}

/** Messages intended in each 100 ms of the window; the last interval may be shorter. */
export function intendedPerInterval(plan: Plan): number[] {
	const { warmupNs, durationNs, rate } = plan.schedule;
	const counts: number[] = [];
	let before = messagesBefore(rate, warmupNs);
	for (let at = 0; at < durationNs; at += INTERVAL_NS) {
		const end = warmupNs + Math.min(at + INTERVAL_NS, durationNs);
		const upTo = messagesBefore(rate, end);
		counts.push(upTo - before);
		before = upTo;
	}
	return counts;
}

/** Messages intended in the window. */
export function intendedInWindow(plan: Plan): number {
	return plan.schedule.messages - plan.schedule.warmupMessages;
}
