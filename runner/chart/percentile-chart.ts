import { largestOf } from "../extremes.ts";
import { depthOf, type Extent, extentOf, onAxis, type Part, valueAxis } from "./axes.ts";
import {
	endName,
	frame,
	headHeight,
	heading,
	limitSeries,
	lineLook,
	place,
	shapes,
	shown,
	whiskers,
} from "./frame.ts";
import { percentileAxis } from "./old-axes.ts";
import type { PercentileFigure, View } from "./old-figure.ts";
import { COLOURS, colourOf } from "./theme.ts";
import { insideZoom } from "./zoom.ts";

/**
 * Latency by percentile, as HdrHistogram's plotters draw it: x is the number of nines, log10(1 / (1 - p)). A curve ends at the last
 * percentile that its samples carry, and goes on dotted to the maximum. Cases stand beside each other, with the same axes.
 */

type Curve = PercentileFigure["curves"][number];

export function percentileOption(figure: PercentileFigure, view: View): Part {
	const { areas, height, ends } = layout(figure, view);
	const deepest = deepestOf(figure);
	const extent = extentOf(valuesOf(figure), view.logarithmic);
	const name = `latency${extent.logarithmic ? ", logarithmic" : ""}`;
	const around = frame(figure, view, figure.curves);
	return {
		...around,
		title: [
			around.title,
			...areas.flatMap((area, i) => {
				const title = figure.panels[i]?.title ?? "";
				const at = (up: number) => ({ ...area, top: area.top - up });
				return [
					...(title === "" ? [] : [heading(title, at(42), view, true)]),
					heading(name, { ...at(23), left: area.left - LEFT + 8 }, view),
				];
			}),
		],
		grid: areas.map((area) => ({ ...area, outerBoundsMode: "none" })),
		xAxis: areas.map((_, i) => percentileAxis(i, deepest, view)),
		yAxis: areas.map((_, i) => valueAxis(i, "ns", extent, { view, height })),
		series: [
			...areas.flatMap(({ width }, i) =>
				limitSeries(i, limitsOf(figure), view, { position: "insideStartTop", room: width - 10 }),
			),
			...figure.curves.flatMap((curve) => [
				// A legend takes the look of the first that has a name; what is drawn above what, z says.
				line(curve, extent, view, ends),
				...(isCompared(figure)
					? band(curve, view)
					: [whiskers(curve.panel, curve, marksOf(curve), extent.max, view)]),
				...rest(curve, extent, view),
				...censored(curve, figure, { deepest, top: extent.max }, view),
			]),
			...figure.hidden.flatMap((hidden) => hiddenArea(figure, hidden, view)),
			...flags(figure, view),
		],
		// The same stretch of percentiles in all panels.
		dataZoom: [insideZoom(areas.map((_, i) => i))],
	};
}

export function percentileHeight(figure: PercentileFigure, view: Omit<View, "height">): number {
	const { columns, rows } = arrangement(figure, view);
	const each = columns === 1 && rows === 1 ? LONE_HEIGHT : MULTIPLE_HEIGHT;
	return headHeight(figure, view, figure.curves) + rows * each;
}

// --- internal ---

const LEFT = 64;
const WORDS_HEIGHT = 15;
const LONE_HEIGHT = 360;
const MULTIPLE_HEIGHT = 260;
/** Pixels that small multiples need beside each other. */
const MULTIPLE_WIDTH = 330;

function arrangement(
	{ panels }: PercentileFigure,
	{ width }: Pick<View, "width">,
): { columns: number; rows: number } {
	const columns = Math.max(1, Math.min(3, panels.length, Math.floor(width / MULTIPLE_WIDTH)));
	return { columns, rows: Math.ceil(panels.length / columns) };
}

/** Names stand at the ends of curves where they have room and are few. */
function layout(figure: PercentileFigure, view: View) {
	const { columns, rows } = arrangement(figure, view);
	const top = headHeight(figure, view, figure.curves);
	const titled = figure.panels.some(({ title }) => title !== "");
	const width = view.width / columns;
	const ends =
		isCompared(figure) &&
		width >= 450 &&
		figure.panels.every((_, i) => strongIn(figure, i).length <= MOST_ENDS);
	const right = ends ? 100 : 24;
	const each = (view.height - top) / rows;
	const above = titled ? 52 : 30;
	const height = each - above - 30;
	return {
		ends,
		height,
		areas: figure.panels.map((_, i) => ({
			left: (i % columns) * width + LEFT,
			top: top + Math.floor(i / columns) * each + above,
			width: width - LEFT - right,
			height,
		})),
	};
}

const MOST_ENDS = 6;

function strongIn({ curves }: PercentileFigure, panel: number): Curve[] {
	return curves.filter((c) => c.panel === panel && !c.thin && !c.hidden);
}

function valuesOf(figure: PercentileFigure): number[] {
	return [
		...figure.curves.flatMap(({ points, max }) => [
			points[0]?.[1] ?? 0,
			points.at(-1)?.[1] ?? 0,
			max?.value ?? 0,
		]),
		...limitsOf(figure).map(({ value }) => value),
	];
}

/** A little more, so that the last mark is whole. */
function deepestOf({ curves }: PercentileFigure): number {
	const all = curves.flatMap(({ max, points }) => [
		max === null ? 0 : depthOf(max.p),
		depthOf(points.at(-1)?.[0] ?? 0),
	]);
	return 1.02 * Math.max(2, largestOf(all));
}

/** Limits of the same value are one line: "p50 < 20ms, p99 < 20ms". */
function limitsOf({ limits }: PercentileFigure) {
	const texts = new Map<number, string[]>();
	for (const { value, text } of limits) texts.set(value, [...(texts.get(value) ?? []), text]);
	return [...texts].map(([value, all]) => ({ value, text: all.join(", ") }));
}

function line(curve: Curve, extent: Extent, view: View, ends: boolean): Part {
	const look = lineLook(curve, view);
	const marked = new Set(curve.thin ? [] : curve.marks.map(({ p }) => p));
	return {
		...look,
		...place(curve.panel),
		type: "line",
		// Each value holds until the next.
		step: "end",
		showSymbol: true,
		showAllSymbol: true,
		symbol: "none",
		data: curve.points.map(([p, value]) =>
			marked.has(p)
				? { value: [depthOf(p), onAxis(value, extent)], symbol: look.symbol, symbolSize: 6 }
				: [depthOf(p), onAxis(value, extent)],
		),
		...endName(curve, view, ends && !curve.thin),
	};
}

/** From the last percentile that is carried to the maximum. */
function rest(curve: Curve, extent: Extent, view: View): Part[] {
	const last = curve.points.at(-1);
	if (curve.max === null || last === undefined || curve.thin) return [];
	const look = lineLook(curve, view);
	return [
		{
			...look,
			...place(curve.panel),
			type: "line",
			symbol: "none",
			showSymbol: true,
			data: [
				[depthOf(last[0]), onAxis(last[1], extent)],
				{
					value: [depthOf(curve.max.p), onAxis(curve.max.value, extent)],
					symbol: "emptyCircle",
					symbolSize: 6,
				},
			],
			lineStyle: { color: look.color, width: 1.5, type: [1, 3] },
		},
	];
}

/** The intervals of named percentiles, as a band along the curve as far as they have both bounds. */
function band(curve: Curve, view: View): Part[] {
	const open = curve.marks.findIndex((m) => m.low == null || m.high == null);
	const marks = curve.marks.slice(0, open < 0 ? undefined : open);
	if (curve.thin || marks.length < 2) return [];
	const fill = colourOf(curve.colour, view.theme);
	return [
		shapes(
			curve.panel,
			curve,
			(to) => [
				{
					type: "polygon",
					shape: {
						points: [
							...marks.map(({ p, high }) => to(depthOf(p), high ?? 0)),
							...marks.toReversed().map(({ p, low }) => to(depthOf(p), low ?? 0)),
						],
					},
					style: { fill, opacity: 0.13 },
				},
			],
			1,
		),
	];
}

/** Several systems or sides: their names stand at the ends of their curves, and intervals are bands, as whiskers would hide each other. */
function isCompared({ curves }: PercentileFigure): boolean {
	const [first] = curves;
	return curves.some(({ colour }) => colour >= 0 && colour !== first?.colour);
}

function marksOf(curve: Curve) {
	return curve.marks.map(({ p, value, low = null, high = null }) => ({
		x: depthOf(p),
		value,
		low,
		high,
	}));
}

/** Some never completed: the curve ends, and an arrow says that it would go on beyond every value; words stand below those of other curves. */
function censored(
	curve: Curve,
	figure: PercentileFigure,
	{ deepest, top }: { readonly deepest: number; readonly top: number },
	view: View,
): Part[] {
	const last = curve.points.at(-1);
	if (curve.censored === null || last === undefined) return [];
	const { limit, page } = COLOURS[view.theme];
	const depth = depthOf(last[0]);
	const told = strongIn(figure, curve.panel).filter((c) => c.censored !== null);
	const row = told.indexOf(curve);
	return [
		{
			...place(curve.panel),
			name: shown(curve.group),
			type: "line",
			data: [],
			silent: true,
			markPoint: {
				silent: true,
				animation: false,
				symbol: "arrow",
				symbolSize: 14,
				symbolOffset: [0, 8],
				itemStyle: { color: colourOf(curve.colour, view.theme) },
				label: {
					// Of repeats that are thin lines the table tells.
					show: row >= 0,
					offset: [0, row * WORDS_HEIGHT],
					// Where there is room for words.
					position: depth < deepest / 2 ? "right" : "left",
					color: limit,
					textBorderColor: page,
					textBorderWidth: 3,
					formatter: "{b}",
				},
				data: [{ coord: [depth, top], name: shown(curve.censored) }],
			},
		},
	];
}

/** The area between two curves. */
function hiddenArea(
	{ curves }: PercentileFigure,
	{ upper, lower }: PercentileFigure["hidden"][number],
	view: View,
): Part[] {
	const above = curves.find((c) => c.key === upper);
	const below = curves.find((c) => c.key === lower);
	if (above === undefined || below === undefined) return [];
	const rows = between(above, below);
	if (rows.length < 2) return [];
	const { hidden } = COLOURS[view.theme];
	// Each value holds until the next.
	const edge = (of: "high" | "low") =>
		rows.flatMap((row, i): [number, number][] => {
			const before = rows[i - 1];
			const here: [number, number] = [row.depth, row[of]];
			return before === undefined ? [here] : [[row.depth, before[of]], here];
		});
	const points = [...edge("high"), ...edge("low").reverse()];
	return [
		shapes(
			above.panel,
			above,
			(to) => [
				{
					type: "polygon",
					shape: { points: points.map(([x, y]) => to(x, y)) },
					style: { fill: hidden, opacity: 0.16 },
				},
			],
			1,
		),
	];
}

/** Both curves where either has a point, as far as both go. */
function between(above: Curve, below: Curve) {
	const end = Math.min(above.points.at(-1)?.[0] ?? 0, below.points.at(-1)?.[0] ?? 0);
	const ps = [...above.points, ...below.points].map(([p]) => p).filter((p) => p <= end);
	const at = (curve: Curve, p: number) => curve.points.findLast((point) => point[0] <= p)?.[1] ?? 0;
	return [...new Set(ps)]
		.sort((a, b) => a - b)
		.map((p) => ({
			depth: depthOf(p),
			high: Math.max(at(above, p), at(below, p)),
			low: at(below, p),
		}));
}

/** Where a limit is judged: at its percentile. */
function flags(figure: PercentileFigure, view: View): Part[] {
	const { limit } = COLOURS[view.theme];
	const data = figure.limits.flatMap(({ p, value }) => (p === null ? [] : [[depthOf(p), value]]));
	return data.length === 0
		? []
		: figure.panels.map((_, i) => ({
				...place(i),
				type: "scatter",
				data,
				silent: true,
				symbol: "triangle",
				symbolRotate: 180,
				symbolSize: 9,
				symbolOffset: [0, -5],
				itemStyle: { color: limit },
				z: 5,
			}));
}
