import { largestOf, smallestOf } from "../extremes.ts";
import { formatCount } from "../units.ts";
import { type Extent, extentOf, lines, onAxis, type Part, valueAxis } from "./axes.ts";
import {
	endName,
	frame,
	headHeight,
	heading,
	limitSeries,
	lineLook,
	place,
	shown,
	whiskers,
	wrapped,
} from "./frame.ts";
import type { RateFigure, View } from "./old-figure.ts";
import { COLOURS } from "./theme.ts";
import { placeText } from "./units.ts";
import { insideZoom } from "./zoom.ts";

/** A value over a number that is not time, with intervals; over the names of cases points alone, as nothing lies between two cases. */

type Line = RateFigure["lines"][number];

export function rateOption(figure: RateFigure, view: View): Part {
	const top = headHeight(figure, view, figure.lines) + 34;
	const named = figure.axis.names !== null;
	const foot = footOf(figure, view);
	const height = view.height - top - foot;
	const extent = extentOf(
		[
			...figure.lines.flatMap(({ points }) =>
				points.flatMap(({ value, low, high }) => [value ?? 0, low ?? 0, high ?? 0]),
			),
			...figure.limits.map(({ value }) => value),
		],
		view.logarithmic ?? (figure.unit === "ns" ? null : false),
	);
	const strong = figure.lines.filter(({ thin }) => !thin).length;
	const around = frame(figure, view, figure.lines);
	return {
		...around,
		title: [
			around.title,
			heading(
				`${figure.unit === "ns" ? "latency" : "messages per second"}${extent.logarithmic ? ", logarithmic" : ""}`,
				{ left: 8, top: top - 23, width: view.width - 16 },
				view,
			),
		],
		grid: [
			{
				left: 64,
				right: named || view.width < 500 ? 24 : 100,
				top,
				height,
				outerBoundsMode: "none",
			},
		],
		xAxis: [xAxis(figure, view)],
		yAxis: [valueAxis(0, figure.unit, extent, { view, height })],
		series: [
			...limitSeries(0, figure.limits, view),
			...figure.lines.flatMap((line, i) => {
				const aside = named ? offset(i, figure.lines.length) : 0;
				return [
					points(line, aside, { named, ends: strong <= 6 && view.width >= 500, extent }, view),
					whiskers(0, line, line.points, extent.max, view, aside),
				];
			}),
		],
		dataZoom: named ? [] : [insideZoom([0])],
	};
}

export function rateHeight(figure: RateFigure, view: Omit<View, "height">): number {
	return headHeight(figure, view, figure.lines) + 292 + footOf(figure, view);
}

// --- internal ---

/** Sizes that differ by more than a factor of 20 stand by powers. */
function byPowers({ lines, axis }: RateFigure): boolean {
	const all = lines.flatMap(({ points }) => points.map(({ x }) => x));
	return axis.names === null && smallestOf(all) > 0 && largestOf(all) / smallestOf(all) > 20;
}

function xAxis(figure: RateFigure, view: View): Part {
	const { axis } = figure;
	const soft = COLOURS[view.theme].soft;
	const all = figure.lines.flatMap(({ points }) => points.map(({ x }) => x));
	const powers = byPowers(figure);
	const base = {
		...lines(0, view),
		name: axis.names === null ? shown(axis.title) : "",
		nameLocation: "middle",
		nameGap: 28,
		nameTextStyle: { color: soft },
		axisLine: { lineStyle: { color: COLOURS[view.theme].grid } },
		axisTick: { show: false },
	};
	if (axis.names !== null)
		return {
			...base,
			type: "category",
			data: axis.names.map((name) => cut(shown(name), nameWidth(axis, view))),
			axisLabel: {
				color: soft,
				interval: 0,
				lineHeight: LINE,
				formatter: (name: string) => wrapped(name, nameWidth(axis, view) / LETTER).join("\n"),
				hideOverlap: true,
			},
		};
	return {
		...base,
		type: powers ? "log" : "value",
		...(powers
			? { min: smallestOf(all) / 1.4, max: largestOf(all) * 1.4 }
			: { min: 0, max: largestOf(all) * 1.04 }),
		axisLabel: {
			color: soft,
			hideOverlap: true,
			showMaxLabel: false,
			...(powers || axis.unit === "bytes"
				? { customValues: [...new Set(all)].sort((a, b) => a - b) }
				: {}),
			formatter: (x: number) =>
				axis.unit === "bytes" ? placeText(axis, Math.round(x)) : formatCount(x),
		},
	};
}

/** Pixels below the axis: the names of cases take several lines. */
function footOf({ axis }: RateFigure, view: Pick<View, "width">): number {
	const width = nameWidth(axis, view);
	const rows = (axis.names ?? []).map((name) => rowsOf(name, width));
	return axis.names === null ? 48 : 20 + LINE * Math.min(MOST_ROWS, largestOf(rows));
}

function nameWidth({ names }: RateFigure["axis"], view: Pick<View, "width">) {
	return Math.max(24, (view.width - 88) / (names?.length ?? 1) - 6);
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

const LINE = 14;
/** Pixels, of the wider ones. */
const LETTER = 8;
const MOST_ROWS = 8;

/** Pixels to the side, so that systems stand beside each other. */
function offset(i: number, of: number): number {
	return (i - (of - 1) / 2) * Math.min(12, 60 / of);
}

function points(
	line: Line,
	aside: number,
	{ named, ends, extent }: { named: boolean; ends: boolean; extent: Extent },
	view: View,
): Part {
	const look = lineLook(line, view);
	return {
		...look,
		...place(0),
		type: named ? "scatter" : "line",
		showSymbol: true,
		showAllSymbol: true,
		symbolSize: line.thin ? 5 : 8,
		symbolOffset: [aside, 0],
		data: line.points.map(({ x, value }) => [x, onAxis(value, extent)]),
		...(named
			? { itemStyle: { color: look.color, opacity: line.thin ? 0.5 : 1 } }
			: endName(line, view, ends && !line.thin)),
	};
}
