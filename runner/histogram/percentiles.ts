import type { Percentile as InResult } from "../model/result.ts";
import { binomialAtMost } from "../stats/binomial.ts";
import { rank, type Support, samplesForBound, samplesForSupport, tail } from "../stats/support.ts";
import { bucketOfRank, type Distribution } from "./distribution.ts";

export { rank, type Support, samplesForBound, samplesForSupport, tail };

export type Percentile = Omit<InResult, "nEff">;

export interface Sample {
	readonly distribution: Distribution;
	/** Includes those that never completed, which count as the largest. */
	readonly n: number;
	/** Exact extremes, ns; null if only the buckets are known. */
	readonly min: number | null;
	readonly max: number | null;
}

/** `phi` >= 1: how far clustering thins out samples. It weakens support, but never hides a value (reports/METHOD.md, "Percentiles"). */
export function percentile(s: Sample, p: number, phi: number): Percentile {
	const needs = samplesForBound(p);
	const none = { value: null, low: null, high: null, beyondTimeout: false };
	if (s.n < needs || s.n === 0) return { p, ...none, support: "none", needs };

	const enough = s.n / phi >= samplesForSupport(p);
	const { low, high } = intervalRanks(s.n, p, phi);
	const value = valueAtRank(s, rank(s.n, p));
	return {
		p,
		value,
		low: valueAtRank(s, low, "low"),
		high: high === null ? null : valueAtRank(s, high),
		support: enough ? "ok" : "weak",
		beyondTimeout: value === null,
		needs,
	};
}

/** Edge of the rank's bucket, within the exact extremes; null for a rank among those that never completed. */
export function valueAtRank(s: Sample, rank: number, edge: "low" | "high" = "high"): number | null {
	if (rank > s.distribution.count) return null;
	const bucket = bucketOfRank(s.distribution, rank);
	return edge === "low"
		? Math.max(s.distribution.low[bucket] ?? 0, s.min ?? 0)
		: Math.min(s.distribution.high[bucket] ?? 0, s.max ?? Number.POSITIVE_INFINITY);
}

/**
 * Ranks [N - b, N - a] of the distribution-free 95 % interval: with Y ~ Bin(n, 1-q) and n' = n / phi, a = max{i : P(Y <= i) <= 0.025},
 * b = min{i : P(Y <= i) >= 0.975}, scaled back by phi. `high` is null if even a = 0 is too much.
 */
export function intervalRanks(n: number, p: number, phi: number) {
	const effective = n / phi;
	const above = tail(p);
	const atMost = (i: number) => binomialAtMost(i, effective, above);
	const b = firstWhere(effective, (i) => atMost(i) >= 0.975);
	const a = firstWhere(effective, (i) => atMost(i) > 0.025) - 1;
	// With very few independent samples b is 0, or a scaled up is above k: the interval still holds the value itself.
	const value = rank(n, p);
	return {
		low: Math.min(value, Math.max(1, n - Math.ceil(phi * b))),
		high: a < 0 ? null : Math.max(value, n - Math.floor(phi * a)),
	};
}

// --- internal ---

/** Smallest integer i in [0, n] for which the monotone `holds` is true, else ceil(n). */
function firstWhere(n: number, holds: (i: number) => boolean): number {
	let from = 0;
	let to = Math.ceil(n);
	while (from < to) {
		const middle = Math.floor((from + to) / 2);
		if (holds(middle)) to = middle;
		else from = middle + 1;
	}
	return from;
}
