import type { Collected } from "../evidence/collect.ts";
import type { Second } from "../model/client-file.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Metric, Plan } from "../model/plan.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, samplesPerMessage } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import type { Interval } from "./statistics.ts";

/** Counters over a limit are per 100 ms of intended time, in a long run per tenth of a recorded second. */
export function intervalNs({ intervalSeconds = 1 }: Pick<Plan, "intervalSeconds">): number {
	return intervalSeconds * 100_000_000;
}

/** Intervals per recorded second. */
export const PER_SECOND = 10;

/** The first second of the record with the window's interval i. */
export function secondOf({ intervalSeconds = 1 }: Pick<Plan, "intervalSeconds">, i: number) {
	return Math.floor(i / PER_SECOND) * intervalSeconds;
}

type Counted = Pick<Collected, "plan" | "seconds" | "ledgers">;

/** One limit's interval; `over` includes messages that never completed. */
export interface LimitInterval extends Interval {
	/** `over`, had the generator not been late. */
	readonly overWithoutLag: number;
	/** Intended without a value: failed, lost, unknown, not offered. */
	readonly censored: number;
}

/**
 * The window's 100 ms intervals for `plan.limits[k]`; an owed sample without a value counts as over. A closed load's are of the send call
 * (see `withCensored`). Each second receipt hides an incomplete message; these go where they cluster most. A `censored` below 0 is a bug.
 */
export function limitIntervals({ plan, seconds, ledgers }: Counted, k: number): LimitInterval[] {
	const metric = plan.limits[k]?.metric ?? "response";
	const perMessage = samplesPerMessage(plan, metric);
	if (plan.schedule.kind === "closed") {
		const counted = countedIntervals(plan, seconds, k);
		const missing = intendedInWindow(plan) * perMessage - sum(counted.map((i) => i.n));
		return withCensored(counted, missing).map((interval, i) => ({
			...interval,
			overWithoutLag: interval.over,
			censored: interval.n - (counted[i]?.n ?? 0),
		}));
	}
	const bySecond = new Map(seconds.map((s) => [s.second, s.limits[k]]));
	const second = receivedTwice({ plan, ledgers }, metric);
	const intervals = intendedPerInterval(plan).map((intended, i) => {
		const counts = bySecond.get(secondOf(plan, i));
		const piece = i % PER_SECOND;
		const n = intended * perMessage;
		const censored = n - (counts?.count[piece] ?? 0);
		return {
			n,
			over: (counts?.over[piece] ?? 0) + censored,
			overWithoutLag: (counts?.overWithoutLag[piece] ?? 0) + censored,
			censored,
		};
	});
	return second === 0 ? intervals : withHidden(intervals, second);
}

/** Intervals of a stopped run's `offered` samples. Messages still under way count as within the limit. */
export function offeredIntervals(run: Counted, k: number, offered: number): LimitInterval[] {
	const { plan, seconds } = run;
	if (plan.schedule.kind === "closed") {
		const counted = countedIntervals(plan, seconds, k);
		const open = Math.max(0, offered - sum(counted.map((i) => i.n)));
		return counted.map(({ n, over }, i) => ({
			n: n + (i === counted.length - 1 ? open : 0),
			over,
			overWithoutLag: over,
			censored: 0,
		}));
	}
	let left = offered;
	return limitIntervals(run, k).map((i) => {
		const n = Math.min(i.n, left);
		left -= n;
		const over = Math.min(n, i.over - i.censored);
		const overWithoutLag = Math.min(n, i.overWithoutLag - i.censored);
		return { n, over, overWithoutLag, censored: 0 };
	});
}

/** Messages intended per 100 ms of the window (the last may be shorter); empty for a closed load. */
export function intendedPerInterval(plan: Plan): readonly number[] {
	const known = INTENDED.get(plan);
	if (known !== undefined) return known;
	const { warmupNs, durationNs, kind } = plan.schedule;
	const counts: number[] = [];
	if (kind !== "closed") {
		let before = messagesBefore(plan.schedule, warmupNs);
		const each = intervalNs(plan);
		for (let at = 0; at < durationNs; at += each) {
			const end = warmupNs + Math.min(at + each, durationNs);
			const upTo = messagesBefore(plan.schedule, end);
			counts.push(upTo - before);
			before = upTo;
		}
	}
	INTENDED.set(plan, counts);
	return counts;
}

/** Per recorded second. */
export function intendedBySecond(plan: Plan): Map<number, number> {
	const bySecond = new Map<number, number>();
	for (const [i, n] of intendedPerInterval(plan).entries()) {
		const second = secondOf(plan, i);
		bySecond.set(second, (bySecond.get(second) ?? 0) + n);
	}
	return bySecond;
}

/** Adds samples without a value where most are over the limit. Clustering only hinders passing, so no gate profits from the unknown. */
export function withCensored<I extends Interval>(
	intervals: readonly I[],
	censored: number,
): (I | Interval)[] {
	if (censored === 0) return [...intervals];
	let worst = 0;
	for (const [i, { over, n }] of intervals.entries()) {
		const most = intervals[worst] ?? NOTHING;
		if (over > most.over || (over === most.over && n > most.n)) worst = i;
	}
	const at = intervals[worst] ?? NOTHING;
	const all: (I | Interval)[] = [...intervals];
	all[worst] = { ...at, n: at.n + censored, over: at.over + censored };
	return all;
}

/** Share to take away by interval number; 1 is all. */
export type Shares = ReadonlyMap<number, number>;

/** Removes those shares of the messages due, and equally many late ones. Messages that never came stay: only the system withholds them. */
export function without(intervals: readonly LimitInterval[], shares: Shares): LimitInterval[] {
	return intervals.map(({ n, over, overWithoutLag, censored }, i) => {
		const away = Math.min(n - censored, Math.round((shares.get(i) ?? 0) * n));
		return {
			n: n - away,
			over: Math.max(censored, over - away),
			overWithoutLag: Math.max(censored, overWithoutLag - away),
			censored,
		};
	});
}

/** Second receipts by another client, visible only in all ledgers together; subtract them when counting incomplete messages. */
export function receivedTwice(
	{ plan, ledgers }: Pick<Collected, "plan" | "ledgers">,
	metric: Metric,
): number {
	const received = metric === "response" || metric === "service";
	return received && samplesPerMessage(plan, metric) > 0 ? (ledgers?.window.duplicated ?? 0) : 0;
}

/** For all receipts, warm-up included. */
export function allReceivedTwice({ ledgers }: Pick<Collected, "ledgers">): number {
	return ledgers === null ? 0 : ledgers.warmup.duplicated + ledgers.window.duplicated;
}

// --- internal ---

const NOTHING: Interval = { n: 0, over: 0 };
/** A Poisson schedule is walked message by message, so cache it. */
const INTENDED = new WeakMap<Plan, readonly number[]>();

/** Restores samples hidden by the `second` extra ones: visible if an interval has more than it owes, else one missing message each. */
function withHidden(intervals: readonly LimitInterval[], second: number): LimitInterval[] {
	let hidden = second - sum(intervals.map((i) => Math.max(0, -i.censored)));
	if (hidden < 0) return [...intervals];
	const all = intervals.map((i) => withMissing(i, Math.max(0, -i.censored)));
	const worstFirst = [...all.entries()].sort(([, a], [, b]) => b.over - a.over || b.n - a.n);
	for (const [at, i] of worstFirst) {
		const more = Math.min(hidden, i.n - i.censored);
		hidden -= more;
		all[at] = withMissing(i, more);
	}
	return all;
}

function withMissing(i: LimitInterval, more: number): LimitInterval {
	return {
		n: i.n,
		over: Math.min(i.n, i.over + more),
		overWithoutLag: Math.min(i.n, i.overWithoutLag + more),
		censored: i.censored + more,
	};
}

/** Counts per 100 ms of the send call. */
function countedIntervals(plan: Plan, seconds: readonly Second[], k: number): Interval[] {
	const bySecond = new Map(seconds.map((s) => [s.second, s.limits[k]]));
	const end = seconds.reduce((n, s) => Math.max(n, s.second + secondsOf(s)), 0);
	const { intervalSeconds = 1 } = plan;
	return Array.from({ length: (end / intervalSeconds) * PER_SECOND }, (_, i) => {
		const counts = bySecond.get(secondOf(plan, i));
		const piece = i % PER_SECOND;
		return { n: counts?.count[piece] ?? 0, over: counts?.over[piece] ?? 0 };
	});
}
