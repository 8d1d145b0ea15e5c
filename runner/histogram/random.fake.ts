import type { JsHistogram } from "hdr-histogram-js";
import { distribution } from "./distribution.ts";
import { emptyHistogram } from "./merge.ts";
import type { Sample } from "./percentiles.ts";

/** For tests: random numbers that are the same every time (mulberry32). */
export function seeded(seed: number): () => number {
	let a = seed;
	return () => {
		a = (a + 0x6d2b79f5) | 0;
		let t = Math.imul(a ^ (a >>> 15), a | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

/** For tests: `n` latencies from 1 ns to 1 h, evenly over the orders of magnitude. */
export function latencies(n: number, random: () => number): number[] {
	return Array.from({ length: n }, () =>
		Math.floor(Math.exp(random() * Math.log(3.6e12))),
	);
}

/** For tests: a histogram of the values, as the recorder makes it. */
export function histogramOf(values: readonly number[]): JsHistogram {
	const histogram = emptyHistogram();
	for (const value of values) histogram.recordValue(value);
	return histogram;
}

/** For tests: the values as a sample, with `censored` more that never completed. */
export function sampleOfValues(
	values: readonly number[],
	censored = 0,
): Sample {
	return {
		distribution: distribution(histogramOf(values)),
		n: values.length + censored,
		min: Math.min(...values),
		max: Math.max(...values),
	};
}
