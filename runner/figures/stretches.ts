import type { Axis, Datum, Panel, Series, Span } from "../chart/figure.ts";
import { largestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import { rank } from "../histogram/percentiles.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { maximum } from "../result/select.ts";
import { show } from "../result/show.ts";
import { sum } from "../stats/sum.ts";
import { formatCount, formatDuration } from "../units.ts";
import { AXIS } from "./facts.ts";

/** Seconds of a run, joined to the stretches that a line has data for; and those in which messages were due that never completed. */

type Second = Run["series"]["seconds"][number];
type Tick = Run["series"]["ticks"][number];

/** A line of a panel: `place` is its dashes; the first one, 0, has the colour of the system, the others are grey. */
export type Row = readonly [key: string, name: string, place: number, data: readonly Datum[]];

export interface Rows extends Pick<Panel, "title" | "unit"> {
	readonly rows: readonly Row[];
	/** Left out: a value is the same all over its stretch. */
	readonly draw?: Series["draw"];
}

/** Whole seconds that one datum stands for. */
export function stretch({ series, window }: Run, most: number): number {
	const seconds = Math.max(series.seconds.length, Math.ceil(window.endNs / 1e9));
	// No shorter than what is recorded as one, and whole ones.
	const last = series.seconds.at(-1);
	const one = last ? secondsOf(last) : 1;
	return one * Math.max(1, Math.ceil(seconds / (one * most)));
}

/** Those of warm-up and window. */
export function ticksOf({ load, window, series }: Run): Tick[] {
	// The last second of a closed loop is begun, not full.
	const end =
		load.schedule.kind === "closed" ? Math.ceil(window.endNs / 1e9) : window.endNs / 1e9 + 1e-9;
	return series.ticks.filter((t) => t.at <= end);
}

/**
 * From the beginning of the warm-up to the end of the window; of a closed loop, which may last parts of a second, to the last of `seconds`
 * that there are data of.
 */
export function secondsAxis({ window, load }: Run, step: number, seconds: readonly number[]): Axis {
	const end = Math.max((window.endNs - window.startNs) / 1e9, 1e-3);
	const closed = load.schedule.kind === "closed";
	const to = closed ? Math.max(end, largestOf(seconds.map(Math.ceil))) : end;
	return { ...AXIS, scale: "seconds", title: "second", from: -window.startNs / 1e9, to, step };
}

/**
 * One datum of all values of each stretch of `size` seconds. `slot` says in which stretch a value lies; before the first after stretches
 * without any there is a gap.
 */
export function joinedBy<T>(
	values: readonly T[],
	{ slot: of, size }: { readonly slot: (value: T) => number; readonly size: number },
	datum: (part: readonly T[], slot: number) => Datum,
): Datum[] {
	return slotsOf(values, of).flatMap(([slot, part], i, all) => {
		const found = datum(part, slot);
		const before = all[i - 1]?.[0] ?? slot;
		return slot - before > 1 ? [{ x: rounded(found.x - size), y: null }, found] : [found];
	});
}

/** Position of the stretch that a second lies in, counted from the window's start. */
export function slotOf(second: number, size: number): number {
	return Math.floor(second / size + 1e-9);
}

/** The largest value of each stretch of `size` seconds, at its middle: never an average. `values` are [beginning of the second, value]. */
export function worst(
	values: readonly (readonly [second: number, value: number | null])[],
	size: number,
): Datum[] {
	return joinedBy(values, { slot: ([second]) => slotOf(second, size), size }, (part, slot) => ({
		x: middleOf(slot, size),
		y: most(part.map(([, value]) => value)),
	}));
}

/**
 * A percentile or the maximum by second of intended time; of a longer stretch the worst second. One that lies among those that never
 * completed is worse than any other, and a gap: the highest of those that completed would look like a calm second.
 */
export function worstLatency(run: Run, key: "p50" | "p99" | "max", size: number): Datum[] {
	const { seconds } = run.series;
	return joinedBy(seconds, { slot: ({ second }) => slotOf(second, size), size }, (part, slot) => {
		const x = middleOf(slot, size);
		return part.some((second) => isBeyond(second, key))
			? { x, y: null, text: beyondText(part, key, run) }
			: { x, y: most(part.map((second) => second[key])) };
	});
}

export function warmUp({ window }: Run): Span[] {
	const from = -window.startNs / 1e9;
	return from < 0 ? [{ from, to: 0, text: "warm-up", kind: "warmup" }] : [];
}

/** Messages that never completed have no latency, and so no point in any line: they are counted where they were due. */
interface Unfinished {
	/** "12 of 1 000", and what the slowest took, by stretches of `size` seconds. Empty: all completed, or nobody knows when those were due that did not. */
	readonly counts: readonly Datum[];
	readonly slowest: readonly Datum[];
	/** Stretches that follow each other are one; but none is of both warm-up and window. */
	readonly spans: readonly Span[];
	/** "12 never completed, not known in which second", for the facts; empty: there are none, or it is known. */
	readonly unplaced: readonly string[];
}

export function unfinishedOf(run: Run, size: number): Unfinished {
	const { seconds } = run.series;
	const slots = slotsOf(seconds, ({ second }) => slotOf(second, size)).flatMap(([slot, part]) => {
		const count = sum(part.map(({ missing }) => missing ?? 0));
		const due = count + sum(part.map((second) => second.count));
		return count === 0 ? [] : [{ slot, count, due, part, x: middleOf(slot, size) }];
	});
	// Those that follow each other are as far from their position.
	const joined = grouped([...slots.entries()], ([i, { slot }]) => `${slot < 0} ${slot - i}`);
	const censored = run.metrics[run.main]?.censored ?? 0;
	const known = seconds.some(({ missing }) => missing !== null);
	return {
		counts: slots.map(({ x, ...of }) => ({ x, y: null, text: shareText(of) })),
		slowest: slots.map(({ x, part }) => ({ x, y: null, text: beyondText(part, "max", run) })),
		spans: [...joined.values()].map((all) => {
			const [first, last] = [all[0]?.[1].slot ?? 0, all.at(-1)?.[1].slot ?? 0];
			const count = sum(all.map(([, slot]) => slot.count));
			const text = `${shareText({ count, due: sum(all.map(([, { due }]) => due)) })} never completed`;
			return { from: first * size, to: (last + 1) * size, text, kind: "missing" };
		}),
		unplaced:
			censored > 0 && !known
				? [
						`${formatCount(censored)} ${run.state === "complete" ? "never completed" : "had not completed when it ended"}, not known in which second`,
					]
				: [],
	};
}

export function rounded(value: number): number {
	return Math.round(value * 1000) / 1000;
}

// --- internal ---

function slotsOf<T>(values: readonly T[], of: (value: T) => number): [number, T[]][] {
	return [...grouped(values, of)].sort(([a], [b]) => a - b);
}

function middleOf(slot: number, size: number): number {
	return rounded((slot + 0.5) * size);
}

function most(values: readonly (number | null)[]): number | null {
	const known = values.filter((value) => value !== null);
	return known.length === 0 ? null : largestOf(known);
}

/** Has it no value in this second, as too many messages never completed? The maximum never has if one did not. */
function isBeyond(second: Second, key: "p50" | "p99" | "max"): boolean {
	const { missing, count } = second;
	if (missing === null || missing === 0) return false;
	if (key === "max") return true;
	return second[key] === null && rank(count + missing, key === "p99" ? 99 : 50) > count;
}

/** "> 30s", of the maximum with the longest that did complete. */
function beyondText(part: readonly Second[], key: "p50" | "p99" | "max", run: Run): string {
	const longest = key === "max" ? most(part.map(({ max }) => max)) : null;
	return `${show(maximum({ censored: 1, max: null }, run))}${longest === null ? "" : ` (${formatDuration(longest)} of those that completed)`}`;
}

/** "12 of 1 000" */
function shareText({ count, due }: { readonly count: number; readonly due: number }): string {
	return `${formatCount(count)} of ${formatCount(due)}`;
}
