import { extentOf, lines, onAxis, type Part, valueAxis } from "./axes.ts";
import { frame, headHeight, heading, lineLook, place } from "./frame.ts";
import type { TrendFigure, View } from "./old-figure.ts";
import { COLOURS, markOf } from "./theme.ts";
import { withDots } from "./time-chart.ts";
import { insideZoom, slider } from "./zoom.ts";

/** One figure of many runs over calendar time. A run that does not pass has a mark of its own form, not colour alone. */

export function trendOption(figure: TrendFigure, view: View): Part {
	const top = headHeight(figure, view, figure.lines) + 34;
	const height = view.height - top - 56;
	const extent = extentOf(
		figure.lines.flatMap(({ points }) => points.map(({ value }) => value ?? 0)),
		view.logarithmic ?? (figure.unit === "ns" ? null : false),
	);
	const colours = COLOURS[view.theme];
	const around = frame(figure, view, figure.lines);
	return {
		...around,
		title: [
			around.title,
			heading(
				`${figure.unit === "ns" ? "latency" : "messages per second"}${extent.logarithmic ? ", logarithmic" : ""}; cross: not passed`,
				{ left: 8, top: top - 23, width: view.width - 16 },
				view,
			),
		],
		useUTC: true,
		grid: [{ left: 64, right: 28, top, height, outerBoundsMode: "none" }],
		xAxis: [
			{
				...lines(0, view),
				type: "time",
				boundaryGap: ["2%", "2%"],
				axisLine: { lineStyle: { color: colours.grid } },
				axisTick: { show: false },
				axisLabel: { color: colours.soft, hideOverlap: true },
			},
		],
		yAxis: [valueAxis(0, figure.unit, extent, { view, height })],
		series: figure.lines.map((line) => {
			const look = lineLook(line, view);
			const plain = withDots(line.points.map(({ at, value }) => [at, onAxis(value, extent)]));
			return {
				...look,
				...place(0),
				type: "line",
				showSymbol: true,
				showAllSymbol: true,
				symbolSize: 7,
				cursor: "pointer",
				data: plain.map((_, i) => {
					const { at, value, verdict } = line.points[i] as (typeof line.points)[number];
					return verdict === "pass" || value === null
						? { value: [at, onAxis(value, extent)], symbol: markOf(line.colour) }
						: {
								value: [at, onAxis(value, extent)],
								symbol: CROSS,
								symbolSize: 9,
								itemStyle: { color: verdict === "fail" ? colours.limit : look.color },
							};
				}),
			};
		}),
		dataZoom: [insideZoom([0]), ...(view.alone ? [] : [slider([0], 64, view)])],
	};
}

export function trendHeight(figure: TrendFigure, view: Omit<View, "height">): number {
	return headHeight(figure, view, figure.lines) + 330;
}

// --- internal ---

const CROSS = "path://M0 1L1 0L5 4L9 0L10 1L6 5L10 9L9 10L5 6L1 10L0 9L4 5Z";
