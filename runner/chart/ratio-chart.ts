import { largestOf } from "../extremes.ts";
import { lines, type Part } from "./axes.ts";
import { frame, headHeight, heading, place, shapes, shown } from "./frame.ts";
import type { RatioFigure, View } from "./old-figure.ts";
import { COLOURS } from "./theme.ts";

/** Ratios with their intervals below each other, on an axis on which twice and half are equally far from 1; the margin is a band around 1. */

export function ratioOption(figure: RatioFigure, view: View): Part {
	const { rows } = figure;
	const top = headHeight(figure, view, []) + 34;
	const colours = COLOURS[view.theme];
	const around = frame(figure, view, []);
	const edge = edgeOf(figure);
	const left = view.width < 500 ? 96 : 150;
	return {
		...around,
		title: [
			around.title,
			heading(
				"ratio with its 95 % interval; the band: what the margin allows",
				{ left: 8, top: top - 23, width: view.width - 16 },
				view,
			),
		],
		grid: [
			{
				left,
				right: view.width < 500 ? 20 : 150,
				top,
				height: rows.length * ROW,
				outerBoundsMode: "none",
			},
		],
		xAxis: [
			{
				...lines(0, view),
				type: "log",
				min: 1 / edge,
				max: edge,
				axisLine: { show: false },
				axisTick: { show: false },
				axisLabel: {
					color: colours.soft,
					customValues: TICKS.filter((x) => x <= edge && x >= 1 / edge),
					hideOverlap: true,
					formatter: (x: number) => `${Number(x.toPrecision(3))}x`,
				},
			},
		],
		yAxis: [
			{
				...lines(0, view),
				type: "category",
				inverse: true,
				data: rows.map(({ name }) => shown(name)),
				splitLine: { show: false },
				axisLine: { show: false },
				axisTick: { show: false },
				axisLabel: { color: colours.ink, width: left - 12, overflow: "truncate" },
			},
		],
		series: [
			shapes(
				0,
				null,
				(to) =>
					rows.flatMap((row, i): Part[] => {
						const [from, y] = to(1 / (1 + row.margin), i);
						const until = to(1 + row.margin, i)[0];
						return [
							{
								type: "rect",
								shape: { x: from, y: y - ROW / 2 + 2, width: until - from, height: ROW - 4 },
								style: { fill: colours.band },
							},
						];
					}),
				1,
			),
			shapes(0, null, (to) =>
				rows.flatMap(({ low, high, ratio, look }, i) =>
					interval({ low, high, ratio, edge }, i, to, lookColour(look, view)),
				),
			),
			{
				...place(0),
				type: "scatter",
				symbolSize: 10,
				z: 4,
				data: rows.map(({ ratio, look }, i) => ({
					value: [Math.max(1 / edge, Math.min(edge, ratio)), i],
					symbol: SYMBOLS[look],
					itemStyle: { color: lookColour(look, view) },
				})),
				markLine: {
					silent: true,
					symbol: "none",
					animation: false,
					label: { show: false },
					lineStyle: { color: colours.soft, type: "solid", width: 1 },
					data: [{ xAxis: 1 }],
				},
			},
			...(view.width < 500
				? []
				: [
						{
							...place(0),
							type: "scatter",
							silent: true,
							symbolSize: 0,
							data: rows.map(({ word }, i) => ({
								value: [edge, i],
								label: {
									show: true,
									position: "right",
									color: colours.ink,
									formatter: shown(word),
								},
							})),
						},
					]),
		],
	};
}

export function ratioHeight(figure: RatioFigure, view: Omit<View, "height">): number {
	return headHeight(figure, view, []) + 34 + figure.rows.length * ROW + 34;
}

// --- internal ---

const ROW = 30;
const TICKS = [
	0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 5, 10, 20, 50, 100,
];
/** Verdicts are told by form as well. */
const SYMBOLS = {
	fail: "triangle",
	inconclusive: "diamond",
	pass: "circle",
	unknown: "emptyCircle",
} as const;

/** How far the axis goes to both sides: at least as far as the widest margin, at most to 100 times. */
function edgeOf({ rows }: RatioFigure): number {
	const all = rows.flatMap(({ ratio, low, high, margin }) => [
		ratio,
		low ?? ratio,
		high ?? ratio,
		1 + 1.5 * margin,
	]);
	const far = all.filter((x) => x > 0 && Number.isFinite(x)).map((x) => Math.max(x, 1 / x));
	return Math.min(100, 1.08 * Math.max(1.2, largestOf(far)));
}

/** A bound that is not known, or lies outside, has an arrow. */
function interval(
	{
		low,
		high,
		ratio,
		edge,
	}: Pick<RatioFigure["rows"][number], "low" | "high" | "ratio"> & { readonly edge: number },
	row: number,
	to: (x: number, y: number) => [number, number],
	stroke: string,
): Part[] {
	if (low === null && high === null) return [];
	const end = (bound: number | null, out: number, sign: 1 | -1) => {
		const open = bound === null || bound > edge || bound < 1 / edge;
		const [x, y] = to(open ? out : bound, row);
		return {
			x,
			path: open
				? `M${x - sign * 7} ${y - 4}L${x} ${y}L${x - sign * 7} ${y + 4}`
				: `M${x} ${y - 5}V${y + 5}`,
		};
	};
	const left = end(low, 1 / edge, -1);
	const right = end(high, edge, 1);
	const [, y] = to(ratio, row);
	return [
		{
			type: "path",
			shape: { pathData: `M${left.x} ${y}H${right.x}${left.path}${right.path}` },
			style: { stroke, lineWidth: 2, fill: "none" },
		},
	];
}

function lookColour(look: RatioFigure["rows"][number]["look"], { theme }: View): string {
	const { limit, grey, soft, good } = COLOURS[theme];
	return { fail: limit, pass: good, inconclusive: soft, unknown: grey }[look];
}
