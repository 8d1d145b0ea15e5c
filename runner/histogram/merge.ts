import { build, type JsHistogram } from "hdr-histogram-js";
import { type Distribution, distribution } from "./distribution.ts";
import { decode, type LogLine } from "./hlog.ts";

/** One tag of a run, all clients together. */
export interface Merged {
	readonly whole: Distribution;
	/** By second of intended time, counted from the window's start: 0 is its first, -1 the last of the warm-up. */
	readonly seconds: ReadonlyMap<number, Distribution>;
}

/**
 * Adds up the lines of all clients, tag by tag. Merging adds counts, which is right for clients of one run:
 * they share one schedule. Runs and repeats are never merged.
 *
 * `windowStartNs` is where second 0 begins, in ns since T0. Several lines of one second add up: stragglers are
 * written later. Works second by second, so that only a few full histograms are in memory.
 */
export function mergeLines(
	lines: readonly LogLine[],
	windowStartNs: number,
): Map<string, Merged> {
	const tags = new Map<string, Map<number, LogLine[]>>();
	for (const line of lines) {
		const seconds = getOrAdd(tags, line.tag, () => new Map());
		// Written to the millisecond, rounded either way.
		const second = Math.floor(line.startS - windowStartNs / 1e9 + 0.001);
		getOrAdd(seconds, second, () => [] as LogLine[]).push(line);
	}
	return new Map([...tags].map(([tag, seconds]) => [tag, mergeTag(seconds)]));
}

/** Adds the counts of `source` to `target`. Only histograms of one range and precision can be added. */
export function add(target: JsHistogram, source: JsHistogram): void {
	for (const key of [
		"lowestDiscernibleValue",
		"highestTrackableValue",
		"numberOfSignificantValueDigits",
	] as const)
		if (target[key] !== source[key])
			throw new Error(
				`cannot merge histograms with ${key} ${target[key]} and ${source[key]}`,
			);
	target.add(source);
}

/** The range and precision in which the recorder counts: 1 ns to 1 h, three digits. 64-bit buckets. */
export function emptyHistogram(): JsHistogram {
	return build({
		bitBucketSize: 64,
		lowestDiscernibleValue: 1,
		highestTrackableValue: 3_600_000_000_000,
		numberOfSignificantValueDigits: 3,
	}) as JsHistogram;
}

// --- internal ---

function mergeTag(bySecond: Map<number, LogLine[]>): Merged {
	const whole = emptyHistogram();
	const seconds = new Map<number, Distribution>();
	for (const second of [...bySecond.keys()].sort((a, b) => a - b)) {
		const [first, ...rest] = bySecond.get(second) ?? [];
		if (first === undefined) continue;
		const one = decode(first);
		for (const line of rest) add(one, decode(line));
		add(whole, one);
		seconds.set(second, distribution(one));
	}
	return { whole: distribution(whole), seconds };
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
	const found = map.get(key);
	if (found !== undefined) return found;
	const made = make();
	map.set(key, made);
	return made;
}
