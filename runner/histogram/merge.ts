import type { Metric } from "../model/plan.ts";
import { addBins, type BinCounts, binCounts } from "./bins.ts";
import { addBuckets, BucketSum, type Buckets, bucketRanges, decodeBuckets } from "./buckets.ts";
import { type Distribution, distribution, EMPTY } from "./distribution.ts";
import type { LogLine } from "./hlog.ts";
import { rank, samplesForBound, valueAtRank } from "./percentiles.ts";

/** One tag of a run, all clients together. Only figures of seconds stay: an hour has 3600 histograms of a thousand buckets. */
export interface Merged {
	readonly whole: Distribution;
	readonly maxNs: number;
	/** By second from the window's start, -1 is the last of the warm-up. Only for `course` and `beside`. */
	readonly seconds: ReadonlyMap<number, SecondFigures>;
	/** By the same seconds, only for `course`. */
	readonly bins: ReadonlyMap<number, BinCounts>;
	/** One for each phase asked for, from its whole seconds. */
	readonly phases: readonly Distribution[];
	/** Counts by second, in all and above `valuesNs`, which are upper edges of buckets. Reads all lines again. */
	above(valuesNs: readonly number[]): Map<number, SecondCounts>;
}

type SecondFigures = ReturnType<typeof figuresOf>;

interface Wanted {
	readonly course?: Metric;
	readonly beside?: readonly Metric[];
	/** Samples of `course` that are due in a second: those that never came count as the largest. */
	readonly due?: (second: number) => number;
	/** In whole seconds from the window's start, ns. */
	readonly phases?: readonly { readonly fromNs: number; readonly toNs: number }[];
	/** The metric that has phases, because many of them take much memory. Default: all. */
	readonly phasesOf?: Metric | undefined;
}

interface SecondCounts {
	count: number;
	readonly above: number[];
}

/**
 * Adds up counts, which is right for clients of one run because they share a schedule; runs and repeats are never merged. Second 0 begins
 * at `windowStartNs` (ns since T0). `above` goes through `lines` again.
 */
export function mergeLines(
	lines: Iterable<LogLine>,
	windowStartNs: number,
	{ course = "response", beside = [], phases = [], phasesOf, due }: Wanted = {},
): Map<string, Merged> {
	const sums = new Map<string, BucketSum>();
	const most = new Map<string, number>();
	const parts = new Map<string, BucketSum[]>();
	const seconds = new Map<string, Map<number, Second>>();
	const bins = new Map<string, Map<number, BinCounts>>();
	const scopes = (metric: Metric) => [metric, `${metric}.warmup`];
	const courses = new Set(scopes(course));
	const shown = new Set([course, ...beside].flatMap(scopes));
	// Start times are rounded to the millisecond, either way.
	const secondOf = (line: LogLine) => Math.floor(line.startS - windowStartNs / 1e9 + 0.001);
	for (const line of lines) {
		const buckets = decodeBuckets(line.encoded);
		getOrAdd(sums, line.tag, () => new BucketSum()).add(buckets);
		most.set(line.tag, Math.max(most.get(line.tag) ?? 0, line.maxNs));
		const second = secondOf(line);
		for (const [i, { fromNs, toNs }] of (line.tag === (phasesOf ?? line.tag)
			? phases
			: []
		).entries())
			if (second * 1e9 >= fromNs && second * 1e9 < toNs)
				getOrAdd(parts, line.tag, () => phases.map(() => new BucketSum()))[i]?.add(buckets);
		if (!shown.has(line.tag)) continue;
		const merged = distribution(buckets);
		const bySecond = getOrAdd(seconds, line.tag, () => new Map<number, Second>());
		const owed = (courses.has(line.tag) ? due?.(second) : undefined) ?? 0;
		// A copy: a part of the line's text would keep the whole piece of the file alive.
		const bytes = Buffer.from(line.encoded, "base64");
		const known = bySecond.get(second);
		if (known !== undefined) known.encoded.push(bytes);
		else {
			const own = figuresOf(merged, owed);
			bySecond.set(second, { encoded: [bytes], owed, figures: own });
		}
		if (!courses.has(line.tag)) continue;
		const binsOf = getOrAdd(bins, line.tag, () => new Map());
		addBins(
			getOrAdd(binsOf, second, () => new Map()),
			binCounts(merged),
		);
	}
	return new Map(
		[...sums].map(([tag, sum]) => [
			tag,
			{
				whole: distribution(sum.buckets()),
				maxNs: most.get(tag) ?? 0,
				seconds: figures(seconds.get(tag) ?? new Map()),
				bins: bins.get(tag) ?? new Map(),
				phases: phases.map((_, i) => {
					const part = parts.get(tag)?.[i];
					return part?.filled ? distribution(part.buckets()) : EMPTY;
				}),
				above: (values) => above(readAgain(lines, tag, secondOf), values),
			},
		]),
	);
}

/**
 * In ns, upper edges of buckets; null with too few values, or among samples that never came. `owed`: samples that are due, of which those
 * that never came count as the largest.
 */
export function figuresOf(d: Distribution, owed: number) {
	const n = Math.max(d.count, owed);
	const sample = { distribution: d, n, min: null, max: null };
	const value = (p: number) =>
		d.count === 0 || n < samplesForBound(p) ? null : valueAtRank(sample, rank(n, p));
	return { count: d.count, p50: value(50), p99: value(99), max: d.high.at(-1) ?? null };
}

// --- internal ---

/** Almost always one histogram, so its figures are made at once. Its bytes are kept for another one, from stragglers. */
interface Second {
	readonly encoded: Buffer[];
	readonly owed: number;
	readonly figures: SecondFigures;
}

function figures(seconds: Map<number, Second>): Map<number, SecondFigures> {
	return new Map(
		[...seconds]
			.sort(([a], [b]) => a - b)
			.map(([second, { encoded, owed, figures }]) => [
				second,
				encoded.length === 1
					? figures
					: figuresOf(distribution(addBuckets(encoded.map(decodeBuckets))), owed),
			]),
	);
}

function* readAgain(
	lines: Iterable<LogLine>,
	tag: string,
	secondOf: (line: LogLine) => number,
): Generator<readonly [number, Buckets]> {
	for (const line of lines)
		if (line.tag === tag) yield [secondOf(line), decodeBuckets(line.encoded)];
}

function above(
	histograms: Iterable<readonly [second: number, buckets: Buckets]>,
	valuesNs: readonly number[],
): Map<number, SecondCounts> {
	const bySecond = new Map<number, SecondCounts>();
	const ascending = [...valuesNs.entries()].sort(([, a], [, b]) => a - b);
	for (const [second, { indexes, counts, ...range }] of histograms) {
		const { low } = bucketRanges(range);
		const sum = getOrAdd(bySecond, second, () => ({ count: 0, above: valuesNs.map(() => 0) }));
		// Buckets and values ascend: each is looked at once.
		let i = 0;
		let upTo = 0;
		let all = 0;
		for (let j = 0; j < counts.length; j++) all += counts[j] as number;
		sum.count += all;
		for (const [k, value] of ascending) {
			while (i < counts.length && low(indexes[i] as number) <= value) upTo += counts[i++] as number;
			sum.above[k] = (sum.above[k] as number) + all - upTo;
		}
	}
	return bySecond;
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
	const known = map.get(key);
	if (known !== undefined) return known;
	const made = make();
	map.set(key, made);
	return made;
}
