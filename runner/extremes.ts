/** -Infinity if empty. `Math.max(...values)` overflows the stack at some 120 000 values. */
export function largestOf(values: Iterable<number>): number {
	let largest = Number.NEGATIVE_INFINITY;
	for (const value of values) largest = Math.max(largest, value);
	return largest;
}

/** Infinity if empty. */
export function smallestOf(values: Iterable<number>): number {
	let smallest = Number.POSITIVE_INFINITY;
	for (const value of values) smallest = Math.min(smallest, value);
	return smallest;
}
