import { addBuckets, type Buckets, decodeBuckets } from "./buckets.ts";
import { type Distribution, distribution } from "./distribution.ts";
import type { LogLine } from "./hlog.ts";

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
 * written later.
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

// --- internal ---

function mergeTag(bySecond: Map<number, LogLine[]>): Merged {
	const all: Buckets[] = [];
	const seconds = new Map<number, Distribution>();
	for (const second of [...bySecond.keys()].sort((a, b) => a - b)) {
		const lines = bySecond.get(second) ?? [];
		const one = addBuckets(lines.map((line) => decodeBuckets(line.encoded)));
		all.push(one);
		seconds.set(second, distribution(one));
	}
	return { whole: distribution(addBuckets(all)), seconds };
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
	const found = map.get(key);
	if (found !== undefined) return found;
	const made = make();
	map.set(key, made);
	return made;
}
