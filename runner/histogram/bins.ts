import type { Distribution } from "./distribution.ts";

/**
 * Latency bins of a heat map: of equal ratio, ten a decade. Bin k holds the values from `binStart(k)` up to, but without, `binStart(k + 1)`;
 * bin 0 begins at 1 ns, and a value of 0 counts in it too.
 */
export function binStart(bin: number): number {
	// Six digits: what is printed is exactly what was counted by.
	return Number((10 ** (bin / PER_DECADE)).toPrecision(6));
}

/** How many samples lie in each bin, by bin, ascending; only where there are some. */
export type BinCounts = Map<number, number>;

/**
 * The bins of a distribution. A histogram's bucket goes whole into the bin of its value, which is its upper edge as in every
 * percentile: near the start of a bin a sample may so stand one bin too high, by at most the 0.1 % of a bucket.
 */
export function binCounts(d: Distribution): BinCounts {
	const bins: BinCounts = new Map();
	let bin = 0;
	let before = 0;
	for (let i = 0; i < d.high.length; i++) {
		const value = d.high[i] as number;
		while (value >= startOf(bin + 1)) bin++;
		const upTo = d.upTo[i] as number;
		bins.set(bin, (bins.get(bin) ?? 0) + upTo - before);
		before = upTo;
	}
	return bins;
}

/** Adds `more` to `sum`. */
export function addBins(sum: BinCounts, more: BinCounts): void {
	for (const [bin, count] of more) sum.set(bin, (sum.get(bin) ?? 0) + count);
}

// --- internal ---

const PER_DECADE = 10;

/** An hour lies in bin 125. */
const STARTS = Array.from({ length: 140 }, (_, bin) => binStart(bin));

function startOf(bin: number): number {
	return STARTS[bin] ?? binStart(bin);
}
