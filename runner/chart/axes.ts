import { largestOf, smallestOf } from "../extremes.ts";
import type { View } from "./old-figure.ts";
import { COLOURS } from "./theme.ts";
import { secondText, unitText } from "./units.ts";

/** Axes of ECharts with our units. */

/** A part of an option: ECharts' own types ask for the whole library. */
export type Part = Readonly<Record<string, unknown>>;

type Unit = Parameters<typeof unitText>[0];

/** Smallest and largest value that an axis shows, and whether it goes by powers of ten. */
export interface Extent {
	readonly min: number;
	readonly max: number;
	readonly logarithmic: boolean;
}

/** Logarithmic as it is wanted; null: when the values above 0 span more than a factor of 20. Linear axes begin at 0. */
export function extentOf(values: readonly number[], logarithmic: boolean | null): Extent {
	const known = values.filter((v) => Number.isFinite(v) && v > 0);
	const high = known.length === 0 ? 1 : largestOf(known);
	const low = known.length === 0 ? high : smallestOf(known);
	return known.length > 0 && (logarithmic ?? high / low > 20)
		? { min: low / 1.25, max: high * 1.5, logarithmic: true }
		: { min: 0, max: high * 1.08, logarithmic: false };
}

/** Where a value is drawn: a logarithmic axis has no 0, which stands at its bottom, as a gap would say that nothing was measured. */
export function onAxis<T extends number | null>(value: T, { min, logarithmic }: Extent): T {
	return (value === null || !logarithmic ? value : Math.max(min, value)) as T;
}

/** The value axis of a grid: round numbers of its unit, at most one for every 45 pixels of `height`. */
export function valueAxis(
	grid: number,
	unit: Unit,
	{ min, max, logarithmic }: Extent,
	{ view, height }: { view: View; height: number },
): Part {
	const most = Math.max(2, Math.floor(height / 45));
	const step = stepOf((max - min) / most, unit);
	return {
		...lines(grid, view),
		type: logarithmic ? "log" : "value",
		...(logarithmic
			? { min, max }
			: { min: 0, max: Math.ceil(max / step - 1e-9) * step, interval: step }),
		axisLine: { show: false },
		axisTick: { show: false },
		axisLabel: {
			color: COLOURS[view.theme].soft,
			formatter: (value: number) => labelText(unit, value),
			...(logarithmic ? { customValues: powers(min, max, most), hideOverlap: true } : {}),
		},
	};
}

/** Seconds from the window's start. */
export function secondAxis(
	grid: number,
	{ from, to }: { readonly from: number; readonly to: number },
	{ view, labels }: { view: View; labels: boolean },
): Part {
	const long = to - from >= 600;
	return {
		...lines(grid, view),
		type: "value",
		min: from,
		max: to,
		axisLine: { lineStyle: { color: COLOURS[view.theme].grid } },
		axisTick: { show: false },
		axisLabel: {
			show: labels,
			color: COLOURS[view.theme].soft,
			hideOverlap: true,
			formatter: (second: number) =>
				// The warm-up may begin anywhere: its first moment needs no label.
				second === from && second < 0 ? "" : secondText(second, long),
			showMaxLabel: false,
		},
		...(long ? { interval: longStep((to - from) / 8) } : {}),
	};
}

/** An axis of percentiles, in nines: each takes the same width. See `depthOf`. */
export function percentileAxis(grid: number, deepest: number, view: View) {
	return {
		...lines(grid, view),
		type: "value",
		min: 0,
		max: deepest,
		axisLine: { lineStyle: { color: COLOURS[view.theme].grid } },
		axisTick: { show: false, customValues: NINES },
		splitLine: { show: true, lineStyle: { color: COLOURS[view.theme].grid } },
		axisLabel: {
			color: COLOURS[view.theme].soft,
			customValues: NINES.filter((depth) => depth <= deepest),
			hideOverlap: true,
			formatter: (depth: number) => percentText(depth),
		},
	};
}

/** What every axis has: its grid, and lines that stay behind the data. */
export function lines(grid: number, { theme }: View): Part {
	return {
		gridIndex: grid,
		splitLine: { lineStyle: { color: COLOURS[theme].grid } },
		minorTick: { show: false },
		z: 0,
	};
}

/** How deep a percentile lies: log10(1 / (1 - p)), its number of nines. */
export function depthOf(p: number): number {
	return Math.log10(100 / (100 - p));
}

/** "99.9%" */
export function percentText(depth: number): string {
	return `${Number((100 * (1 - 10 ** -depth)).toPrecision(11))}%`;
}

// --- internal ---

/** "2.5M/s": beside an axis there is no room for "2 500 000/s". */
function labelText(unit: Unit, value: number): string {
	const short = unit === "messages" || unit === "messages/s";
	return short && value >= 1e6
		? `${Number((value / 1e6).toPrecision(12))}M${unit.slice("messages".length)}`
		: unitText(unit, value);
}

const NINES = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999].map(depthOf);

/** 1, 2 or 5 times a power of ten; of bytes a power of two, as their texts are: not below `least`. */
function stepOf(least: number, unit: Unit): number {
	if (!(least > 0)) return 1;
	if (unit === "bytes" || unit === "bytes/s") return 2 ** Math.ceil(Math.log2(least) - 1e-9);
	const power = 10 ** Math.floor(Math.log10(least));
	const digit = [1, 2, 5, 10].find((d) => d * power >= least * (1 - 1e-9)) ?? 10;
	return unit === "messages" || unit === "cases" ? Math.max(1, digit * power) : digit * power;
}

function longStep(least: number): number {
	const steps = [60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400];
	return steps.find((s) => s >= least) ?? Math.ceil(least / 86_400) * 86_400;
}

/** 1, 2, 5 times powers of ten; 1 and 3; only each power; every second, third, ... power: the first that are few enough. */
function powers(min: number, max: number, most: number): number[] {
	const first = Math.floor(Math.log10(min));
	const all = (digits: readonly number[], every: number) => {
		const values: number[] = [];
		for (let e = first; 10 ** e <= max; e++)
			if (e % every === 0) for (const digit of digits) values.push(Number(`${digit}e${e}`));
		return values.filter((v) => v >= min && v <= max);
	};
	const choices = [
		all([1, 2, 5], 1),
		all([1, 3], 1),
		...[1, 2, 3, 4].map((every) => all([1], every)),
	];
	return choices.find((c) => c.length <= most * 1.5) ?? choices.at(-1) ?? [];
}
