import type { TimeFigure } from "../chart/old-figure.ts";
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
	const worstBySlot = new Map<number, number | null>();
	for (const [second, value] of values) {
		const slot = Math.floor(second / size + 1e-9);
		const known = worstBySlot.get(slot) ?? null;
		worstBySlot.set(
			slot,
			value === null || known === null ? (known ?? value) : Math.max(known, value),
		);
	}
	const slots = [...worstBySlot.keys()].sort((a, b) => a - b);
	return slots.flatMap((slot, i) => {
		const at = (s: number) => rounded((s + 0.5) * size);
		const point = [at(slot), worstBySlot.get(slot) ?? null] as const;
		const before = slots[i - 1];
		return before !== undefined && slot - before > 1
			? [[at(slot - 1), null] as const, point]
			: [point];
	});
}

/**
 * One point of all values of each stretch, at the middle of what is there of it. `slotOf` says in which stretch a value lies; a stretch
 * without any is a gap between its neighbours.
 */
export function joinedBy<T>(
	values: readonly T[],
	slotOf: (value: T) => number,
	point: (part: readonly T[]) => readonly [second: number, value: number],
): Points {
	const slots = new Map<number, T[]>();
	for (const value of values) {
		const slot = slotOf(value);
		const known = slots.get(slot);
		if (known === undefined) slots.set(slot, [value]);
		else known.push(value);
	}
	const points: (readonly [number, number | null])[] = [];
	let last: { readonly slot: number; readonly x: number } | null = null;
	for (const slot of [...slots.keys()].sort((a, b) => a - b)) {
		const [x, value] = point(slots.get(slot) ?? []);
		if (last !== null && slot - last.slot > 1) points.push([rounded((last.x + x) / 2), null]);
		points.push([x, value]);
		last = { slot, x };
	}
	return points;
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
