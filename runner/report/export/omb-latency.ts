import { EMPTY } from "../../histogram/distribution.ts";
import { curve } from "../../histogram/hgrm.ts";
import { rank, type Sample, samplesForBound, valueAtRank } from "../../histogram/percentiles.ts";
import type { Metric } from "../../model/plan.ts";
import { messagesBefore } from "../../plan/offset.ts";
import { samplesPerMessage } from "../../plan/samples.ts";
import { type Collected, collect } from "../../run/collect.ts";
import {
	type Facts,
	factsOf,
	hasMetric,
	sampleOf,
	sumsOf,
	UNKNOWN,
	windowOf,
} from "../../verdict/facts.ts";

/** By what the fields of the format call them. */
export const PERCENTILES = {
	"50pct": 50,
	"75pct": 75,
	"95pct": 95,
	"99pct": 99,
	"999pct": 99.9,
	"9999pct": 99.99,
};

/** [from, to), in seconds from the window's start. */
interface Interval {
	readonly from: number;
	readonly to: number;
}

/** A run read again, with the histograms of each interval. */
export interface Measured {
	readonly collected: Collected;
	readonly facts: Facts;
	readonly intervals: readonly Interval[];
}

/** Cuts the window of a run folder into intervals of 10 s; never throws for its histograms (`facts.unreadable`). */
export function measured(folder: string): Measured {
	const collected = collect(folder);
	const { startNs, endNs } = windowOf(collected);
	const seconds = (endNs - startNs) / 1e9;
	// As there, none is shorter: what is left over belongs to the last.
	const count = Math.max(1, Math.floor(seconds / INTERVAL_S));
	const intervals = Array.from({ length: count }, (_, i) => ({
		from: i * INTERVAL_S,
		to: i === count - 1 ? seconds : (i + 1) * INTERVAL_S,
	}));
	const phases = intervals.map(({ from, to }) => ({
		name: String(from),
		fromNs: from * 1e9,
		toNs: to * 1e9,
	}));
	const plan = { ...collected.plan, phases };
	const facts = factsOf({ ...collected, plan }, UNKNOWN);
	return { collected, facts, intervals };
}

/** ns. */
export interface Latency {
	/** Of each interval. */
	readonly means: readonly number[];
	readonly maxima: readonly number[];
	/** By percentile; null: not all intervals carry it. */
	readonly parts: ReadonlyMap<number, readonly number[] | null>;
	readonly mean: number;
	readonly max: number;
	/** By percentile; null: the samples do not carry it. */
	readonly whole: ReadonlyMap<number, number | null>;
	readonly quantiles: readonly (readonly [p: number, ns: number])[];
}

/** Of the whole window and of each interval. What was not measured (null: there is no such metric) is 0 without quantiles, as the format has it. */
export function latencyOf(
	facts: Facts,
	metric: Metric | null,
	intervals: readonly Interval[],
): Latency {
	if (metric === null || !hasMetric(facts, metric)) return nothing(intervals.length);
	const { timeoutNs } = facts.collected.plan;
	const parts = intervals.map((interval, i) => partOf(facts, metric, i, interval));
	const whole = { ...sampleOf(facts, metric), ...sumOf(facts, metric) };
	if (whole.n === 0) return nothing(intervals.length);
	const all = Object.values(PERCENTILES);
	return {
		means: parts.map((part) => meanOf(part, timeoutNs)),
		maxima: parts.map((part) => maxOf(part, timeoutNs)),
		parts: new Map(
			all.map((p) => {
				const values = parts.map((part) => numberOf(part, p, timeoutNs));
				return [p, values.every((v) => v !== null) ? values : null];
			}),
		),
		mean: meanOf(whole, timeoutNs),
		max: maxOf(whole, timeoutNs),
		whole: new Map(all.map((p) => [p, numberOf(whole, p, timeoutNs)])),
		quantiles: [
			...curve(whole).map(({ p, value }) => [p, value] as const),
			[100, maxOf(whole, timeoutNs)],
		],
	};
}

// --- internal ---

const INTERVAL_S = 10;

function nothing(intervals: number): Latency {
	const zeros = Array.from({ length: intervals }, () => 0);
	const all = Object.values(PERCENTILES);
	return {
		means: zeros,
		maxima: zeros,
		mean: 0,
		max: 0,
		quantiles: [],
		parts: new Map(all.map((p) => [p, zeros])),
		whole: new Map(all.map((p) => [p, 0])),
	};
}

/** With the exact sum of those that completed. */
type Part = Sample & { readonly sum: number };

function sumOf(facts: Facts, metric: Metric, span?: Interval) {
	return { sum: sumsOf(facts, metric, span).sum };
}

function partOf(facts: Facts, metric: Metric, i: number, interval: Interval): Part {
	const { plan } = facts.collected;
	const { schedule } = plan;
	const distribution = facts.merged.get(metric)?.phases[i] ?? EMPTY;
	const before = (seconds: number) => messagesBefore(schedule, schedule.warmupNs + seconds * 1e9);
	// Messages of a closed loop have no time at which they were due; lag is only of those that were sent.
	const owes = schedule.kind !== "closed" && metric !== "lag";
	const due = owes
		? (before(interval.to) - before(interval.from)) * samplesPerMessage(plan, metric)
		: 0;
	const sums = sumsOf(facts, metric, interval);
	const some = sums.count > 0;
	return {
		distribution,
		n: Math.max(due, distribution.count),
		min: some ? sums.min : null,
		max: some ? sums.max : null,
		sum: sums.sum,
	};
}

/** Of those that completed. */
function meanOf({ distribution, n, sum }: Part, timeoutNs: number): number {
	if (n === 0) return 0;
	return distribution.count === 0 ? timeoutNs : sum / distribution.count;
}

function maxOf({ distribution, n, max }: Part, timeoutNs: number): number {
	return Math.max(n > distribution.count ? timeoutNs : 0, max ?? 0);
}

/** Among those that never completed the timeout. */
function numberOf(part: Part, p: number, timeoutNs: number): number | null {
	if (part.n === 0 || part.n < samplesForBound(p)) return null;
	return valueAtRank(part, rank(part.n, p)) ?? timeoutNs;
}
