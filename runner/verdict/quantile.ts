import {
	countAbove,
	type Distribution,
	EMPTY,
} from "../histogram/distribution.ts";
import {
	type Percentile,
	percentile,
	type Sample,
	tail,
} from "../histogram/percentiles.ts";
import type { Metric } from "../plan/plan.ts";
import { type Facts, sampleOf } from "./facts.ts";
import { intendedPerInterval, limitIntervals } from "./intervals.ts";
import { clustering, type Interval } from "./statistics.ts";

/** A percentile of the window with its interval, corrected for the clustering of the samples above it. */
export function percentileOf(
	facts: Facts,
	metric: Metric,
	p: number,
	sample: Sample = sampleOf(facts, metric),
): Percentile & { readonly nEff: number } {
	const found = percentile(sample, p, 1);
	const phi = clusteringAbove(facts, metric, sample, found);
	return { ...percentile(sample, p, phi), nEff: sample.n / phi };
}

// --- internal ---

/**
 * phi of the samples above `valueNs`, from the histograms of single seconds when there are 10 of them. A shorter window has
 * only the counters per 100 ms, which are of the limits: the worst of those then that lie as deep in the tail.
 */
function clusteringAbove(
	facts: Facts,
	metric: Metric,
	sample: Sample,
	{ p, value: valueNs }: Percentile,
): number {
	const { plan, seconds } = facts.collected;
	const bySecond = facts.merged.get(metric)?.seconds;
	const whole = Math.floor(plan.schedule.durationNs / 1e9);
	if (valueNs !== null && bySecond && whole >= 10) {
		const intended = intendedPerInterval(plan);
		return clustering(
			Array.from({ length: whole }, (_, second): Interval => {
				const d: Distribution = bySecond.get(second) ?? EMPTY;
				const all = intended
					.slice(second * 10, second * 10 + 10)
					.reduce((a, b) => a + b, 0);
				const n = sample.n > sample.distribution.count ? all : d.count;
				return { n, over: countAbove(d, valueNs) + n - d.count };
			}),
		);
	}
	if (facts.collected.state !== "complete") return 1;
	return Math.max(
		1,
		...plan.limits.flatMap((l, k) =>
			l.metric === metric
				? [clusteringOfLimit(limitIntervals(plan, seconds, k), p)]
				: [],
		),
	);
}

/** The stalls over a limit say nothing about a percentile that three times as many samples exceed. */
function clusteringOfLimit(intervals: readonly Interval[], p: number): number {
	const n = intervals.reduce((sum, i) => sum + i.n, 0);
	const over = intervals.reduce((sum, i) => sum + i.over, 0);
	return tail(p) * n <= 3 * over ? clustering(intervals) : 1;
}
