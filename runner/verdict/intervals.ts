import type { Collected } from "../evidence/collect.ts";
import type { Second } from "../model/client-file.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Metric, Plan } from "../model/plan.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, samplesPerMessage } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import type { Interval } from "./statistics.ts";

/** Counters over a limit stand per 100 ms of intended time; of a long run per tenth of what is recorded as one second. */
export function intervalNs({ intervalSeconds = 1 }: Pick<Plan, "intervalSeconds">): number {
	return intervalSeconds * 100_000_000;
}
/** Intervals of a second, or of what is recorded as one. */
export const PER_SECOND = 10;

/** The second, or the first of those recorded as one, that holds the window's interval i. */
export function secondOf(
	{ intervalSeconds = 1 }: Pick<Plan, "intervalSeconds">,
	i: number,
): number {
	return Math.floor(i / PER_SECOND) * intervalSeconds;
}

type Counted = Pick<Collected, "plan" | "seconds" | "ledgers">;

/** An interval for one limit, with those that never completed among the messages over it. */
export interface LimitInterval extends Interval {
	/** As `over`, had the generator not been late. */
	readonly overWithoutLag: number;
	/** Intended, but without a value: failed, lost, unknown, not offered. */
	readonly censored: number;
}

/**
 * The window's 100 ms intervals for `plan.limits[k]`. A sample that is owed and has no value counts as over the limit. A closed load has no
 * intended times: its intervals are of the send call, and nobody knows when those without a value were sent (`withCensored`).
 *
 * Second receipts of a message stand in the place of as many that never completed, and those are put where they cluster most. Where even more
 * samples are too many, an interval's `censored` is below 0: that is a bug.
 */
export function limitIntervals({ plan, seconds, ledgers }: Counted, k: number): LimitInterval[] {
	const metric = plan.limits[k]?.metric ?? "response";
	const perMessage = samplesPerMessage(plan, metric);
	if (plan.schedule.kind === "closed") {
		const counted = countedIntervals(plan, seconds, k);
		const owed = intendedInWindow(plan) * perMessage;
		const missing = owed - sum(counted.map((i) => i.n));
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

/**
 * Of a run that was stopped: the intervals of the `offered` samples, those of the messages that were offered until then. Those still
 * under way count as under the limit: they might have been.
 */
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

/** Messages intended in each 100 ms of the window; the last interval may be shorter. Of a closed load nobody knows: none. */
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

/** The same by second, or by what is recorded as one. */
export function intendedBySecond(plan: Plan): Map<number, number> {
	const bySecond = new Map<number, number>();
	for (const [i, n] of intendedPerInterval(plan).entries()) {
		const second = secondOf(plan, i);
		bySecond.set(second, (bySecond.get(second) ?? 0) + n);
	}
	return bySecond;
}

/**
 * Puts samples without a value into the interval in which most were over the limit already, of equals the fullest. Clustering only ever keeps a
 * gate from passing, so none profits from what is not known. An interval of their own would be worse than any stall can be.
 */
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

/** How much of an interval, by its number, is taken away: 1 is all of it. */
export type Shares = ReadonlyMap<number, number>;

/**
 * The intervals without those shares of what was due in them, and as many late ones as that. Their times stay, and so do messages that never
 * came: nothing but the system keeps them.
 */
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

/**
 * Samples of the window that are of a message's second receipt, by another client than the first: both have recorded a response, and only all
 * ledgers together tell how many there are. Whoever counts what never completed must not take them for messages.
 */
export function receivedTwice(
	{ plan, ledgers }: Pick<Collected, "plan" | "ledgers">,
	metric: Metric,
): number {
	const received = metric === "response" || metric === "service";
	return received && samplesPerMessage(plan, metric) > 0 ? (ledgers?.window.duplicated ?? 0) : 0;
}

/** The same of all receipts, warm-up included. */
export function allReceivedTwice({ ledgers }: Pick<Collected, "ledgers">): number {
	return ledgers === null ? 0 : ledgers.warmup.duplicated + ledgers.window.duplicated;
}

// --- internal ---

const NOTHING: Interval = { n: 0, over: 0 };

/** A Poisson schedule is walked message by message: once is enough. */
const INTENDED = new WeakMap<Plan, readonly number[]>();

/** What `second` samples too many hide: in an interval that has more than it owes they are seen, in others a message is missing for each. */
function withHidden(intervals: readonly LimitInterval[], second: number): LimitInterval[] {
	const seen = sum(intervals.map((i) => Math.max(0, -i.censored)));
	let hidden = second - seen;
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

/** By 100 ms of the send call: what was counted. */
function countedIntervals(plan: Plan, seconds: readonly Second[], k: number): Interval[] {
	const bySecond = new Map(seconds.map((s) => [s.second, s.limits[k]]));
	const end = seconds.reduce((n, s) => Math.max(n, s.second + secondsOf(s)), 0);
	const { intervalSeconds = 1 } = plan;
	const length = (end / intervalSeconds) * PER_SECOND;
	return Array.from({ length }, (_, i) => {
		const counts = bySecond.get(secondOf(plan, i));
		const piece = i % PER_SECOND;
		return { n: counts?.count[piece] ?? 0, over: counts?.over[piece] ?? 0 };
	});
}
