import { EMPTY } from "../histogram/distribution.ts";
import { curve } from "../histogram/hgrm.ts";
import { percentile, type Sample } from "../histogram/percentiles.ts";
import type { Metric } from "../plan/plan.ts";
import { type Facts, hasMetric, sampleOf, sumsOf } from "../verdict/facts.ts";
import { percentileOf } from "../verdict/quantile.ts";
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
		percentiles: percentilesOf(facts, metric).map((p) =>
			percentileOf(facts, metric, p, sample),
		),
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
