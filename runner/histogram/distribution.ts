import { type Buckets, bucketRanges } from "./buckets.ts";

/** Non-empty buckets, ascending. Bucket i counts values from `low[i]` to `high[i]` ns, both included; `upTo[i]` adds those below. */
export interface Distribution {
	readonly count: number;
	readonly low: readonly number[];
	readonly high: readonly number[];
	readonly upTo: readonly number[];
}

export const EMPTY: Distribution = { count: 0, low: [], high: [], upTo: [] };

export function distribution(buckets: Buckets): Distribution {
	const low: number[] = [];
	const high: number[] = [];
	const upTo: number[] = [];
	let count = 0;
	const ranges = bucketRanges(buckets);
	for (let i = 0; i < buckets.indexes.length; i++) {
		count += buckets.counts[i] as number;
		const index = buckets.indexes[i] as number;
		const from = ranges.low(index);
		low.push(from);
		high.push(from + ranges.width(index) - 1);
		upTo.push(count);
	}
	return { count, low, high, upTo };
}

/** `rank` counts from 1, smallest first. */
export function bucketOfRank(d: Distribution, rank: number): number {
	if (rank < 1 || rank > d.count) throw new RangeError(`rank ${rank} of ${d.count} samples`);
	let from = 0;
	let to = d.upTo.length - 1;
	while (from < to) {
		const middle = (from + to) >> 1;
		if ((d.upTo[middle] ?? 0) >= rank) to = middle;
		else from = middle + 1;
	}
	return from;
}
