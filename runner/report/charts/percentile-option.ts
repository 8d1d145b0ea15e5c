import { formatDuration } from "../../units.ts";
import type { PercentileFigure, SeriesKey, View } from "./figure.ts";
import { hiddenParts } from "./hidden-area.ts";
import { depthOf, nineTicks, percentText } from "./nines.ts";
import {
	type Area,
	base,
	caption,
	gridOf,
	HEADROOM,
	inGrid,
	label,
	labelWidth,
	limitParts,
	overlay,
	type Part,
	type Reading,
	xAxis,
	yAxis,
} from "./pieces.ts";
import { raised, type Scale, scaleOf } from "./scale.ts";
import { widthOf } from "./text.ts";
import { COLOURS, colourOf, lineType } from "./theme.ts";

/**
 * Latency by percentile, as HdrHistogram's plotters draw it: x is the number of nines, log10(1 / (1 - p)). A curve ends at the last
 * percentile that its samples carry, and goes on dotted to the maximum.
 */

type Curve = PercentileFigure["curves"][number];

export function percentileOption(figure: PercentileFigure, view: View): Part {
	const curves = shownOf(figure, view);
	const { scale, nines, area, top } = layout(figure, view);
	const colours = COLOURS[view.theme];
	const ticks = nineTicks(view.zoom ?? [0, nines], area);
	return {
		...base(view),
		grid: [gridOf(area)],
		xAxis: [
			xAxis({ grid: 0, min: 0, max: nines, ticks, text: percentText }, view),
		],
		yAxis: [yAxis(0, scale, formatDuration, view)],
		series: [
			...curves.flatMap((curve) => lines(curve, scale, view)),
			inGrid(0, (to) => hiddenParts(figure, view, scale, area, to), 1),
			inGrid(0, (to) => [
				...curves.flatMap((curve) =>
					markParts(curve, curves.length, scale, view, to),
				),
				...curves.flatMap((curve) =>
					censoredParts(curve, figure, scale, view, to),
				),
				...flagParts(figure, scale, nines, view, to),
			]),
			overlay([
				...top,
				label(
					`latency${scale.logarithmic ? ", logarithmic" : ""}`,
					[area.left, area.top - 8],
					{ colour: colours.soft },
				),
				label("percentile", [area.left + area.width, view.height - 6], {
					colour: colours.soft,
					align: "right",
				}),
				...limitParts(limitsOf(figure), scale, area, view.theme, "left"),
			]),
		],
	};
}

export function percentileHeight(
	figure: PercentileFigure,
	view: Omit<View, "height">,
): number {
	return (
		caption(figure, view, shownOf(figure, view)).height +
		(view.width < 500 ? 300 : 340)
	);
}

/** The percentiles with a name, and the maximum: what the tables have. */
export function percentileStops(
	figure: PercentileFigure,
	view: Pick<View, "off">,
): number[] {
	const curves = shownOf(figure, view);
	const named = curves.flatMap((c) => c.marks.map(({ p }) => depthOf(p)));
	const deepest = Math.max(...curves.map(maxDepth));
	const stops = [...named, ...(Number.isFinite(deepest) ? [deepest] : [])];
	return [...new Set(stops)].sort((a, b) => a - b);
}

export function percentileReading(
	figure: PercentileFigure,
	view: View,
	x: number,
): Reading {
	const curves = shownOf(figure, view);
	const p = curves
		.flatMap((c) => c.marks)
		.find((mark) => depthOf(mark.p) === x)?.p;
	if (p === undefined)
		return {
			x,
			title: "maximum",
			rows: curves.map((key) => ({
				key,
				name: shortName(key),
				text: key.max ? formatDuration(key.max.value) : (key.censored ?? "n/a"),
			})),
		};
	return {
		x,
		title: `p${p}`,
		rows: curves.map((key) => {
			const mark = key.marks.find((m) => m.p === p);
			return {
				key,
				name: shortName(key),
				text: mark
					? `${mark.text} ${mark.interval}`.trim()
					: (key.censored ?? "n/a"),
			};
		}),
	};
}

export function percentileKeys(figure: PercentileFigure): readonly SeriesKey[] {
	return figure.curves;
}

// --- internal ---

function layout(figure: PercentileFigure, view: View) {
	const curves = shownOf(figure, view);
	const above = caption(figure, view, curves);
	const height = view.height - above.height - 24 - 46;
	const values = curves.flatMap((c) => [
		c.points[0]?.[1] ?? 0,
		c.points.at(-1)?.[1] ?? 0,
		c.max?.value ?? 0,
	]);
	const flat = scaleOf(
		[...values, ...figure.limits.map(({ value }) => value)],
		view.logarithmic,
		Math.max(2, Math.round(height / 50)),
	);
	const crowned =
		figure.limits.length > 0 || curves.some((c) => c.censored !== null);
	const scale = crowned ? raised(flat, height, HEADROOM) : flat;
	const left = labelWidth([scale], formatDuration) + 4;
	const area: Area = {
		left,
		top: above.height + 24,
		width: view.width - left - 34,
		height,
	};
	// A little more, so that the last mark is whole.
	const deepest =
		1.015 *
		Math.max(
			2,
			...curves.map(maxDepth),
			...curves.map((c) => depthOf(c.points.at(-1)?.[0] ?? 0)),
		);
	return { scale, nines: deepest, area, top: above.parts };
}

function shownOf(
	{ curves }: PercentileFigure,
	{ off }: Pick<View, "off">,
): Curve[] {
	return curves.filter(({ key }) => !off.has(key));
}

function maxDepth({ max }: Curve): number {
	return max === null ? Number.NEGATIVE_INFINITY : depthOf(max.p);
}

/** "response" of "response: from the intended send time". */
function shortName({ name, metric }: Curve): string {
	return name.startsWith(`${metric}: `) ? metric : name;
}

function lines(curve: Curve, scale: Scale, view: View): Part[] {
	const colour = colourOf(curve, view.theme);
	const points = curve.points.map(([p, value]) => [
		depthOf(p),
		scale.to(value),
	]);
	const last = points.at(-1);
	const beyond =
		last === undefined
			? []
			: curve.max !== null
				? [last, [depthOf(curve.max.p), scale.to(curve.max.value)]]
				: curve.censored !== null
					? [last, [last[0], scale.max]]
					: [];
	const line = { symbol: "none", silent: true, type: "line", z: 3 };
	return [
		{
			...line,
			step: "end",
			data: points,
			lineStyle: { color: colour, width: 2, type: lineType(curve) },
		},
		{
			...line,
			data: beyond,
			lineStyle: { color: colour, width: 2, type: [1.5, 4], cap: "round" },
		},
	];
}

/** Circles at the percentiles with a name, a diamond at the maximum; in a crowd only the latter. */
function markParts(
	curve: Curve,
	of: number,
	scale: Scale,
	{ theme }: View,
	to: (x: number, y: number) => [number, number],
): Part[] {
	const fill = colourOf(curve, theme);
	const parts: Part[] =
		of > 6
			? []
			: curve.marks.map(({ p, value }) => {
					const [cx, cy] = to(depthOf(p), scale.to(value));
					return { type: "circle", shape: { cx, cy, r: 3 }, style: { fill } };
				});
	if (curve.max !== null) {
		const [x, y] = to(depthOf(curve.max.p), scale.to(curve.max.value));
		parts.push({
			type: "polygon",
			shape: {
				points: [
					[x - 4.5, y],
					[x, y - 4.5],
					[x + 4.5, y],
					[x, y + 4.5],
				],
			},
			style: { fill },
		});
	}
	return parts;
}

/** How many never completed, beside the dotted line that goes up to nowhere. */
function censoredParts(
	curve: Curve,
	{ limits }: PercentileFigure,
	scale: Scale,
	{ theme }: View,
	to: (x: number, y: number) => [number, number],
): Part[] {
	const last = curve.points.at(-1);
	if (curve.censored === null || last === undefined) return [];
	const [x, low] = to(depthOf(last[0]), scale.to(last[1]));
	const [left, top] = to(0, scale.max);
	const lines = limits.map(({ value }) => to(0, scale.to(value))[1]);
	const free = [14, 34, 54, 74, 94]
		.map((by) => top + by)
		.find((y) => y < low && lines.every((l) => y < l - 22 || y > l + 16));
	const right = x - left > widthOf(curve.censored) + 10;
	return [
		label(curve.censored, [right ? x - 8 : x + 8, free ?? top + 14], {
			colour: colourOf(curve, theme),
			halo: COLOURS[theme].page,
			align: right ? "right" : "left",
		}),
	];
}

/** An SLA is met when the curve is below its line at its percentile, where the flag is. */
function flagParts(
	{ limits }: PercentileFigure,
	scale: Scale,
	deepest: number,
	{ theme }: View,
	to: (x: number, y: number) => [number, number],
): Part[] {
	return limits.map(({ p, value }) => {
		const depth = Math.min(p === null ? deepest : depthOf(p), deepest);
		const [x, y] = to(depth, scale.to(value));
		return {
			type: "polygon",
			shape: {
				points: [
					[x, y],
					[x - 5.5, y - 10],
					[x + 5.5, y - 10],
				],
			},
			style: { fill: COLOURS[theme].limit },
		};
	});
}

/** "p99 < 20ms: FAIL" */
function limitsOf({ limits }: PercentileFigure) {
	return limits.map(({ text, value, verdict }) => ({
		text: verdict === "" ? text : `${text}: ${verdict.toUpperCase()}`,
		value,
	}));
}
