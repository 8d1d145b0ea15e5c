export interface TrendPoint {
	readonly x: number;
	readonly y: number;
}

/**
 * The Theil-Sen line, whose slope (the median of all pairs) a few wild points do not bend. x ascends; null with too few for an interval.
 * Interval (Sen 1968): C = 1.96 * sqrt(Var S), S Kendall's statistic, Var S = (n(n-1)(2n+5) - sum over ties of t(t-1)(2t+5)) / 18; slopes
 * of rank (N-C)/2 to (N+C)/2 + 1. Thinned to 600 points: their slopes take 20 ms to compute, and neighbours at 10 Hz are nearly the same.
 */
export function trend(points: readonly TrendPoint[]) {
	const step = Math.ceil(points.length / MOST_POINTS);
	const some = step <= 1 ? points : points.filter((_, i) => i % step === 0);
	const n = some.length;
	const slopes = pairwise(some);
	const half = (Z * Math.sqrt(kendallVariance(some))) / 2;
	const low = Math.floor(slopes.length / 2 - half) - 1;
	const high = Math.ceil(slopes.length / 2 + half);
	if (n < 3 || low < 0 || high >= slopes.length) return null;
	const at = (rank: number) => slopes[rank] ?? Number.NaN;
	const middle = (slopes.length - 1) / 2;
	return {
		slope: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
		low: at(low),
		high: at(high),
	};
}

/** For an even number, the mean of the middle two. */
export function median(values: readonly number[]): number | null {
	const sorted = Float64Array.from(values).sort();
	const middle = (sorted.length - 1) / 2;
	const low = sorted[Math.floor(middle)];
	const high = sorted[Math.ceil(middle)];
	return low === undefined || high === undefined ? null : (low + high) / 2;
}

// --- internal ---

/** Normal distribution, 95 % two-sided. */
const Z = 1.959964;
const MOST_POINTS = 600;

/** Ascending; points at the same x have no slope. */
function pairwise(points: readonly TrendPoint[]): Float64Array {
	const slopes = new Float64Array((points.length * (points.length - 1)) / 2);
	let count = 0;
	for (const [i, a] of points.entries())
		for (let j = i + 1; j < points.length; j++) {
			const b = points[j] as TrendPoint;
			if (b.x !== a.x) slopes[count++] = (b.y - a.y) / (b.x - a.x);
		}
	return slopes.subarray(0, count).sort();
}

function kendallVariance(points: readonly TrendPoint[]): number {
	const ties = new Map<number, number>();
	for (const { y } of points) ties.set(y, (ties.get(y) ?? 0) + 1);
	const term = (n: number) => n * (n - 1) * (2 * n + 5);
	let sum = term(points.length);
	for (const t of ties.values()) sum -= term(t);
	return sum / 18;
}
