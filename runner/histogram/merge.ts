import type { Metric } from "../plan/plan.ts";
import {
	addBuckets,
	BucketSum,
	type Buckets,
	bucketRanges,
	decodeBuckets,
} from "./buckets.ts";
import { type Distribution, distribution, EMPTY } from "./distribution.ts";
import type { LogLine } from "./hlog.ts";
import { rank, samplesForBound, valueAtRank } from "./percentiles.ts";

/**
 * One tag of a run, all clients together. An hour at 100 000/s has 3600 histograms per tag, each with a thousand buckets: no more is
 * kept of a second than its figures. What else is asked of seconds is read again.
 */
export interface Merged {
	readonly whole: Distribution;
	/** By second of intended time, counted from the window's start: 0 is its first, -1 the last of the warm-up. Of one metric only. */
	readonly seconds: ReadonlyMap<number, SecondFigures>;
	/** Of each stretch that was asked for what its whole seconds hold; none: nothing was recorded then. */
	readonly stretches: readonly Distribution[];
	/** Reads all lines again: by second, how many values it has, and how many are above each of `valuesNs`, upper edges of buckets. */
	above(valuesNs: readonly number[]): Map<number, SecondCounts>;
}

export interface SecondFigures {
	readonly count: number;
	/** ns, upper edge of the bucket; null: too few values. */
	readonly p50: number | null;
	readonly p99: number | null;
	readonly max: number | null;
}

export interface Wanted {
	/** The metric whose course over time is shown. */
	readonly course?: Metric;
	/** In whole seconds from the window's start, ns. */
	readonly stretches?: readonly {
		readonly fromNs: number;
		readonly toNs: number;
	}[];
}

export interface SecondCounts {
	count: number;
	readonly above: number[];
}

/**
 * Adds up the lines of all clients, tag by tag. Merging adds counts, which is right for clients of one run:
 * they share one schedule. Runs and repeats are never merged.
 *
 * `windowStartNs` is where second 0 begins, in ns since T0. Several lines of one second add up: stragglers are
 * written later. `lines` is gone through again by `above`.
 */
export function mergeLines(
	lines: Iterable<LogLine>,
	windowStartNs: number,
	{ course = "response", stretches = [] }: Wanted = {},
): Map<string, Merged> {
	const sums = new Map<string, BucketSum>();
	const parts = new Map<string, BucketSum[]>();
	const seconds = new Map<string, Map<number, Second>>();
	// Written to the millisecond, rounded either way.
	const secondOf = (line: LogLine) =>
		Math.floor(line.startS - windowStartNs / 1e9 + 0.001);
	for (const line of lines) {
		const buckets = decodeBuckets(line.encoded);
		getOrAdd(sums, line.tag, () => new BucketSum()).add(buckets);
		const second = secondOf(line);
		for (const [i, { fromNs, toNs }] of stretches.entries())
			if (second * 1e9 >= fromNs && second * 1e9 < toNs)
				getOrAdd(parts, line.tag, () => stretches.map(() => new BucketSum()))[
					i
				]?.add(buckets);
		if (line.tag !== course && line.tag !== `${course}.warmup`) continue;
		const bySecond = getOrAdd(seconds, line.tag, () => new Map());
		addSecond(bySecond, second, line, buckets);
	}
	return new Map(
		[...sums].map(([tag, sum]) => [
			tag,
			{
				whole: distribution(sum.buckets()),
				seconds: figures(seconds.get(tag) ?? new Map()),
				stretches: stretches.map((_, i) => {
					const part = parts.get(tag)?.[i];
					return part?.filled ? distribution(part.buckets()) : EMPTY;
				}),
				above: (values) => above(lines, tag, secondOf, values),
			},
		]),
	);
}

// --- internal ---

/** The histograms of one second. Almost always it is one: its figures are known when it is read, its bytes wait for another. */
interface Second {
	readonly encoded: Buffer[];
	figures: SecondFigures;
}

function addSecond(
	seconds: Map<number, Second>,
	at: number,
	line: LogLine,
	buckets: Buckets,
): void {
	const found = seconds.get(at);
	// Bytes of its own: a part of a line's text would keep the whole piece of the file alive.
	const bytes = Buffer.from(line.encoded, "base64");
	if (found === undefined)
		seconds.set(at, {
			encoded: [bytes],
			figures: figuresOf(distribution(buckets)),
		});
	else found.encoded.push(bytes);
}

function figures(seconds: Map<number, Second>): Map<number, SecondFigures> {
	return new Map(
		[...seconds]
			.sort(([a], [b]) => a - b)
			.map(([second, { encoded, figures }]) => [
				second,
				encoded.length === 1
					? figures
					: figuresOf(distribution(addBuckets(encoded.map(decodeBuckets)))),
			]),
	);
}

function figuresOf(d: Distribution): SecondFigures {
	const sample = { distribution: d, n: d.count, min: null, max: null };
	const value = (p: number) =>
		d.count === 0 || d.count < samplesForBound(p)
			? null
			: valueAtRank(sample, rank(d.count, p));
	return {
		count: d.count,
		p50: value(50),
		p99: value(99),
		max: d.high.at(-1) ?? null,
	};
}

function above(
	lines: Iterable<LogLine>,
	tag: string,
	secondOf: (line: LogLine) => number,
	valuesNs: readonly number[],
): Map<number, SecondCounts> {
	const bySecond = new Map<number, SecondCounts>();
	for (const line of lines) {
		if (line.tag !== tag) continue;
		const { indexes, counts, ...range } = decodeBuckets(line.encoded);
		const { low } = bucketRanges(range);
		const sum = getOrAdd(bySecond, secondOf(line), () => ({
			count: 0,
			above: valuesNs.map(() => 0),
		}));
		for (let i = 0; i < indexes.length; i++) {
			const count = counts[i] as number;
			const from = low(indexes[i] as number);
			sum.count += count;
			for (let k = 0; k < valuesNs.length; k++)
				if (from > (valuesNs[k] as number))
					sum.above[k] = (sum.above[k] as number) + count;
		}
	}
	return bySecond;
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
	const found = map.get(key);
	if (found !== undefined) return found;
	const made = make();
	map.set(key, made);
	return made;
}
