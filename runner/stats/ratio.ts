/** How much larger b is than a: the median ratio with its interval. */
export interface Ratio {
	/** 1.1: b is 10 % larger. Infinity: most of a is 0, and b is not. */
	readonly ratio: number;
	/** Null with too few runs for a 95 % interval. */
	readonly low: number | null;
	readonly high: number | null;
	/** Exact confidence of the interval, at least 0.95. */
	readonly confidence: number | null;
}

/**
 * Hodges-Lehmann over the ratios of every b to every a: their median, and an interval of k-th smallest to k-th largest, k from the exact
 * null distribution of the rank-sum test. Assumes only that the same work scatters alike on both sides; ties widen the interval. Zeros keep
 * their order: 0 to 0 is 1, something to 0 Infinity, 0 to something 0. Null if a side is empty.
 */
export function ratioOf(a: readonly number[], b: readonly number[]): Ratio | null {
	const ratios = a
		.flatMap((x) => b.map((y) => (x === y ? 1 : y / x)))
		.sort((x, y) => (x < y ? -1 : x > y ? 1 : 0));
	const middle = medianOf(ratios);
	if (middle === null) return null;
	const rank = intervalRank(a.length, b.length);
	if (rank === null) return { ratio: middle, low: null, high: null, confidence: null };
	return {
		ratio: middle,
		low: ratios[rank.k - 1] as number,
		high: ratios[ratios.length - rank.k] as number,
		confidence: rank.confidence,
	};
}

/** The largest k with at least 95 %, if any; below three runs on a side, one odd run would decide. */
export function intervalRank(
	n: number,
	m: number,
): { readonly k: number; readonly confidence: number } | null {
	if (Math.min(n, m) < FEWEST) return null;
	const key = n < m ? `${n},${m}` : `${m},${n}`;
	const known = ranks.get(key);
	if (known !== undefined) return known;
	const rank = n * m <= EXACT ? exactRank(n, m) : normalRank(n, m);
	ranks.set(key, rank);
	return rank;
}

/** For an even number, the geometric mean of the middle two. */
export function medianOf(values: readonly number[]): number | null {
	const sorted = [...values].sort((x, y) => x - y);
	const high = sorted[Math.floor(sorted.length / 2)];
	const low = sorted[Math.floor((sorted.length - 1) / 2)];
	if (low === undefined || high === undefined) return null;
	if (low === high) return low;
	return Math.sqrt(low) * Math.sqrt(high);
}

// --- internal ---

const ALPHA = 0.05;
const FEWEST = 3;
/** 50 + 50 runs; beyond that the normal curve gives the same ranks. */
const EXACT = 2500;
const ranks = new Map<string, ReturnType<typeof intervalRank>>();

/** P(U <= k - 1) of the Mann-Whitney statistic: at most 2.5 % may lie below the k-th ratio. */
function exactRank(n: number, m: number): ReturnType<typeof intervalRank> {
	const counts = countsOfU(n, m);
	const all = counts.reduce((sum, count) => sum + count, 0);
	let below = 0;
	let rank: ReturnType<typeof intervalRank> = null;
	for (const [u, count] of counts.entries()) {
		below += count;
		// 0.05 itself is allowed; counts are exact up to 2^53.
		if ((2 * below) / all > ALPHA) break;
		rank = { k: u + 1, confidence: 1 - (2 * below) / all };
	}
	return rank;
}

/** Orders of n + m runs with u inverted pairs, u = 0 to n * m: c(n, m, u) = c(n - 1, m, u - m) + c(n, m - 1, u). */
function countsOfU(n: number, m: number): number[] {
	let row = Array.from({ length: m + 1 }, () => [1]);
	for (let i = 1; i <= n; i++) {
		const next: number[][] = [[1]];
		for (let j = 1; j <= m; j++) {
			const with_ = row[j] as number[];
			const without = next[j - 1] as number[];
			next.push(
				Array.from({ length: i * j + 1 }, (_, u) => (with_[u - j] ?? 0) + (without[u] ?? 0)),
			);
		}
		row = next;
	}
	return row[m] as number[];
}

/** The normal approximation, rounded to the wider interval. */
function normalRank(n: number, m: number): ReturnType<typeof intervalRank> {
	const spread = Math.sqrt((n * m * (n + m + 1)) / 12);
	const k = Math.floor((n * m) / 2 - 1.959964 * spread);
	return k < 1 ? null : { k, confidence: 1 - ALPHA };
}
