import { largestOf, smallestOf } from "../extremes.ts";
import { formatCount } from "../units.ts";
import type { Axis, Figure, Panel, Unit, View } from "./figure.ts";
import { type Part, shown, wrapped } from "./head.ts";
import { COLOURS } from "./theme.ts";
import { axisText, secondText, unitText } from "./units.ts";

/** Smallest and largest value that an axis shows, and whether it goes by powers of ten. */
export interface Extent {
	readonly min: number;
	readonly max: number;
	readonly logarithmic: boolean;
}

/** A panel, and what it is drawn in. */
export interface Place {
	readonly figure: Figure;
	readonly panel: Panel;
	readonly grid: number;
	/** Pixels of its plot. */
	readonly area: {
		readonly left: number;
		readonly top: number;
		readonly width: number;
		readonly height: number;
	};
	readonly extent: Extent;
	/** Lines have their names at their ends. */
	readonly ends: boolean;
	readonly view: View;
}

/** The x axis of a panel; seconds have their labels below the last one. Of a figure that is turned: ratios to the right. */
export function xAxis({ figure, grid, extent, view }: Place): Part {
	const { x, panels, turned } = figure;
	const { grid: line, soft } = COLOURS[view.theme];
	const { axisLabel, ...own } = turned ? ratios(extent) : AXES[x.scale](figure, view);
	return {
		...lines(grid, view),
		axisLine: turned ? { show: false } : { lineStyle: { color: line } },
		axisTick: { show: false },
		...own,
		axisLabel: {
			show: x.scale !== "seconds" || grid === panels.length - 1,
			color: soft,
			hideOverlap: true,
			...(axisLabel as Part),
		},
	};
}

/** The value axis of a panel: round numbers of its unit, at most one for every 45 pixels. Of a figure that is turned: names from the top. */
export function yAxis({ figure, panel, grid, area, extent, view }: Place): Part {
	const { ink, soft } = COLOURS[view.theme];
	const { min, max, logarithmic } = extent;
	const bare = { ...lines(grid, view), axisLine: { show: false }, axisTick: { show: false } };
	if (figure.turned)
		return {
			...bare,
			type: "category",
			inverse: true,
			data: (figure.x.names ?? []).map(shown),
			splitLine: { show: false },
			axisLabel: { color: ink, width: area.left - 12, overflow: "truncate" },
		};
	const most = Math.max(2, Math.floor(area.height / 45));
	const formatter = (value: number) => labelText(panel.unit, value);
	if (logarithmic) {
		const customValues = powers(min, max, most);
		const axisLabel = { color: soft, formatter, customValues, hideOverlap: true };
		return { ...bare, type: "log", min, max, axisLabel };
	}
	const interval = stepOf((max - min) / most, panel.unit);
	return {
		...bare,
		type: "value",
		min: 0,
		max: Math.ceil(max / interval - 1e-9) * interval,
		interval,
		axisLabel: { color: soft, formatter },
	};
}

/** What the value axis of each panel holds; small multiples share one. A reader may choose powers of ten for latencies and for the first. */
export function extentsOf(figure: Figure, { logarithmic }: Pick<View, "logarithmic">): Extent[] {
	const { x, panels, layout, turned } = figure;
	if (turned) return [ratioExtent(figure)];
	const own = panels.map(({ series, limits }) => [
		...series.flatMap(({ data, end }) =>
			[...data, ...(end === undefined ? [] : [end])].flatMap(({ y, y2, low, high }) =>
				// Of curves the intervals are cut.
				x.scale === "nines" ? [y ?? 0] : [y ?? 0, y2 ?? 0, low ?? 0, high ?? 0],
			),
		),
		...limits.map(({ y }) => y),
	]);
	const all = layout === "grid" ? own.flat() : null;
	return panels.map((panel, i) => {
		const chosen = i === 0 || panel.unit === "ns" ? logarithmic : null;
		return extentOf(all ?? own[i] ?? [], chosen ?? panel.log);
	});
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

/** Pixels below an axis with its labels: the names of cases take several lines. */
export function footOf({ names }: Axis, view: Pick<View, "width">): number {
	if (names === null) return 48;
	const width = nameWidth(names, view);
	const rows = names.map((name) => rowsOf(name, width));
	return 20 + LINE * Math.min(MOST_ROWS, largestOf(rows));
}

/** Where a datum stands on the axis that is drawn. */
export function placeOf({ scale }: Axis, x: number): number {
	return scale === "nines" ? depthOf(x) : x;
}

/** How deep the curves reach. A little more, so that the last mark is whole. */
export function deepestOf({ panels }: Figure): number {
	const all = panels.flatMap(({ series }) =>
		series.flatMap(({ data, end }) => [
			end === undefined || end.y === null ? 0 : depthOf(end.x),
			depthOf(data.at(-1)?.x ?? 0),
		]),
	);
	return 1.02 * Math.max(2, largestOf(all));
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

/** As far to both sides of 1: at least as far as the widest margin, at most to 100 times. */
function ratioExtent({ panels }: Figure): Extent {
	const data = panels.flatMap(({ series }) => series.flatMap((one) => one.data));
	const far = data
		.flatMap(({ y, y2, low, high }) =>
			y2 === undefined ? [y ?? 1, low ?? y ?? 1, high ?? y ?? 1] : [1 + 1.5 * (y2 - 1)],
		)
		.filter((ratio) => ratio > 0 && Number.isFinite(ratio))
		.map((ratio) => Math.max(ratio, 1 / ratio));
	const max = Math.min(100, 1.08 * Math.max(1.2, largestOf(far)));
	return { min: 1 / max, max, logarithmic: true };
}

function ratios({ min, max }: Extent): Part {
	const customValues = RATIOS.filter((ratio) => ratio <= max && ratio >= min);
	const formatter = (ratio: number) => unitText("times", ratio);
	return { type: "log", min, max, axisLabel: { customValues, formatter } };
}

/** What every axis has: its grid, and lines that stay behind the data. */
function lines(grid: number, { theme }: View): Part {
	const splitLine = { lineStyle: { color: COLOURS[theme].grid } };
	return { gridIndex: grid, splitLine, minorTick: { show: false }, z: 0 };
}

/** "2.5M/s": beside an axis there is no room for "2 500 000/s". */
function labelText(unit: Unit, value: number): string {
	const short = unit === "messages" || unit === "messages/s";
	return short && value >= 1e6
		? `${Number((value / 1e6).toPrecision(12))}M${unit.slice("messages".length)}`
		: unitText(unit, value);
}

const AXES: Readonly<Record<Axis["scale"], (figure: Figure, view: View) => Part>> = {
	nines: (figure) => {
		const max = deepestOf(figure);
		return {
			type: "value",
			min: 0,
			max,
			axisTick: { show: false, customValues: NINES },
			axisLabel: { customValues: NINES.filter((depth) => depth <= max), formatter: percentText },
		};
	},
	seconds: ({ x: { from, to } }) => {
		const [min, max] = [from ?? 0, to ?? 0];
		const long = max - min >= 600;
		// The warm-up may begin anywhere: its first moment needs no label.
		const formatter = (second: number) =>
			second === min && second < 0 ? "" : secondText(second, long);
		return {
			type: "value",
			min,
			max,
			axisLabel: { formatter, showMaxLabel: false },
			...(long ? { interval: longStep((max - min) / 8) } : {}),
		};
	},
	date: () => ({ type: "time", boundaryGap: ["2%", "2%"] }),
	names: ({ x }, view) => {
		const names = x.names ?? [];
		const width = nameWidth(names, view);
		const formatter = (name: string) => wrapped(name, width / LETTER).join("\n");
		return {
			type: "category",
			data: names.map((name) => cut(shown(name), width)),
			axisLabel: { interval: 0, lineHeight: LINE, formatter },
		};
	},
	linear: numbers,
	log: numbers,
};

/** Both axes of numbers: labels where there are data, unless round numbers do. */
function numbers(figure: Figure, { theme }: View): Part {
	const { x } = figure;
	const places = placesOf(figure);
	const [first = 0, last = 0] = [places[0], places.at(-1)];
	const log = x.scale === "log";
	return {
		type: log ? "log" : "value",
		min: log ? first / 1.4 : 0,
		max: last * (log ? 1.4 : 1.04),
		name: shown(x.title),
		nameLocation: "middle",
		nameGap: 28,
		nameTextStyle: { color: COLOURS[theme].soft },
		axisLabel: {
			showMaxLabel: false,
			...(log || x.unit === "bytes" ? { customValues: places } : {}),
			formatter: (value: number) =>
				x.unit === "bytes" ? axisText(x, Math.round(value)) : formatCount(value),
		},
	};
}

function placesOf({ panels }: Figure): number[] {
	const all = panels.flatMap(({ series }) => series.flatMap(({ data }) => data.map(({ x }) => x)));
	return [...new Set(all)].sort((a, b) => a - b);
}

const RATIOS = [
	0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 5, 10, 20, 50, 100,
];

function nameWidth(names: readonly string[], view: Pick<View, "width">): number {
	return Math.max(24, (view.width - 88) / names.length - 6);
}

function rowsOf(name: string, width: number): number {
	return wrapped(shown(name), width / LETTER).length;
}

function cut(name: string, width: number): string {
	const most = Math.floor(((MOST_ROWS - 1) * width) / LETTER);
	return rowsOf(name, width) <= MOST_ROWS || name.length <= most
		? name
		: `${name.slice(0, most - 1)}\u2026`;
}

/** Pixels of a name's line, and of its wider letters. */
const LINE = 14;
const LETTER = 8;
const MOST_ROWS = 8;

const NINES = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999].map(depthOf);

/** 1, 2 or 5 times a power of ten; of bytes a power of two, as their texts are: not below `least`. */
function stepOf(least: number, unit: Unit): number {
	if (!(least > 0)) return 1;
	if (unit === "bytes" || unit === "bytes/s") return 2 ** Math.ceil(Math.log2(least) - 1e-9);
	const power = 10 ** Math.floor(Math.log10(least));
	const digit = [1, 2, 5, 10].find((d) => d * power >= least * (1 - 1e-9)) ?? 10;
	return unit === "messages" ? Math.max(1, digit * power) : digit * power;
}

function longStep(least: number): number {
	const steps = [60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400];
	return steps.find((s) => s >= least) ?? Math.ceil(least / 86_400) * 86_400;
}

/** 1, 2, 5 times powers of ten; 1 and 3; only each power; every second, third, ... power: the first that are few enough. */
function powers(min: number, max: number, most: number): number[] {
	const first = Math.floor(Math.log10(min));
	const each = Array.from({ length: Math.ceil(Math.log10(max)) - first + 1 }, (_, i) => first + i);
	const choices = [[1, 2, 5], [1, 3], [1], [1], [1], [1]].map((digits, i) =>
		each
			.filter((power) => power % Math.max(1, i - 1) === 0)
			.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)))
			.filter((value) => value >= min && value <= max),
	);
	return choices.find((values) => values.length <= most * 1.5) ?? choices.at(-1) ?? [];
}
