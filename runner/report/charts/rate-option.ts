import { formatBytesExact, formatCount } from "../../units.ts";
import type { RateFigure, SeriesKey, View } from "./figure.ts";
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
	withDots,
	xAxis,
	yAxis,
} from "./pieces.ts";
import { raised, roundTicks, type Scale, scaleOf } from "./scale.ts";
import { fitted, widthOf } from "./text.ts";
import { COLOURS, colourOf, lineType } from "./theme.ts";
import { unitText } from "./units.ts";

/** Latency or throughput over a number that is not time, with the intervals of its points. */

type Line = RateFigure["lines"][number];

export function rateOption(figure: RateFigure, view: View): Part {
	const lines = shownOf(figure, view);
	const above = caption(figure, view, lines);
	const text = (value: number) => unitText(figure.unit, value);
	const { top, bottom } = { top: above.height + 24, bottom: FOOT };
	const height = view.height - top - bottom;
	const values = lines.flatMap(({ points }) =>
		points.flatMap((p) => [p.value, p.high].filter((v) => v !== null)),
	);
	const flat = scaleOf(
		[...values, ...figure.limits.map(({ value }) => value)],
		view.logarithmic ?? (figure.unit === "ns" ? null : false),
		Math.max(2, Math.round(height / 45)),
	);
	const scale =
		figure.limits.length > 0 ? raised(flat, height, HEADROOM) : flat;
	const left = labelWidth([scale], text) + 4;
	const area: Area = { left, top, width: view.width - left - 28, height };
	const axis = axisOf(figure, view, area);
	const colours = COLOURS[view.theme];
	return {
		...base(view),
		grid: [gridOf(area)],
		xAxis: [xAxis({ grid: 0, ...axis }, view)],
		yAxis: [yAxis(0, scale, text, view)],
		series: [
			...lines.map((line) => ({
				type: "line",
				data: withDots(
					line.points.map(({ x, value }) => [axis.to(x), value]),
					scale.to,
				),
				symbol: SYMBOLS[line.dash % SYMBOLS.length],
				symbolSize: 7,
				showSymbol: true,
				showAllSymbol: true,
				silent: true,
				itemStyle: { color: colourOf(line, view.theme) },
				lineStyle: {
					color: colourOf(line, view.theme),
					width: 2,
					type: lineType(line),
					// Nothing lies between two cases: what joins them only leads the eye.
					opacity: figure.axis.names === null ? 1 : 0.45,
				},
				z: 3,
			})),
			inGrid(
				0,
				(to) =>
					lines.flatMap((line, i) =>
						intervalParts(line, (i - (lines.length - 1) / 2) * 3, scale, {
							view,
							to: (x, y) => to(axis.to(x), y),
						}),
					),
				2,
			),
			overlay([
				...above.parts,
				label(
					`${figure.unit === "ns" ? "latency" : "messages per second"}${scale.logarithmic ? ", logarithmic" : ""}`,
					[area.left, area.top - 8],
					{ colour: colours.soft },
				),
				label(
					fitted(figure.axis.title, area.width),
					[area.left + area.width, view.height - 6],
					{
						colour: colours.soft,
						align: "right",
					},
				),
				...limitParts(figure.limits, scale, area, view.theme),
			]),
		],
	};
}

export function rateHeight(
	figure: RateFigure,
	view: Omit<View, "height">,
): number {
	return caption(figure, view, shownOf(figure, view)).height + 300;
}

export function rateStops(figure: RateFigure, view: View): number[] {
	const { to } = transform(figure);
	const all = shownOf(figure, view).flatMap(({ points }) =>
		points.map(({ x }) => to(x)),
	);
	return [...new Set(all)].sort((a, b) => a - b);
}

export function rateReading(
	figure: RateFigure,
	view: View,
	x: number,
): Reading {
	const { to } = transform(figure);
	const lines = shownOf(figure, view);
	const own = lines
		.flatMap(({ points }) => points)
		.find((p) => to(p.x) === x)?.x;
	return {
		x,
		title: own === undefined ? "" : placeText(figure, own),
		rows: lines.map((key) => ({
			key,
			name: key.name,
			text: key.points.find((p) => p.x === own)?.text ?? "n/a",
		})),
	};
}

export function rateKeys({ lines }: RateFigure): readonly SeriesKey[] {
	return lines;
}

// --- internal ---

const FOOT = 48;
const SYMBOLS = ["circle", "diamond", "rect", "triangle"] as const;

function shownOf({ lines }: RateFigure, { off }: Pick<View, "off">): Line[] {
	return lines.filter(({ key }) => !off.has(key));
}

/** Sizes that differ by more than a factor of 20 stand by powers. */
function transform({ lines, axis }: RateFigure): {
	readonly to: (x: number) => number;
	readonly powers: boolean;
} {
	const all = lines.flatMap(({ points }) => points.map(({ x }) => x));
	const powers =
		axis.names === null &&
		Math.min(...all) > 0 &&
		Math.max(...all) / Math.min(...all) > 20;
	return { to: powers ? Math.log10 : (x) => x, powers };
}

function axisOf(figure: RateFigure, view: View, area: Area) {
	const { to, powers } = transform(figure);
	const { names } = figure.axis;
	const all = [
		...new Set(figure.lines.flatMap((l) => l.points.map(({ x }) => x))),
	].sort((a, b) => a - b);
	if (names !== null) {
		const widthEach = area.width / names.length;
		const every = Math.ceil(70 / widthEach);
		return {
			to,
			min: -0.5,
			max: names.length - 0.5,
			ticks: names.map((_, i) => i).filter((i) => i % every === 0),
			text: (i: number) => fitted(names[i] ?? "", widthEach * every - 8),
		};
	}
	const [low, high] = [to(all[0] ?? 0), to(all.at(-1) ?? 1)];
	if (powers) {
		const pad = (high - low) * 0.06;
		return {
			to,
			min: low - pad,
			max: high + pad,
			ticks: apart(all.map(to), area.width / (high - low + 2 * pad)),
			text: (at: number) =>
				tickText(figure, all.find((x) => to(x) === at) ?? 10 ** at),
		};
	}
	const max = high * 1.04;
	const widest = widthOf(tickText(figure, high)) + 24;
	const zoom = view.zoom ?? [0, max];
	return {
		to,
		min: 0,
		max,
		ticks: roundTicks(
			zoom[0],
			zoom[1],
			Math.min(8, Math.floor(area.width / widest)),
		),
		text: (x: number) => tickText(figure, x),
	};
}

/** Those that leave their labels room. */
function apart(ticks: readonly number[], pixels: number): number[] {
	const kept: number[] = [];
	for (const tick of ticks)
		if (kept.length === 0 || (tick - (kept.at(-1) ?? 0)) * pixels > 60)
			kept.push(tick);
	return kept;
}

function tickText({ axis }: RateFigure, x: number): string {
	return axis.unit === "bytes" ? formatBytesExact(x) : formatCount(x);
}

function placeText({ axis }: RateFigure, x: number): string {
	return (
		axis.names?.[x] ??
		(axis.unit === "bytes" ? formatBytesExact(x) : unitText(axis.unit, x))
	);
}

function intervalParts(
	line: Line,
	aside: number,
	scale: Scale,
	{
		view,
		to,
	}: {
		readonly view: View;
		readonly to: (x: number, y: number) => [number, number];
	},
): Part[] {
	return line.points.flatMap(({ x, low, high, value }): Part[] => {
		if (low === null || value === null) return [];
		const at = to(x, 0)[0] + aside;
		const bottom = to(x, scale.to(low))[1];
		// No upper bound exists: it goes to the top.
		const top = to(x, high === null ? scale.max : scale.to(high))[1];
		return [
			{
				type: "path",
				shape: {
					pathData: `M${at - 3} ${bottom}h6m-3 0V${top}${high === null ? "" : "m-3 0h6"}`,
				},
				style: {
					stroke: colourOf(line, view.theme),
					lineWidth: 1,
					fill: "none",
				},
			},
		];
	});
}
