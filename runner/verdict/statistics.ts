import { binomialAtMost, incompleteBeta } from "../stats/binomial.ts";
import { sum } from "../stats/sum.ts";
import { supportOf, tail } from "../stats/support.ts";

/** The test of the count over a limit (reports/METHOD.md, "Is "p99 < 20ms" met?"). */

/** Error allowed for a PASS or a FAIL. */
const ALPHA = 0.05;
/** A PASS needs this many events (runs of intervals over the limit) or very few samples over it; with fewer, phi is weak. */
const ENOUGH_EVENTS = 10;

/** Messages of an interval of intended time. */
export interface Interval {
	readonly n: number;
	readonly over: number;
}

export type OverTest = ReturnType<typeof testOver>;
type Decided = "pass" | "fail" | "inconclusive";
/** "budget": spent twice while the corrected test is open. "samples": too few. "events": a pass that rests on few of them. */
type Reason = "test" | "budget" | "samples" | "events";

/** Judges "p_q <= L". The correction for clustering protects only PASS: overspending twice FAILs by the uncorrected test. */
export function testOver(intervals: readonly Interval[], p: number) {
	const n = sum(intervals.map((i) => i.n));
	const over = sum(intervals.map((i) => i.over));
	const share = tail(p);
	const phi = clustering(intervals);
	const lengths = events(intervals);
	const result = (verdict: Decided, reason: Reason) => ({
		verdict,
		reason,
		n,
		over,
		allowed: n * share,
		/** The samples count as n / phi. */
		phi,
		/** Runs of intervals over the limit; the longest in intervals. */
		events: lengths.length,
		longestEvent: lengths.reduce((a, b) => Math.max(a, b), 0),
		/** One run covers all intervals with intended messages. */
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

/** P(Bin(n, share) <= t) <= 5 %: at its limit, a system rarely has so few over it. */
export function passes(t: number, n: number, share: number): boolean {
	return binomialAtMost(t, n, share) <= ALPHA;
}

/** P(Bin(n, share) >= t) <= alpha: the lower Clopper-Pearson bound is above `share`. */
export function fails(t: number, n: number, share: number, alpha = ALPHA): boolean {
	return atLeast(t, n, share) <= alpha;
}

/** P(Bin(n, share) >= t); 1 for t <= 0. */
export function atLeast(t: number, n: number, share: number): number {
	if (t <= 0) return 1;
	if (t >= n) return share ** n;
	return incompleteBeta(share, t, n - t + 1);
}

/** Largest t that passes with n independent messages, if any. */
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
 * phi = max(1, phi_b), dispersion over batches of b intervals, for each b with at least 10 batches: phi_b = 1/(m-1) * sum((y_i - n_i*pi)^2
 * / (n_i*pi*(1-pi))). 1: samples over the limit come singly.
 */
export function clustering(intervals: readonly Interval[], batches: readonly number[] = BATCHES) {
	const n = sum(intervals.map((i) => i.n));
	const share = sum(intervals.map((i) => i.over)) / n;
	if (!(share > 0 && share < 1)) return 1;
	let phi = 1;
	// At 1/s nine of ten intervals are empty: without variance, they would dilute every stall.
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

/** Lengths of the runs of intervals over the limit; empty intervals neither end nor begin one. */
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
