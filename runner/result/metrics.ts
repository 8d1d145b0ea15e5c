import { largestOf, smallestOf } from "../extremes.ts";
import { addBins, type BinCounts, binStart } from "../histogram/bins.ts";
import { curve } from "../histogram/hgrm.ts";
import type { Sample } from "../histogram/percentiles.ts";
import type { Second } from "../model/client-file.ts";
import type { Metric } from "../model/plan.ts";
import type { MetricSummary, Run } from "../model/result.ts";
import { mainMetric } from "../plan/samples.ts";
import { dueBySecond, type Facts, hasMetric, sampleOf, sumsOf } from "../verdict/facts.ts";
import { percentileOf, percentilesOf } from "../verdict/quantile.ts";

/** Over the window; null if the system has no such metric or nothing was measured. */
export function summarise(facts: Facts, metric: Metric): MetricSummary | null {
	if (!hasMetric(facts, metric)) return null;
	const sample = sampleOf(facts, metric);
	return { ...figuresOf(facts, metric, sample), curve: curve(sample) };
}

/** `span`: the sample's part of the window, in seconds. */
export function figuresOf(
	facts: Facts,
	metric: Metric,
	sample: Sample,
	span?: { readonly from: number; readonly to: number },
): Omit<MetricSummary, "curve"> {
	const sums = sumsOf(facts, metric, span);
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
		percentiles: percentilesOf(facts.collected.plan, metric).map((p) =>
			percentileOf(facts, metric, p, sample, span),
		),
	};
}

/** By second of intended time, with lag and queueing. Includes seconds in which messages were due and none completed. */
export function mainSeconds(facts: Facts): Run["series"]["seconds"] {
	const main = mainMetric(facts.collected.plan);
	// Unreadable histograms may have held any of them.
	const due = facts.unreadable === null ? dueBySecond(facts.collected) : null;
	return withEmpty(facts.collected.seconds, due).map((line) => {
		const { count, p50, p99, max } = secondOf(facts, main, line);
		const beside = (metric: "lag" | "queued") => {
			const values = secondOf(facts, metric, line);
			return values.max === null ? null : { p99: values.p99, max: values.max };
		};
		return {
			second: line.second,
			...(line.seconds === undefined ? {} : { seconds: line.seconds }),
			count,
			missing: due && Math.max(0, (due.get(line.second) ?? 0) - count),
			p50,
			p99,
			max,
			lag: beside("lag"),
			queued: beside("queued"),
		};
	});
}

/**
 * The main metric by second and latency bin (histogram/bins.ts), in at most 300 columns of `width` seconds. They count from the window's
 * start: cells from second 0 on add up to `metrics[main].count`, others are the warm-up's. Messages that never completed are in no cell.
 */
export function heatOf(facts: Facts): Run["series"]["heat"] {
	const main = mainMetric(facts.collected.plan);
	const seconds = [`${main}.warmup`, main].flatMap((tag) => [
		...(facts.merged.get(tag)?.bins ?? []),
	]);
	if (seconds.length === 0) return null;
	const width = columnWidth(
		seconds.map(([second]) => second),
		facts.collected.plan.intervalSeconds ?? 1,
	);
	const columns = new Map<number, BinCounts>();
	for (const [second, bins] of seconds) {
		const column = Math.floor(second / width) * width;
		const sum = columns.get(column) ?? new Map();
		addBins(sum, bins);
		columns.set(column, sum);
	}
	const cells = [...columns]
		.flatMap(([second, bins]) => [...bins].map(([bin, count]) => ({ second, bin, count })))
		.sort((a, b) => a.second - b.second || a.bin - b.bin);
	const bins = cells.map(({ bin }) => bin);
	const [lowest, highest] = [smallestOf(bins), largestOf(bins)];
	return {
		binsNs: Array.from({ length: highest - lowest + 1 }, (_, i) => binStart(lowest + i)),
		endNs: binStart(highest + 1),
		width,
		cells: cells.map(({ second, bin, count }) => [second, bin - lowest, count]),
	};
}

// --- internal ---

const MOST_COLUMNS = 300;

function withEmpty(lines: readonly Second[], due: ReadonlyMap<number, number> | null): Second[] {
	const known = new Set(lines.map(({ second }) => second));
	const empty = [...(due?.keys() ?? [])].filter((second) => !known.has(second));
	const all = [...lines, ...empty.map((second) => ({ second, metrics: {}, limits: [] }))];
	return all.sort((a, b) => a.second - b.second);
}

function secondOf({ merged }: Facts, metric: Metric, { second, metrics }: Second) {
	const values = merged.get(second < 0 ? `${metric}.warmup` : metric)?.seconds.get(second);
	const m = metrics[metric];
	// A bucket's edge may lie above the exact maximum.
	const most = m?.max ?? Number.POSITIVE_INFINITY;
	const value = (ns: number | null | undefined) => (ns == null ? null : Math.min(ns, most));
	return {
		count: values?.count ?? 0,
		p50: value(values?.p50),
		p99: value(values?.p99),
		max: m && m.count > 0 ? m.max : null,
	};
}

/** A multiple of `each`. */
function columnWidth(seconds: readonly number[], each: number): number {
	const [first, last] = [Math.min(0, smallestOf(seconds)), Math.max(0, largestOf(seconds))];
	let width = each;
	while (Math.floor(last / width) - Math.floor(first / width) + 1 > MOST_COLUMNS) width += each;
	return width;
}
