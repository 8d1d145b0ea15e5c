import { messagesBefore } from "../plan/offset.ts";
import type { Plan, Sla } from "../plan/plan.ts";
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

/**
 * Of a run that was stopped: the intervals of the messages that were offered until then. Those still under way count as
 * under the limit: they might have been.
 */
export function offeredIntervals(
	plan: Plan,
	seconds: readonly Second[],
	k: number,
	offered: number,
): LimitInterval[] {
	let left = offered;
	return limitIntervals(plan, seconds, k).map((i) => {
		const n = Math.min(i.n, left);
		left -= n;
		const over = Math.min(n, i.over - i.censored);
		const overWithoutLag = Math.min(n, i.overWithoutLag - i.censored);
		return { n, over, overWithoutLag, censored: 0 };
	});
}

/** Which of `plan.limits` counts for this line; -1: none does. */
export function limitIndex(plan: Plan, sla: Sla): number {
	if (sla.kind === "tally") return -1;
	return plan.limits.findIndex(
		(l) => l.metric === sla.metric && l.limitNs === sla.limitNs,
	);
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
