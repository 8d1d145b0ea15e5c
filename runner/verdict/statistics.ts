import { binomialAtMost, incompleteBeta } from "../stats/binomial.ts";
import { sum } from "../stats/sum.ts";
import { supportOf, tail } from "../stats/support.ts";

/** The test of the count over a limit (reports/README.md, "Is "p99 < 20ms" met?"). */

/** Error that a PASS or a FAIL may have: 5 %. */
const ALPHA = 0.05;

/** A PASS rests on at least so many events (runs of intervals with something over the limit), or on very few samples over it: phi of fewer is weak itself. */
const ENOUGH_EVENTS = 10;

/** Messages intended and over the limit, by interval of intended time. */
export interface Interval {
	readonly n: number;
	readonly over: number;
}

export interface OverTest {
	readonly verdict: "pass" | "fail" | "inconclusive";
	/**
	 * Why: "budget" = FAIL though the corrected test is undecided, as the budget was spent twice; "samples" = so few
	 * messages do not carry the percentile, so the report does not print it either; "events" = the corrected test passes, but rests on a few of them; "test" = the test itself.
	 */
	readonly reason: "test" | "budget" | "samples" | "events";
	readonly n: number;
	readonly over: number;
	/** n * (1 - q): so many may be over the limit. */
	readonly allowed: number;
	/** Clustering: the samples count as n / phi. */
	readonly phi: number;
	/** Runs of intervals with something over the limit, and the longest of them, in intervals. */
	readonly events: number;
	readonly longestEvent: number;
	/** One run, from the first interval in which something was intended to the last. */
	readonly throughout: boolean;
}

/**
 * Judges "p_q <= L" by the binomial test on the messages over L, corrected for clustering. Correction protects PASS
 * only: FAIL also when the uncorrected test fails and the budget is spent at least twice.
 */
export function testOver(intervals: readonly Interval[], p: number): OverTest {
	const n = sum(intervals.map((i) => i.n));
	const over = sum(intervals.map((i) => i.over));
	const share = tail(p);
	const phi = clustering(intervals);
	const lengths = events(intervals);
	const result = (verdict: OverTest["verdict"], reason: OverTest["reason"]): OverTest => ({
		verdict,
		reason,
		n,
		over,
		allowed: n * share,
		phi,
		events: lengths.length,
		longestEvent: lengths.reduce((a, b) => Math.max(a, b), 0),
		throughout: intervals.every((i) => i.n === 0 || i.over > 0),
	});
	if (n === 0) return result("inconclusive", "samples");
	if (fails(over / phi, n / phi, share)) return result("fail", "test");
	if (fails(over, n, share) && over >= 2 * n * share) return result("fail", "budget");
	if (supportOf(n, p) === "none") return result("inconclusive", "samples");
	if (!passes(over / phi, n / phi, share)) return result("inconclusive", "test");
	const restsOnFewEvents =
		lengths.length < ENOUGH_EVENTS && over > 1 && over >= (passLimit(n, share) ?? 0) / 2;
	return restsOnFewEvents ? result("inconclusive", "events") : result("pass", "test");
}

/** True when P(Bin(n, share) <= t) <= 5 %: so few over the limit would be a rare luck for a system exactly at it. */
export function passes(t: number, n: number, share: number): boolean {
	return binomialAtMost(t, n, share) <= ALPHA;
}

/** True when P(Bin(n, share) >= t) <= 5 %: the lower Clopper-Pearson bound lies above `share`. */
export function fails(t: number, n: number, share: number, alpha = ALPHA): boolean {
	return atLeast(t, n, share) <= alpha;
}

/** P(Bin(n, share) >= t): how rarely a system exactly at its limit shows so many. 1 for t <= 0. */
export function atLeast(t: number, n: number, share: number): number {
	if (t <= 0) return 1;
	if (t >= n) return share ** n;
	return incompleteBeta(share, t, n - t + 1);
}

/** Largest t that passes with n independent messages; null: not even 0 does. */
export function passLimit(n: number, share: number): number | null {
	if (!passes(0, n, share)) return null;
	let from = 0;
	let to = Math.ceil(n * share);
	while (from < to) {
		const middle = Math.ceil((from + to) / 2);
		if (passes(middle, n, share)) from = middle;
		else to = middle - 1;
	}
	return from;
}

/**
 * phi = max(1, phi_b), the index of dispersion over batches of b intervals, of those b with at least 10 batches:
 * phi_b = 1/(m-1) * sum((y_i - n_i*pi)^2 / (n_i*pi*(1-pi))). 1: samples over the limit come singly.
 */
export function clustering(
	intervals: readonly Interval[],
	batches: readonly number[] = BATCHES,
): number {
	const n = sum(intervals.map((i) => i.n));
	const share = sum(intervals.map((i) => i.over)) / n;
	if (!(share > 0 && share < 1)) return 1;
	let phi = 1;
	// At 1/s nine of ten intervals of 100 ms are empty: as batches without variance they would dilute every stall.
	const filled = intervals.filter((i) => i.n > 0);
	for (const size of batches) {
		const batched = batch(filled, size);
		if (batched.length < MIN_BATCHES) continue;
		const dispersion = sum(
			batched.map((i) => (i.over - i.n * share) ** 2 / (i.n * share * (1 - share))),
		);
		phi = Math.max(phi, dispersion / (batched.length - 1));
	}
	return phi;
}

/**
 * Lengths, in intervals of time, of the runs of intervals with something over the limit. Intervals in which nothing was intended
 * neither end a run nor begin one.
 */
export function events(intervals: readonly Interval[]): number[] {
	const lengths: number[] = [];
	let first: number | null = null;
	let last = 0;
	for (const [i, { n, over }] of intervals.entries()) {
		if (over > 0) {
			first ??= i;
			last = i;
		} else if (first !== null && n > 0) {
			lengths.push(last - first + 1);
			first = null;
		}
	}
	return first === null ? lengths : [...lengths, last - first + 1];
}

// --- internal ---

const BATCHES = [1, 2, 5, 10, 20, 50];
const MIN_BATCHES = 10;

function batch(intervals: readonly Interval[], size: number): Interval[] {
	const batches: Interval[] = [];
	for (let i = 0; i < intervals.length; i += size) {
		const part = intervals.slice(i, i + size);
		batches.push({ n: sum(part.map((p) => p.n)), over: sum(part.map((p) => p.over)) });
	}
	return batches;
}
