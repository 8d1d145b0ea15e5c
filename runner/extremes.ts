/** The largest of any number of values; -Infinity of none. `Math.max(...values)` overflows the stack at some 120 000 of them. */
export function largestOf(values: Iterable<number>): number {
	let largest = Number.NEGATIVE_INFINITY;
	for (const value of values) largest = Math.max(largest, value);
	return largest;
}

/** The smallest of any number of values; Infinity of none. */
export function smallestOf(values: Iterable<number>): number {
	let smallest = Number.POSITIVE_INFINITY;
	for (const value of values) smallest = Math.min(smallest, value);
	return smallest;
}
