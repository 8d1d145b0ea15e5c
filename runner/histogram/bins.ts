import type { Distribution } from "./distribution.ts";

/** Heat map bins, ten a decade: bin k is [binStart(k), binStart(k + 1)) ns. Bin 0 counts 0 as well. */
export function binStart(bin: number): number {
	// Six digits: the printed edge is exactly the one that counts.
	return Number((10 ** (bin / PER_DECADE)).toPrecision(6));
}

/** Samples by bin, ascending, without empty bins. */
export type BinCounts = Map<number, number>;

/** A bucket counts whole at its upper edge, as in every percentile: a sample may be one bin too high, by at most 0.1 %. */
export function binCounts(d: Distribution): BinCounts {
	const bins: BinCounts = new Map();
	let bin = 0;
	let before = 0;
	for (let i = 0; i < d.high.length; i++) {
		const value = d.high[i] as number;
		while (value >= (STARTS[bin + 1] ?? binStart(bin + 1))) bin++;
		const upTo = d.upTo[i] as number;
		bins.set(bin, (bins.get(bin) ?? 0) + upTo - before);
		before = upTo;
	}
	return bins;
}

export function addBins(sum: BinCounts, more: BinCounts): void {
	for (const [bin, count] of more) sum.set(bin, (sum.get(bin) ?? 0) + count);
}

// --- internal ---

const PER_DECADE = 10;
/** An hour lies in bin 125. */
const STARTS = Array.from({ length: 140 }, (_, bin) => binStart(bin));
