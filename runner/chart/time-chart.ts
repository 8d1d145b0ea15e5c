import { extentOf, onAxis, type Part, valueAxis } from "./axes.ts";
import { frame, headHeight, heading, limitSeries, lineLook, place, shown } from "./frame.ts";
import { joined, missingText } from "./missing.ts";
import { secondAxis } from "./old-axes.ts";
import type { TimeFigure, Unfinished, View } from "./old-figure.ts";
import { COLOURS } from "./theme.ts";
import { insideZoom, RIGHT, slider } from "./zoom.ts";

/** Everything of one run over time: panels below each other, with one axis of seconds and one cursor. */

export function timeOption(figure: TimeFigure, view: View): Part {
	const lines = timeLines(figure);
	const { areas } = layout(figure, view);
	const colours = COLOURS[view.theme];
	const last = figure.panels.length - 1;
	const all = figure.panels.map((_, i) => i);
	const around = frame(figure, view, lines);
	const extents = figure.panels.map((panel) =>
		extentOf(
			[
				...panel.lines.flatMap(({ points }) => points.map(([, v]) => v ?? 0)),
				...panel.limits.map(({ value }) => value),
			],
			panel.unit === "ns" ? (view.logarithmic ?? (panel.logarithmic || null)) : false,
		),
	);
	return {
		...around,
		title: [
			around.title,
			...figure.panels.map(({ title }, i) =>
				heading(
					`${title}${extents[i]?.logarithmic ? ", logarithmic" : ""}`,
					{ left: 8, top: (areas[i]?.top ?? 0) - 23, width: view.width - 16 },
					view,
				),
			),
		],
		axisPointer: { link: [{ xAxisIndex: "all" }] },
		grid: areas.map((area) => ({ ...area, outerBoundsMode: "none" })),
		xAxis: all.map((i) => secondAxis(i, figure, { view, labels: i === last })),
		yAxis: [
			...figure.panels.map(({ unit }, i) =>
				valueAxis(i, unit, extents[i] ?? extentOf([], false), {
					view,
					height: areas[i]?.height ?? 0,
				}),
			),
		],
		series: panels(),
		dataZoom: [insideZoom(all), ...(view.alone ? [] : [slider(all, areas[last]?.left ?? 0, view)])],
	};

	function panels(): Part[] {
		return figure.panels.flatMap((panel, i) => [
			...limitSeries(i, panel.limits, view),
			{
				...place(i),
				type: "line",
				data: [],
				silent: true,
				markArea: {
					silent: true,
					animation: false,
					label: {
						show: i === 0,
						position: "insideTopLeft",
						color: colours.soft,
						textBorderColor: colours.page,
						textBorderWidth: 3,
						formatter: "{b}",
					},
					data: [...areaMarks(figure, view), ...missingMarks(figure, view)],
				},
				markLine: {
					silent: true,
					symbol: "none",
					animation: false,
					lineStyle: { color: colours.soft, type: [2, 3] },
					label: {
						show: i === 0,
						position: "insideEndTop",
						rotate: 0,
						color: colours.soft,
						formatter: "{b}",
					},
					data: figure.marks
						.filter(({ from, to }) => from === to)
						.map(({ from, text }) => ({ xAxis: from, name: shown(text) })),
				},
			},
			...panel.lines.map((line) => ({
				...lineLook(line, view),
				...place(i),
				type: "line",
				step: line.steps ? "middle" : false,
				connectNulls: false,
				showSymbol: true,
				showAllSymbol: true,
				symbol: "none",
				data: withDots(
					line.points.map(([x, value]) => [x, onAxis(value, extents[i] ?? extentOf([], false))]),
				),
			})),
		]);
	}
}

export function timeHeight(figure: TimeFigure, view: Omit<View, "height">): number {
	const all = figure.panels.reduce((sum, _, i) => sum + panelHeight(i), 0);
	return headHeight(figure, view, timeLines(figure)) + all + FOOT;
}

export function timeLines({ panels }: TimeFigure) {
	return panels.flatMap(({ lines }) => lines);
}

/** A band for each stretch, and its count as far as it has room up to the next one. */
export function missingMarks({ from, to, unfinished }: Seconds, view: View): Part[][] {
	const { limit } = COLOURS[view.theme];
	const each = pixelsPerSecond({ from, to }, view);
	return joined(unfinished.stretches).map((one, i, all) => [
		{
			name: missingText(one),
			xAxis: one.from,
			itemStyle: { color: limit, opacity: 0.14, borderColor: limit, borderWidth: 1 },
			label: {
				...labelWithin(((all[i + 1]?.from ?? to) - one.from) * each),
				position: "insideBottomLeft",
				color: limit,
			},
		},
		{ xAxis: one.to },
	]);
}

/** Where no line is drawn, as its neighbours are missing, the point itself. */
export function withDots(
	points: readonly (readonly [x: number, value: number | null])[],
): unknown[] {
	const gap = (i: number) => (points[i]?.[1] ?? null) === null;
	return points.map(([x, value], i) =>
		value !== null && gap(i - 1) && gap(i + 1)
			? { value: [x, value], symbol: "circle", symbolSize: 4 }
			: [x, value],
	);
}

// --- internal ---

/** What has seconds in which messages never completed. */
interface Seconds {
	readonly from: number;
	readonly to: number;
	readonly unfinished: Unfinished;
}

const LEFT = 64;

function pixelsPerSecond({ from, to }: Pick<Seconds, "from" | "to">, view: View): number {
	return (view.width - LEFT - RIGHT) / (to - from);
}

/** A text at the edge of an area, cut where the next one begins; without room for a word there is none. */
function labelWithin(pixels: number): Part {
	return pixels > 50 ? { width: pixels - 10, overflow: "truncate" } : { show: false };
}
const FOOT = 56;

/** Latency has the most room. */
function panelHeight(i: number): number {
	return i === 0 ? 210 : 120;
}

function layout(figure: TimeFigure, view: View) {
	let top = headHeight(figure, view, timeLines(figure));
	const areas = figure.panels.map((_, i) => {
		const height = panelHeight(i);
		const area = { left: LEFT, right: RIGHT, top: top + 28, height: height - 40 };
		top += height;
		return area;
	});
	return { areas };
}

/** The warm-up is only less bright; what was done to the broker has a colour. */
function areaMarks({ marks, ...seconds }: TimeFigure, view: View): Part[][] {
	const { band, hidden } = COLOURS[view.theme];
	const each = pixelsPerSecond(seconds, view);
	return marks
		.filter(({ from, to }) => to > from)
		.map(({ from, to, text }, i, all) => [
			{
				name: shown(text),
				xAxis: from,
				itemStyle: from >= 0 ? { color: hidden, opacity: 0.18 } : { color: band },
				label: {
					...labelWithin(((all[i + 1]?.from ?? seconds.to) - from) * each),
					...(from >= 0 ? { color: hidden } : {}),
				},
			},
			{ xAxis: to },
		]);
}
