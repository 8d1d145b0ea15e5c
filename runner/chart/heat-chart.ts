import { largestOf, smallestOf } from "../extremes.ts";
import { formatCount } from "../units.ts";
import { extentOf, type Part, valueAxis } from "./axes.ts";
import { frame, headHeight, heading, limitSeries, place } from "./frame.ts";
import { secondAxis } from "./old-axes.ts";
import type { HeatFigure, View } from "./old-figure.ts";
import { COLOURS, HEAT } from "./theme.ts";
import { missingMarks } from "./time-chart.ts";
import { insideZoom, RIGHT, slider } from "./zoom.ts";

/** Samples by second and latency: the darker a cell, the more messages; its shade goes by the logarithm of their number. */

export function heatOption(figure: HeatFigure, view: View): Part {
	const { bins, end, cells, width } = figure;
	const colours = COLOURS[view.theme];
	const top = headHeight(figure, view, []) + 30;
	const height = view.height - top - FOOT;
	const used = cells.map(([, bin]) => bin);
	const extent = { min: bins[smallestOf(used)] ?? 1, max: bins[largestOf(used) + 1] ?? end };
	const limits = figure.limits.map(({ value }) => value);
	const whole = extentOf([extent.min, extent.max, ...limits], view.logarithmic ?? true);
	const most = largestOf(cells.map(([, , count]) => count));
	const around = frame(figure, view, []);
	return {
		...around,
		title: [
			around.title,
			heading(
				`latency${whole.logarithmic ? ", logarithmic" : ""}; darkest: ${formatCount(most)} messages`,
				{ left: 8, top: top - 23, width: view.width - 16 },
				view,
			),
		],
		grid: [{ left: 64, right: RIGHT, top, height, outerBoundsMode: "none" }],
		xAxis: [secondAxis(0, figure, { view, labels: true })],
		yAxis: [valueAxis(0, "ns", whole, { view, height })],
		series: [
			...limitSeries(0, figure.limits, view),
			{
				...place(0),
				type: "line",
				data: [],
				silent: true,
				markArea: {
					silent: true,
					animation: false,
					label: {
						position: "insideTopLeft",
						color: colours.soft,
						textBorderColor: colours.page,
						textBorderWidth: 3,
					},
					data: [
						...(figure.from < 0
							? [
									[
										{ name: "warm-up", xAxis: figure.from, itemStyle: { color: colours.band } },
										{ xAxis: 0 },
									],
								]
							: []),
						...missingMarks(figure, view),
					],
				},
			},
			{
				...place(0),
				type: "custom",
				silent: true,
				clip: true,
				z: 3,
				data: cells.map(([second, bin, count]) => [
					second + width / 2,
					bins[bin] ?? 0,
					bins[bin + 1] ?? end,
					count,
				]),
				renderItem: (_: unknown, api: CellApi) => {
					const middle = api.value(0);
					const [x = 0, bottom = 0] = api.coord([
						middle - width / 2,
						Math.max(api.value(1), whole.min),
					]);
					const [right = 0, above = 0] = api.coord([middle + width / 2, api.value(2)]);
					return {
						type: "rect",
						shape: {
							x,
							y: above,
							width: Math.max(1, right - x - 0.5),
							height: Math.max(1, bottom - above),
						},
						style: { fill: shadeOf(api.value(3), most, view.theme) },
					};
				},
			},
		],
		dataZoom: [insideZoom([0]), ...(view.alone ? [] : [slider([0], 64, view)])],
	};
}

export function heatHeight(figure: HeatFigure, view: Omit<View, "height">): number {
	return headHeight(figure, view, []) + 320;
}

/** The colour of a cell: 1 message has the lightest, the fullest cell the darkest. */
function shadeOf(count: number, most: number, theme: View["theme"]): string {
	const all = HEAT[theme];
	const part = most <= 1 ? 1 : Math.log(count) / Math.log(most);
	return all[Math.min(all.length - 1, Math.floor(part * all.length))] as string;
}

// --- internal ---

const FOOT = 56;

interface CellApi {
	value(dimension: number): number;
	coord(point: readonly number[]): number[];
}
