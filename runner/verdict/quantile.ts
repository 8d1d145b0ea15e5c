import { largestOf } from "../extremes.ts";
import type { Merged } from "../histogram/merge.ts";
import {
	type Percentile,
	percentile,
	rank,
	type Sample,
	tail,
	valueAtRank,
} from "../histogram/percentiles.ts";
import { type Metric, type Plan, subjectOf } from "../model/plan.ts";
import { limitIndex, samplesPerMessage } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import { allOf, type Facts, sampleOf, windowOf } from "./facts.ts";
import {
	intendedBySecond,
	limitIntervals,
	PER_SECOND,
	receivedTwice,
	withCensored,
} from "./intervals.ts";
import { clustering, type Interval, type OverTest, testOver } from "./statistics.ts";

export const USUAL = [50, 90, 99, 99.9, 99.99, 99.999, 99.9999];

export function percentilesOf({ sla, baselineSla }: Plan, metric: Metric): number[] {
	const named = [...sla, ...baselineSla.map(subjectOf)].flatMap((s) =>
		s.kind === "percentile" && s.metric === metric ? [s.percentile] : [],
	);
	return [...new Set([...USUAL, ...named])].sort((a, b) => a - b);
}

/** Whole seconds of the window: [from, to). */
interface Span {
	readonly from: number;
	readonly to: number;
	/** Messages due by second, if only a part of all is meant. */
	readonly owed?: ReadonlyMap<number, number> | undefined;
}

/** The interval is corrected for clustering above the percentile; if that is unknown, there is none and support is weak at most. */
export function percentileOf(
	facts: Facts,
	metric: Metric,
	p: number,
	sample: Sample = sampleOf(facts, metric),
	span?: Span,
): Percentile & { readonly nEff: number | null } {
	const independent = percentile(sample, p, 1);
	if (independent.support === "none") return { ...independent, nEff: null };
	const phi = clusteringAbove(facts, metric, sample, independent, span);
	if (phi === null) return { ...independent, low: null, high: null, support: "weak", nEff: null };
	const whole = { ...percentile(sample, p, phi), nEff: sample.n / phi };
	return span === undefined ? judged(whole, facts, metric) : whole;
}

/** Adjusts the interval to a gate's verdict: the exact count decides, and buckets and whole seconds could contradict it. */
export function agreeing<P extends Pick<Percentile, "value" | "low" | "high">>(
	percentile: P,
	limitNs: number,
	verdict: OverTest["verdict"],
): P {
	const { value, low, high } = percentile;
	if (value === null || low === null) return percentile;
	if (verdict === "pass")
		return { ...percentile, high: Math.max(value, Math.min(high ?? limitNs, limitNs)) };
	if (verdict === "fail") return { ...percentile, low: Math.min(value, Math.max(low, limitNs)) };
	return {
		...percentile,
		low: Math.min(low, limitNs),
		high: high === null ? null : Math.max(high, limitNs),
	};
}

// --- internal ---

/** A gate of this percentile overrides its interval. */
function judged<P extends Percentile>(percentile: P, { collected }: Facts, metric: Metric): P {
	const { plan, state } = collected;
	if (state !== "complete") return percentile;
	return plan.sla.reduce((one, sla) => {
		if (sla.kind !== "percentile" || sla.metric !== metric) return one;
		const k = limitIndex(plan, sla);
		if (sla.percentile !== percentile.p || k < 0) return one;
		const { verdict } = testOver(limitIntervals(collected, k), percentile.p);
		return agreeing(one, sla.limitNs, verdict);
	}, percentile);
}

/** Fewer one-second batches are too few to measure clustering. */
const MIN_SECONDS = 10;

/** phi above the percentile, by second. Below 10 seconds the worst by 100 ms, from the limits as deep in the tail. Null if unknown. */
function clusteringAbove(
	facts: Facts,
	metric: Metric,
	sample: Sample,
	{ p, value }: Percentile,
	span: Span | undefined,
): number | null {
	const { collected } = facts;
	const { plan, state } = collected;
	const merged = facts.merged.get(metric);
	const { startNs, endNs } = windowOf(collected);
	const { from, to } = span ?? { from: 0, to: Math.floor((endNs - startNs) / 1e9) };
	const { intervalSeconds: each = 1 } = plan;
	if (merged && to - from >= MIN_SECONDS * each) {
		// A percentile without a value lies among incomplete messages: only these are above it.
		const countsOf = aboveBySecond(plan, merged, metric, sample, value ?? Infinity);
		const perMessage = samplesPerMessage(plan, metric);
		// Empty for a closed load.
		const intended = span?.owed ?? intendedBySecond(plan);
		const missing = sample.n - sample.distribution.count;
		const counted: Interval[] = [];
		for (let second = from; second < to; second += each) {
			const { count, above } = countsOf(second);
			const owed = (intended.get(second) ?? 0) * perMessage;
			const n = missing > 0 && owed > 0 ? owed : count;
			// More samples than due: some are second receipts, and which is unknown.
			counted.push({ n, over: Math.min(n, above + Math.max(0, n - count)) });
		}
		// The intended time is unknown for samples that second receipts hide, or that a closed load misses.
		const closed = plan.schedule.kind === "closed";
		const hidden = closed ? missing : Math.min(missing, receivedTwice(collected, metric));
		return clustering(withCensored(counted, hidden));
	}
	if (state !== "complete") return null;
	const known = plan.limits.flatMap((limit, k) => {
		if (limit.metric !== metric) return [];
		const [first, end] = [(from / each) * PER_SECOND, span && (to / each) * PER_SECOND];
		const intervals = limitIntervals(collected, k).slice(first, end);
		const [n, over] = [sum(intervals.map((i) => i.n)), sum(intervals.map((i) => i.over))];
		// Stalls over a limit are no evidence about a percentile that three times as many samples exceed.
		return tail(p) * n <= 3 * over ? [clustering(intervals)] : [];
	});
	return known.length === 0 ? null : largestOf(known);
}

const READ = new WeakMap<Merged, { values: number[]; bySecond: ReturnType<Merged["above"]> }>();

/** Counts per second. Reading takes as long as merging, so all percentiles of the window share one pass, its phases another. */
function aboveBySecond(plan: Plan, merged: Merged, metric: Metric, sample: Sample, value: number) {
	let read = READ.get(merged);
	if (!read?.values.includes(value)) {
		// Hours have no intervals: `phases` are theirs in a plan without.
		const wanted = [sample, ...merged.phases.slice(0, plan.phases.length).map(allOf)]
			.filter((s) => s.n > 0)
			.flatMap((s) =>
				percentilesOf(plan, metric).map((p) => valueAtRank(s, rank(s.n, p)) ?? value),
			);
		const values = [...new Set([...(read?.values ?? []), ...wanted, value, Infinity])];
		read = { values, bySecond: merged.above(values) };
		READ.set(merged, read);
	}
	const { values, bySecond } = read;
	const k = values.indexOf(value);
	return (second: number) => {
		const counts = bySecond.get(second);
		return { count: counts?.count ?? 0, above: counts?.above[k] ?? 0 };
	};
}
