import { build, encodeIntoCompressedBase64, type JsHistogram } from "hdr-histogram-js";
import { type Buckets, decodeBuckets } from "./buckets.ts";
import { distribution } from "./distribution.ts";
import { intervals, type LogLine } from "./hlog.ts";
import type { Sample } from "./percentiles.ts";

/** For tests: reproducible random numbers (mulberry32). */
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
	return Array.from({ length: n }, () => Math.floor(Math.exp(random() * Math.log(3.6e12))));
}

/** For tests: the recorder's range and precision, 1 ns to 1 h and three digits. 32-bit buckets would wrap silently above 2^31. */
export function emptyHistogram(): JsHistogram {
	return build({
		bitBucketSize: 64,
		lowestDiscernibleValue: 1,
		highestTrackableValue: 3_600_000_000_000,
		numberOfSignificantValueDigits: 3,
	}) as JsHistogram;
}

export function bucketsOf(histogram: JsHistogram): Buckets {
	return decodeBuckets(encodeIntoCompressedBase64(histogram));
}

export function histogramOf(values: readonly number[]): JsHistogram {
	const histogram = emptyHistogram();
	for (const value of values) histogram.recordValue(value);
	return histogram;
}

/** For tests: the values as a sample, with `censored` more that never completed. */
export function sampleOfValues(values: readonly number[], censored = 0): Sample {
	return {
		distribution: distribution(bucketsOf(histogramOf(values))),
		n: values.length + censored,
		min: Math.min(...values),
		max: Math.max(...values),
	};
}

/** For tests: the interval lines of an .hlog's text. */
export function readLog(text: string): LogLine[] {
	return [...intervals([Buffer.from(text)])];
}
