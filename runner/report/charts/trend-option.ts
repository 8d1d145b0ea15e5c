import type { SeriesKey, TrendFigure, View } from "./figure.ts";
import {
	type Area,
	base,
	caption,
	gridOf,
	inGrid,
	label,
	labelWidth,
	overlay,
	type Part,
	type Reading,
	withDots,
	xAxis,
	yAxis,
} from "./pieces.ts";
import { scaleOf } from "./scale.ts";
import { COLOURS, colourOf, lineType } from "./theme.ts";
import { unitText } from "./units.ts";

/** One figure of many runs over calendar time. A run that does not pass has a mark of its own form, not colour alone. */

type Line = TrendFigure["lines"][number];

export function trendOption(figure: TrendFigure, view: View): Part {
	const lines = shownOf(figure, view);
	const above = caption(figure, view, lines);
	const text = (value: number) => unitText(figure.unit, value);
	const top = above.height + 24;
	const height = view.height - top - 30;
	const scale = scaleOf(
		lines.flatMap(({ points }) =>
			points.flatMap(({ value }) => (value === null ? [] : [value])),
		),
		view.logarithmic ?? (figure.unit === "ns" ? null : false),
		Math.max(2, Math.round(height / 45)),
	);
	const left = labelWidth([scale], text) + 4;
	const area: Area = { left, top, width: view.width - left - 24, height };
	const [min, max] = rangeOf(figure);
	const { ticks, dated } = dayTicks(view.zoom ?? [min, max], area.width);
	const colours = COLOURS[view.theme];
	return {
		...base(view),
		grid: [gridOf(area)],
		xAxis: [xAxis({ grid: 0, min, max, ticks, text: dated }, view)],
		yAxis: [yAxis(0, scale, text, view)],
		series: [
			...lines.map((line) => ({
				type: "line",
				data: withDots(
					line.points.map(({ at, value }) => [at, value]),
					scale.to,
				),
				symbol: "none",
				showSymbol: true,
				showAllSymbol: true,
				silent: true,
				lineStyle: {
					color: colourOf(line, view.theme),
					width: 1.75,
					type: lineType(line),
				},
				itemStyle: { color: colourOf(line, view.theme) },
				z: 3,
			})),
			inGrid(0, (to) =>
				lines.flatMap((line) =>
					line.points.flatMap(({ at, value, verdict }): Part[] => {
						if (value === null) return [];
						const [x, y] = to(at, scale.to(value));
						return [markPart(x, y, verdict, colourOf(line, view.theme), view)];
					}),
				),
			),
			overlay([
				...above.parts,
				label(
					`${figure.unit === "ns" ? "latency" : "messages per second"}${scale.logarithmic ? ", logarithmic" : ""}; a cross: the run did not pass`,
					[area.left, area.top - 8],
					{ colour: colours.soft },
				),
			]),
		],
	};
}

export function trendHeight(
	figure: TrendFigure,
	view: Omit<View, "height">,
): number {
	return caption(figure, view, shownOf(figure, view)).height + 280;
}

export function trendStops(figure: TrendFigure, view: View): number[] {
	const all = shownOf(figure, view).flatMap(({ points }) =>
		points.map(({ at }) => at),
	);
	return [...new Set(all)].sort((a, b) => a - b);
}

export function trendReading(
	figure: TrendFigure,
	view: View,
	x: number,
): Reading {
	return {
		x,
		title: `${new Date(x).toISOString().slice(0, 16).replace("T", " ")} UTC`,
		rows: shownOf(figure, view).flatMap((key) =>
			key.points
				.filter(({ at }) => at === x)
				.map(({ text, verdict }) => ({
					key,
					name: key.name,
					text: `${text} ${verdict.toUpperCase()}`.trim(),
				})),
		),
	};
}

export function trendKeys({ lines }: TrendFigure): readonly SeriesKey[] {
	return lines;
}

// --- internal ---

const DAY = 86_400_000;
const STEPS = [
	60_000,
	600_000,
	3_600_000,
	6 * 3_600_000,
	DAY,
	2 * DAY,
	7 * DAY,
	14 * DAY,
	28 * DAY,
	91 * DAY,
	182 * DAY,
	364 * DAY,
];

function shownOf({ lines }: TrendFigure, { off }: Pick<View, "off">): Line[] {
	return lines.filter(({ key }) => !off.has(key));
}

/** Of all lines, so that switches do not move the others; with a little room on both sides. */
function rangeOf({ lines }: TrendFigure): [number, number] {
	const all = lines.flatMap(({ points }) => points.map(({ at }) => at));
	if (all.length === 0) return [0, DAY];
	const [low, high] = [Math.min(...all), Math.max(...all)];
	const room = Math.max((high - low) * 0.03, 60_000);
	return [low - room, high + room];
}

/** Days, or parts of them, in UTC. */
function dayTicks(
	[from, to]: readonly [number, number],
	width: number,
): { readonly ticks: number[]; readonly dated: (at: number) => string } {
	const wanted = (to - from) / Math.max(2, width / 110);
	const step =
		STEPS.find((s) => s >= wanted) ??
		Math.ceil(wanted / (364 * DAY)) * 364 * DAY;
	const ticks: number[] = [];
	for (let at = Math.ceil(from / step) * step; at <= to; at += step)
		ticks.push(at);
	return {
		ticks,
		dated: (at) => {
			const text = new Date(at).toISOString();
			return step < DAY
				? `${text.slice(5, 10)} ${text.slice(11, 16)}`
				: text.slice(0, 10);
		},
	};
}

function markPart(
	x: number,
	y: number,
	verdict: string,
	colour: string,
	{ theme }: View,
): Part {
	return verdict === "pass"
		? { type: "circle", shape: { cx: x, cy: y, r: 3 }, style: { fill: colour } }
		: {
				type: "path",
				shape: {
					pathData: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`,
				},
				style: {
					stroke: verdict === "fail" ? COLOURS[theme].limit : colour,
					lineWidth: 2,
					fill: "none",
				},
			};
}
