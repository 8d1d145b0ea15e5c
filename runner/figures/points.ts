import type { TimeFigure } from "../chart/old-figure.ts";
import { largestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";

/** Seconds of a run, joined to the stretches that a line has points for. */

type Panel = TimeFigure["panels"][number];
type Line = Panel["lines"][number];
export type Points = Line["points"];

/** A panel before its lines have what all lines of a run have. */
export interface Draft extends Omit<Panel, "lines"> {
	/** Without what all lines of a run have; `offset` from the colour of its system, -1: grey. */
	readonly lines: readonly (Omit<Line, "group" | "colour"> & { readonly offset: number })[];
}

/** Whole seconds that one point stands for. */
export function stretch({ series, window }: Run, most: number): number {
	const seconds = Math.max(series.seconds.length, Math.ceil(window.endNs / 1e9));
	// No shorter than what is recorded as one, and whole ones.
	const last = series.seconds.at(-1);
	const one = last ? secondsOf(last) : 1;
	return one * Math.max(1, Math.ceil(seconds / (one * most)));
}

/** Those of warm-up and window. */
export function ticksOf({ load, window, series }: Run): Run["series"]["ticks"] {
	// The last second of a closed loop is begun, not full.
	const end =
		load.schedule.kind === "closed" ? Math.ceil(window.endNs / 1e9) : window.endNs / 1e9 + 1e-9;
	return series.ticks.filter((t) => t.at <= end);
}

/**
 * The largest value of each stretch of `size` seconds, at its middle. `values` are [beginning of the second, value]; stretches are
 * counted from the window's start. A stretch without any value is a gap.
 */
export function worst(
	values: readonly (readonly [second: number, value: number | null])[],
	size: number,
): Points {
	const slotOf = ([second]: readonly [number, unknown]) => Math.floor(second / size + 1e-9);
	return joinedBy(values, { slotOf, size }, (part) => {
		const known = part.flatMap(([, value]) => value ?? []);
		const [first] = part as [(typeof part)[number]];
		const middle = rounded((slotOf(first) + 0.5) * size);
		return [middle, known.length === 0 ? null : largestOf(known)];
	});
}

/**
 * One point of all values of each stretch of `size` seconds. `slotOf` says in which stretch a value lies; before the first after stretches
 * without any there is a gap.
 */
export function joinedBy<T>(
	values: readonly T[],
	{ slotOf, size }: { readonly slotOf: (value: T) => number; readonly size: number },
	point: (part: readonly T[]) => Points[number],
): Points {
	const slots = new Map<number, T[]>();
	for (const value of values) {
		const slot = slotOf(value);
		const known = slots.get(slot);
		if (known === undefined) slots.set(slot, [value]);
		else known.push(value);
	}
	return [...slots]
		.sort(([a], [b]) => a - b)
		.flatMap(([slot, part], i, all) => {
			const [x, value] = point(part);
			const before = all[i - 1]?.[0] ?? slot;
			return slot - before > 1
				? [[rounded(x - size), null] as const, [x, value] as const]
				: [[x, value] as const];
		});
}

/** Of ticks. */
export function middle(
	part: readonly { at: number; seconds?: number | undefined }[],
	{ window }: Run,
): number {
	return rounded(
		((part[0]?.at ?? 0) - secondsOf(part[0] ?? {}) + (part.at(-1)?.at ?? 0)) / 2 -
			window.startNs / 1e9,
	);
}

export function rounded(value: number): number {
	return Math.round(value * 1000) / 1000;
}
