import { formatCount, formatDuration } from "../../units.ts";
import type { HeatFigure, SeriesKey, View } from "./figure.ts";
import {
	footroom,
	missingAt,
	missingBands,
	missingNames,
	shareText,
} from "./missing.ts";
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
import { lowered, raised, type Scale, scaleOf } from "./scale.ts";
import { markNames, markSeries, secondTicks } from "./seconds.ts";
import { fitted, widthOf } from "./text.ts";
import { COLOURS, HEAT } from "./theme.ts";
import { secondText } from "./units.ts";

/** Every message by second and latency: the darker (in the dark: the brighter) the more, by powers. */
export function heatOption(figure: HeatFigure, view: View): Part {
	const above = caption(figure, view, []);
	const scale = valueScale(figure, view);
	const left = labelWidth([scale], formatDuration) + 4;
	const width = view.width - left - 20;
	const title = titleOf(figure);
	// Where both have no room beside each other, the colours have a row of their own.
	const row = widthOf(title) + 12 + legendWidth(figure) > width ? 18 : 0;
	const top = above.height + 28 + row;
	const area: Area = { left, top, width, height: view.height - top - 30 };
	const colours = COLOURS[view.theme];
	const range = view.zoom ?? ([figure.from, figure.to] as const);
	const { ticks, text } = secondTicks(range, area.width);
	const warmup =
		figure.from < 0 ? [{ from: figure.from, to: 0, text: "warm-up" }] : [];
	return {
		...base(view),
		grid: [gridOf(area)],
		xAxis: [
			xAxis({ grid: 0, min: figure.from, max: figure.to, ticks, text }, view),
		],
		yAxis: [yAxis(0, scale, formatDuration, view)],
		series: [
			markSeries(0, warmup, area, colours),
			markNames(warmup, area, colours),
			...missingBands(0, figure.unfinished, area, colours),
			...missingNames(0, figure.unfinished, area, colours),
			inGrid(0, (to) => cellParts(figure, scale, view, to), 2),
			overlay([
				...above.parts,
				label(fitted(title, width), [area.left, area.top - 8 - row], {
					colour: colours.soft,
				}),
				...legendParts(figure, area, view),
				...limitParts(figure.limits, scale, area, view.theme),
			]),
		],
	};
}

export function heatHeight(
	figure: HeatFigure,
	view: Omit<View, "height">,
): number {
	return caption(figure, view, []).height + 270;
}

export function heatStops(figure: HeatFigure): number[] {
	const seconds = new Set([
		...figure.cells.map(([second]) => second),
		...figure.unfinished.stretches.map(({ from }) => from),
	]);
	return [...seconds].sort((a, b) => a - b).map((s) => s + figure.width / 2);
}

export function heatReading(
	figure: HeatFigure,
	_view: View,
	x: number,
): Reading {
	const column = x - figure.width / 2;
	const cells = figure.cells
		.filter(([second]) => second === column)
		.toSorted((a, b) => b[1] - a[1]);
	const all = cells.reduce((n, [, , count]) => n + count, 0);
	const [most] = cells.toSorted((a, b) => b[2] - a[2]);
	const missing = missingAt(figure.unfinished, x);
	const row = (name: string, cell: HeatFigure["cells"][number] | null) =>
		cell === null
			? []
			: [
					{
						key: null,
						name,
						text: `${formatDuration(figure.bins[cell[1]] ?? 0)} to ${formatDuration(upper(figure, cell[1]))}: ${formatCount(cell[2])}`,
					},
				];
	return {
		x,
		title: `from ${secondText(column)} to ${secondText(column + figure.width)}`,
		rows: [
			{ key: null, name: "messages", text: formatCount(all) },
			...(missing === undefined
				? []
				: [{ key: null, name: "never completed", text: shareText(missing) }]),
			...row(
				missing === undefined ? "slowest" : "slowest that completed",
				cells[0] ?? null,
			),
			...row("most", most ?? null),
		],
	};
}

/** There is nothing to switch. */
export function heatKeys(): SeriesKey[] {
	return [];
}

/** Which step of the colours so many messages have. */
export function heatLevel(count: number, most: number, levels: number): number {
	return most <= 1
		? levels - 1
		: Math.round(((levels - 1) * Math.log(count)) / Math.log(most));
}

// --- internal ---

function upper({ bins, end }: HeatFigure, bin: number): number {
	return bins[bin + 1] ?? end;
}

/** Bins are of equal ratio: the axis is logarithmic whatever is wanted, or they would not be seen. */
function valueScale(figure: HeatFigure, view: View): Scale {
	const { cells, bins, end, limits } = figure;
	const used = cells.flatMap(([, bin]) => [bins[bin] ?? 0, upper(figure, bin)]);
	const height = view.height - 130;
	const scale = scaleOf(
		[...(used.length > 0 ? used : [end]), ...limits.map(({ value }) => value)],
		true,
		Math.max(2, Math.round(height / 40)),
	);
	const above = raised(scale, height, HEADROOM);
	const below = footroom(figure.unfinished);
	return below === 0 ? above : lowered(above, height, below);
}

/** One path for each colour: thousands of cells would be slow. */
function cellParts(
	figure: HeatFigure,
	scale: Scale,
	{ theme }: View,
	to: (x: number, y: number) => [number, number],
): Part[] {
	const colours = HEAT[theme];
	const most = Math.max(...figure.cells.map(([, , count]) => count));
	const paths: string[] = colours.map(() => "");
	for (const [second, bin, count] of figure.cells) {
		const [x, y] = to(second, scale.to(figure.bins[bin] ?? 0)).map(Math.round);
		const [right, top] = to(
			second + figure.width,
			scale.to(upper(figure, bin)),
		).map(Math.round);
		const width = Math.max(1, (right ?? 0) - (x ?? 0));
		const height = Math.max(1, (y ?? 0) - (top ?? 0));
		paths[heatLevel(count, most, colours.length)] +=
			`M${x} ${y}h${width}v${-height}h${-width}z`;
	}
	return paths.flatMap((pathData, level) =>
		pathData === ""
			? []
			: [
					{
						type: "path",
						shape: { pathData },
						style: { fill: colours[level] },
					},
				],
	);
}

function titleOf({ width, unfinished }: HeatFigure): string {
	return [
		"latency, logarithmic",
		...(width > 1 ? [`columns of ${width} seconds`] : []),
		...(unfinished.unplaced === null ? [] : [unfinished.unplaced]),
	].join("; ");
}

function mostText({ cells }: HeatFigure): string {
	return `${formatCount(Math.max(...cells.map(([, , count]) => count)))} messages`;
}

function legendWidth(figure: HeatFigure): number {
	return (
		widthOf(mostText(figure)) + 6 + HEAT.light.length * 9 + 6 + widthOf("1")
	);
}

/** "1 [steps] 2 400 messages" */
function legendParts(figure: HeatFigure, area: Area, { theme }: View): Part[] {
	const colours = COLOURS[theme];
	const steps = HEAT[theme];
	const text = mostText(figure);
	const y = area.top - 8;
	let x = area.left + area.width - widthOf(text);
	const parts = [label(text, [x, y], { colour: colours.soft })];
	x -= 6 + steps.length * 9;
	for (const [i, fill] of steps.entries())
		parts.push({
			type: "rect",
			shape: { x: x + i * 9, y: y - 9, width: 9, height: 9 },
			style: { fill },
		});
	return [
		...parts,
		label("1", [x - 6, y], { colour: colours.soft, align: "right" }),
	];
}
