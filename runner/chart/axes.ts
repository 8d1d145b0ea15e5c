import { largestOf, smallestOf } from "../extremes.ts";
import { formatCount, formatIn, type Unit } from "../units.ts";
import type { Axis, Figure, Panel, View } from "./figure.ts";
import { type Part, shown, wrapped } from "./head.ts";
import { COLOURS } from "./theme.ts";
import { axisText, secondText } from "./units.ts";

export type Extent = ReturnType<typeof extentOf>;

export interface Place {
	readonly figure: Figure;
	readonly panel: Panel;
	readonly grid: number;
	/** Pixels of the plot. */
	readonly area: {
		readonly left: number;
		readonly top: number;
		readonly width: number;
		readonly height: number;
	};
	readonly extent: Extent;
	readonly view: View;
}

/** Seconds have their labels only below the last panel. */
export function xAxis({ figure, grid, view }: Place): Part {
	const { x, panels } = figure;
	const { grid: line, soft } = COLOURS[view.theme];
	const { axisLabel, ...own } = AXES[x.scale](figure, view);
	return {
		...lines(grid, view),
		axisLine: { lineStyle: { color: line } },
		...own,
		axisLabel: {
			show: x.scale !== "seconds" || grid === panels.length - 1,
			color: soft,
			hideOverlap: true,
			...(axisLabel as Part),
		},
	};
}

export function yAxis({ panel, grid, area, extent, view }: Place): Part {
	const { min, max, logarithmic } = extent;
	const most = Math.max(2, Math.floor(area.height / 45));
	const formatter = (value: number) => labelText(panel.unit, value);
	const axisLabel = { color: COLOURS[view.theme].soft, formatter, hideOverlap: true };
	const own = { ...lines(grid, view), axisLine: { show: false }, axisLabel };
	if (logarithmic) return { ...own, type: "log", min, max, splitNumber: most };
	const interval = stepOf((max - min) / most, panel.unit);
	const end = Math.ceil(max / interval - 1e-9) * interval;
	return { ...own, type: "value", min: Math.floor(min / interval) * interval, max: end, interval };
}

/** Small multiples with one scale, and percentile curves, even a single one. */
export function isGrid({ x, panels }: Pick<Figure, "x" | "panels">): boolean {
	return x.scale === "nines" || (x.scale !== "seconds" && panels.length > 1);
}

/** Small multiples share one. A reader may choose powers of ten for latencies and for the first panel. */
export function extentsOf(figure: Figure, { logarithmic }: Pick<View, "logarithmic">): Extent[] {
	const { x, panels } = figure;
	const own = panels.map(({ series, limits }) => [
		...series.flatMap(({ data, end }) =>
			[...data, ...(end === undefined ? [] : [end])].flatMap(({ y, y2, low, high }) =>
				// Intervals of curves are cut.
				x.scale === "nines" ? [y ?? 0] : [y ?? 0, y2 ?? 0, low ?? 0, high ?? 0],
			),
		),
		...limits.map(({ y }) => y),
	]);
	const all = isGrid(figure) ? own.flat() : null;
	return panels.map((panel, i) => {
		const chosen = i === 0 || panel.unit === "ns" ? logarithmic : null;
		const values = all ?? own[i] ?? [];
		return panel.unit === "times" ? ratioExtent(values) : extentOf(values, chosen ?? panel.log);
	});
}

/** null is logarithmic if values span more than a factor of 20; ends are then 1, 2 or 5 times powers of ten. Linear axes begin at 0. */
export function extentOf(values: readonly number[], logarithmic: boolean | null) {
	const known = values.filter((v) => Number.isFinite(v) && v > 0);
	const high = known.length === 0 ? 1 : largestOf(known);
	const low = known.length === 0 ? high : smallestOf(known);
	return known.length > 0 && (logarithmic ?? high / low > 20)
		? { min: 1 / stepOf(1.1 / low), max: stepOf(high * 1.1), logarithmic: true }
		: { min: 0, max: high * 1.08, logarithmic: false };
}

/** A logarithmic axis has no 0, so it is drawn at the bottom: a gap would mean that nothing was measured. */
export function onAxis<T extends number | null>(value: T, { min, logarithmic }: Extent): T {
	return (value === null || !logarithmic ? value : Math.max(min, value)) as T;
}

/** Pixels below an axis: names of cases take several lines. */
export function footOf({ names }: Axis, view: Pick<View, "width">): number {
	if (names === null) return 48;
	return 20 + LINE * largestOf(names.map((name) => rowsOf(name, names, view).length));
}

export function placeOf({ scale }: Axis, x: number): number {
	return scale === "nines" ? depthOf(x) : x;
}

/** As deep as the curves reach, and a little more for the last mark. */
export function deepestOf({ panels }: Figure): number {
	const all = panels.flatMap(({ series }) =>
		series.flatMap(({ data, end }) => [
			end === undefined || end.y === null ? 0 : depthOf(end.x),
			depthOf(data.at(-1)?.x ?? 0),
		]),
	);
	return 1.02 * Math.max(2, largestOf(all));
}

/** log10(1 / (1 - p)): a percentile's number of nines. */
export function depthOf(p: number): number {
	return Math.log10(100 / (100 - p));
}

/** "99.9%" */
export function percentText(depth: number): string {
	return `${Number((100 * (1 - 10 ** -depth)).toPrecision(11))}%`;
}

// --- internal ---

function ratioExtent(values: readonly number[]): Extent {
	const known = values.filter((ratio) => ratio > 0 && ratio <= MOST_RATIO);
	const [low, high] = [Math.min(1, smallestOf(known)), Math.max(1, largestOf(known))];
	const room = 0.05 * Math.max(0.1, high - low);
	return { min: Math.max(0, low - room), max: high + room, logarithmic: false };
}

const MOST_RATIO = 100;

function lines(gridIndex: number, { theme }: View): Part {
	const splitLine = { lineStyle: { color: COLOURS[theme].grid } };
	const none = { show: false };
	return { gridIndex, splitLine, axisTick: none, minorTick: none, z: 0 };
}

/** "2.5M/s", because "2 500 000/s" is too long for an axis. */
function labelText(unit: Unit, value: number): string {
	const short = unit === "messages" || unit === "messages/s";
	return short && value >= 1e6
		? `${Number((value / 1e6).toPrecision(12))}M${unit.slice("messages".length)}`
		: formatIn(unit, value);
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
		const interval = long ? { interval: 60 * stepOf((max - min) / 8 / 60) } : {};
		return { type: "value", min, max, axisLabel: { formatter, showMaxLabel: false }, ...interval };
	},
	date: () => ({ type: "time", boundaryGap: ["2%", "2%"] }),
	// Numbers, because several series share a name, side by side.
	names: ({ x }, view) => {
		const names = x.names ?? [];
		const formatter = (place: number) => rowsOf(names[place] ?? "", names, view).join("\n");
		const customValues = [...names.keys()];
		const axisLabel = { customValues, hideOverlap: false, lineHeight: LINE, formatter };
		return { type: "value", min: -0.5, max: names.length - 0.5, interval: 1, axisLabel };
	},
	linear: numbers,
	log: numbers,
};

/** Labels are at the data, unless the data have round numbers. */
function numbers(figure: Figure, { theme }: View): Part {
	const { x } = figure;
	const all = figure.panels.flatMap(({ series }) =>
		series.flatMap(({ data }) => data.map(({ x }) => x)),
	);
	const places = [...new Set(all)].sort((a, b) => a - b);
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

/** Text that does not fit ends in dots. */
function rowsOf(name: string, names: readonly string[], { width }: Pick<View, "width">): string[] {
	const room = Math.max(24, (width - 88) / names.length - 6);
	const rows = wrapped(shown(name), room / LETTER);
	return rows.length <= MOST_ROWS ? rows : [...rows.slice(0, MOST_ROWS - 1), "\u2026"];
}

/** Pixels of a name's line, and of its wide letters. */
const LINE = 14;
const LETTER = 8;
const MOST_ROWS = 8;

const NINES = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999].map(depthOf);

/** Next 1, 2 or 5 times a power of ten; for bytes a power of two, as in their texts. */
function stepOf(least: number, unit: Unit | null = null): number {
	if (!(least > 0)) return 1;
	if (unit === "bytes" || unit === "bytes/s") return 2 ** Math.ceil(Math.log2(least) - 1e-9);
	const power = Math.floor(Math.log10(least));
	const digit = [1, 2, 5, 10].find((d) => d * 10 ** power >= least * (1 - 1e-9)) ?? 10;
	const step = Number(`${digit}e${power}`);
	return unit === "messages" ? Math.max(1, step) : step;
}
