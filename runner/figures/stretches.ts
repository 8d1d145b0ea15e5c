import type { Axis, Datum, Panel, Series, Span } from "../chart/figure.ts";
import { largestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { sum } from "../stats/sum.ts";
import { formatCount } from "../units.ts";
import { AXIS } from "./facts.ts";

/** A line is name, dashes and data; dashes 0 have the system's colour, others are grey. */
export interface OverTime extends Pick<Panel, "title" | "unit"> {
	readonly lines: readonly (readonly [name: string, dash: number, data: readonly Datum[]])[];
	/** Default: a value is the same all over its stretch. */
	readonly draw?: Series["draw"];
}

/** Whole seconds of one datum: no fewer than are recorded as one. */
export function stretch({ series, window }: Run, most: number): number {
	const seconds = Math.max(series.seconds.length, Math.ceil(window.endNs / 1e9));
	const apart = [...series.hosts, ...(series.brokerHosts ?? [])].map(({ points: [one, next] }) =>
		one === undefined || next === undefined ? 1 : Math.round(next.at - one.at),
	);
	const last = series.seconds.at(-1);
	const one = largestOf([1, last ? secondsOf(last) : 1, ...apart]);
	return one * Math.max(1, Math.ceil(seconds / (one * most)));
}

export function ticksOf({ load, window, series }: Run): Run["series"]["ticks"][number][] {
	// A closed loop's last second is begun, not full.
	const end =
		load.schedule.kind === "closed" ? Math.ceil(window.endNs / 1e9) : window.endNs / 1e9 + 1e-9;
	return series.ticks.filter((t) => t.at <= end);
}

/** From the warm-up's start to the window's end; a closed loop may end within a second, and shows the last of `seconds`. */
export function secondsAxis({ window, load }: Run, step: number, seconds: readonly number[]): Axis {
	const end = Math.max((window.endNs - window.startNs) / 1e9, 1e-3);
	const closed = load.schedule.kind === "closed";
	const to = closed ? Math.max(end, largestOf(seconds.map(Math.ceil))) : end;
	return { ...AXIS, scale: "seconds", title: "second", from: -window.startNs / 1e9, to, step };
}

/** A datum for each stretch of `size` seconds from the window's start; stretches without values leave a gap. */
export function joined<T>(
	values: readonly T[],
	{ size, second }: { readonly size: number; readonly second: (value: T) => number },
	datum: (part: readonly T[]) => Omit<Datum, "x">,
): Datum[] {
	return slotsOf(values, size, second).flatMap(([slot, part], i, all) => {
		const found = { x: middleOf(slot, size), ...datum(part) };
		const before = all[i - 1]?.[0] ?? slot;
		return slot - before > 1 ? [{ x: middleOf(slot - 1, size), y: null }, found] : [found];
	});
}

/** The largest of each stretch, never an average. `values` are [start of the second, value]. */
export function worst(
	values: readonly (readonly [second: number, value: number | null | undefined])[],
	size: number,
): Datum[] {
	return joined(values, { size, second: ([second]) => second }, (part) => ({
		y: most(part.map(([, value]) => value ?? null)),
	}));
}

export function most(values: readonly (number | null)[]): number | null {
	const known = values.filter((value) => value !== null);
	return known.length === 0 ? null : largestOf(known);
}

export function middleOf(slot: number, size: number): number {
	return rounded((slot + 0.5) * size);
}

export function rounded(value: number): number {
	return Math.round(value * 1000) / 1000;
}

export function warmUp({ window }: Run): Span[] {
	const from = -window.startNs / 1e9;
	return from < 0 ? [{ from, to: 0, text: "warm-up", kind: "warmup" }] : [];
}

/** Messages that never completed have no latency and are in no line, so they are counted where they were due. */
export function unfinishedOf(run: Run, size: number) {
	const { seconds } = run.series;
	const slots = slotsOf(seconds, size, ({ second }) => second).flatMap(([slot, part]) => {
		const count = sum(part.map(({ missing }) => missing ?? 0));
		const due = count + sum(part.map((second) => second.count));
		return count === 0 ? [] : [{ slot, count, due }];
	});
	// Consecutive slots are equally far from their index.
	const series = grouped([...slots.entries()], ([i, { slot }]) => `${slot < 0} ${slot - i}`);
	const censored = run.metrics[run.main]?.censored ?? 0;
	const known = seconds.some(({ missing }) => missing !== null);
	return {
		/** "12 of 1 000", by stretches of `size` seconds; also empty if the intended times are unknown. */
		counts: slots.map(
			(one): Datum => ({ x: middleOf(one.slot, size), y: null, text: shareText([one]) }),
		),
		/** Consecutive stretches are one, but never across warm-up and window. */
		spans: [...series.values()].map((entries): Span => {
			const all = entries.map(([, one]) => one);
			const [first, last] = [all[0]?.slot ?? 0, all.at(-1)?.slot ?? 0];
			const text = `${shareText(all)} never completed`;
			return { from: first * size, to: (last + 1) * size, text, kind: "missing" };
		}),
		unplaced:
			censored > 0 && !known
				? [`${formatCount(censored)} never completed, not known in which second`]
				: [],
	};
}

// --- internal ---

function slotsOf<T>(
	values: readonly T[],
	size: number,
	second: (value: T) => number,
): [slot: number, part: T[]][] {
	const slots = grouped(values, (value) => Math.floor(second(value) / size + 1e-9));
	return [...slots].sort(([a], [b]) => a - b);
}

/** "12 of 1 000" */
function shareText(all: readonly { readonly count: number; readonly due: number }[]): string {
	const of = (key: "count" | "due") => formatCount(sum(all.map((one) => one[key])));
	return `${of("count")} of ${of("due")}`;
}
