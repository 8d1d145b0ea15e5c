import {
	countAbove,
	type Distribution,
	EMPTY,
} from "../histogram/distribution.ts";
import { curve } from "../histogram/hgrm.ts";
import {
	type Percentile,
	percentile,
	type Sample,
	tail,
} from "../histogram/percentiles.ts";
import type { Metric } from "../plan/plan.ts";
import { type Facts, hasMetric, sampleOf, sumsOf } from "../verdict/facts.ts";
import { intendedPerInterval, limitIntervals } from "../verdict/intervals.ts";
import { clustering, type Interval } from "../verdict/statistics.ts";
import type { MetricSummary, Run } from "./summary.ts";

/** The window's figures of one metric; null when this system has no such thing, or nothing was measured. */
export function summarise(facts: Facts, metric: Metric): MetricSummary | null {
	if (!hasMetric(facts, metric)) return null;
	const sample = sampleOf(facts, metric);
	const sums = sumsOf(facts, metric);
	return {
		unit: "ns",
		count: sample.distribution.count,
		n: sample.n,
		censored: sample.n - sample.distribution.count,
		min: sample.min,
		mean: sums.count > 0 ? sums.sum / sums.count : null,
		max: sample.max,
		clamped: sums.clamped,
		negative: sums.negative,
		percentiles: percentilesOf(facts, metric).map((p) => {
			const found = percentile(sample, p, 1);
			const phi = clusteringAbove(facts, metric, sample, found);
			return { ...percentile(sample, p, phi), nEff: sample.n / phi };
		}),
		curve: curve(sample),
	};
}

/** Response by second of intended time. */
export function responseSeconds(facts: Facts): Run["series"]["seconds"] {
	const bySecond = facts.merged.get("response")?.seconds;
	const warmup = facts.merged.get("response.warmup")?.seconds;
	return facts.collected.seconds.map(({ second, metrics }) => {
		const distribution = (second < 0 ? warmup : bySecond)?.get(second) ?? EMPTY;
		const m = metrics.response;
		const sample: Sample = {
			distribution,
			n: distribution.count,
			min: m?.min ?? null,
			max: m?.max ?? null,
		};
		return {
			second,
			count: distribution.count,
			p50: percentile(sample, 50, 1).value,
			p99: percentile(sample, 99, 1).value,
			max: m && m.count > 0 ? m.max : null,
		};
	});
}

// --- internal ---

const USUAL = [50, 90, 99, 99.9, 99.99, 99.999, 99.9999];

/** The usual ones, and those that the SLA names. */
function percentilesOf({ collected }: Facts, metric: Metric): number[] {
	const named = collected.plan.sla.flatMap((s) =>
		s.kind === "percentile" && s.metric === metric ? [s.percentile] : [],
	);
	return [...new Set([...USUAL, ...named])].sort((a, b) => a - b);
}

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
