import type { Collected } from "../evidence/collect.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Failover } from "../model/result.ts";
import type { TrendPoint } from "../stats/trend.ts";
import { EDGE_S, SAMPLES_PER_SECOND, waiting } from "./backlog-drain.ts";
import { BACKLOG_MESSAGES } from "./checks/limits.ts";
import { neverCompleted } from "./never-completed.ts";
import { meanRate } from "./window-length.ts";

/**
 * From the begin of a fault until no more messages are in flight than at most in the 2 s before it, for 2 s (where the span ends sooner, for
 * at least 0.5 s), ns, ten times a second; looked for from `servedNs` on, and after the first sample above. 0: there were never more. null
 * with `drainedStill`: not in the span; without: not counted.
 *
 * As long as what it is held against, and not to the end: the most of 300 samples of a level queue is nearly always above the most of 20. Nor
 * is it so for a handful more: what is due in 100 ms, at most 10 messages. Messages that never come do not wait: what the queue does not fall
 * below again (until their timeout, of those given up) is taken off, as far as the run has lost so many.
 */
export function drainedOf(
	collected: Collected,
	{ beganNs, untilNs, servedNs = beganNs }: FaultSpan,
): Pick<Failover, "drainedNs" | "drainedStill"> {
	const { plan, totals } = collected;
	const began = beganNs / 1e9;
	const samples = waiting(collected);
	const perSecond = SAMPLES_PER_SECOND / (plan.intervalSeconds ?? 1);
	const beforeS = Math.max(BEFORE_S, 2 / perSecond);
	const before = samples.filter(({ x }) => x > began - beforeS && x <= began).map(({ y }) => y);
	const after = samples.filter(({ x }) => x > began && x <= untilNs / 1e9 + EDGE_S);
	if (before.length === 0 || after.length === 0) return { drainedNs: null, drainedStill: false };
	const [most, least] = [largestOf(before), smallestOf(before)];
	const dueInPiece = (meanRate(plan) ?? 0) / perSecond;
	const level = most + Math.max(1, Math.min(BACKLOG_MESSAGES, dueInPiece));
	const forever = neverCompleted(collected);
	const givenUp = forever + (totals?.unanswered ?? 0);
	const timeoutS = began + plan.timeoutNs / 1e9;
	const never = neverBelow(after);
	const byTimeout = neverBelow(after.filter(({ x }) => x < timeoutS));
	const gone = (i: number) =>
		Math.max(
			Math.min(forever, (never[i] ?? 0) - least),
			Math.min(givenUp, (byTimeout[i] ?? 0) - least),
			0,
		);
	const first = after.findIndex(({ y }, i) => y - gone(i) > level);
	if (first < 0) return { drainedNs: 0, drainedStill: false };
	const calm = after.find(({ x }, i) => {
		if (i < first || x < servedNs / 1e9) return false;
		const stretch = after.slice(i, i + beforeS * perSecond);
		return stretch.length >= LEAST_S * perSecond && stretch.every(({ y }) => y - gone(i) <= level);
	});
	return calm === undefined
		? { drainedNs: null, drainedStill: true }
		: { drainedNs: Math.round((calm.x - began) * 1e9), drainedStill: false };
}

/** From a fault's begin to the next one's, or the end of the window, ns since T0. */
export interface FaultSpan {
	readonly beganNs: number;
	readonly untilNs: number;
	/** The end of the time without completions, where there was one. */
	readonly servedNs?: number;
}

// --- internal ---

const BEFORE_S = 2;
const LEAST_S = 0.5;

/** Of each sample the least that there was from it on. */
function neverBelow(samples: readonly TrendPoint[]): number[] {
	const least: number[] = [];
	let most = Number.POSITIVE_INFINITY;
	for (let i = samples.length - 1; i >= 0; i--) {
		most = Math.min(most, samples[i]?.y ?? most);
		least[i] = most;
	}
	return least;
}
