import { curve } from "../histogram/hgrm.ts";
import type { Metric } from "../plan/plan.ts";
import { mainMetric } from "../plan/samples.ts";
import { type Facts, hasMetric, sampleOf, sumsOf } from "../verdict/facts.ts";
import { percentileOf, USUAL } from "../verdict/quantile.ts";
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

/** The main metric by second of intended time. */
export function mainSeconds(facts: Facts): Run["series"]["seconds"] {
	const main = mainMetric(facts.collected.plan);
	const bySecond = facts.merged.get(main)?.seconds;
	const warmup = facts.merged.get(`${main}.warmup`)?.seconds;
	return facts.collected.seconds.map(({ second, metrics }) => {
		const found = (second < 0 ? warmup : bySecond)?.get(second);
		const m = metrics[main];
		// The exact maximum is known beside the histogram: no bucket's edge lies above it.
		const most = m?.max ?? Number.POSITIVE_INFINITY;
		const value = (ns: number | null | undefined) =>
			ns == null ? null : Math.min(ns, most);
		return {
			second,
			count: found?.count ?? 0,
			p50: value(found?.p50),
			p99: value(found?.p99),
			max: m && m.count > 0 ? m.max : null,
			lag: null,
			queued: null,
		};
	});
}

/** The usual ones, and those that the SLA names. */
export function percentilesOf({ collected }: Facts, metric: Metric): number[] {
	const named = collected.plan.sla.flatMap((s) =>
		s.kind === "percentile" && s.metric === metric ? [s.percentile] : [],
	);
	return [...new Set([...USUAL, ...named])].sort((a, b) => a - b);
}
