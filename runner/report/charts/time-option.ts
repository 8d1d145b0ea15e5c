import type { SeriesKey, TimeFigure, View } from "./figure.ts";
import {
	footroom,
	missingAt,
	missingBands,
	missingNames,
	shareText,
	valueWords,
} from "./missing.ts";
import {
	type Area,
	base,
	caption,
	gridOf,
	HEADROOM,
	label,
	labelWidth,
	limitParts,
	overlay,
	type Part,
	type Reading,
	SAMPLE,
	sample,
	withDots,
	xAxis,
	yAxis,
} from "./pieces.ts";
import { lowered, raised, type Scale, scaleOf } from "./scale.ts";
import { markNames, markSeries, secondTicks } from "./seconds.ts";
import { fitted, widthOf } from "./text.ts";
import { COLOURS, colourOf, lineType } from "./theme.ts";
import { secondText, unitText } from "./units.ts";

/** Panels below each other on one axis of seconds. */

type Panel = TimeFigure["panels"][number];

export function timeOption(figure: TimeFigure, view: View): Part {
	const above = caption(figure, view, legendKeys(figure, view));
	const panels = figure.panels.map((panel) => ({
		...panel,
		lines: panel.lines.filter(({ key }) => !view.off.has(key)),
	}));
	const { areas, scales } = layout(panels, view, [
		above.height,
		footroom(figure.unfinished),
	]);
	const colours = COLOURS[view.theme];
	const range = view.zoom ?? ([figure.from, figure.to] as const);
	const { ticks, text } = secondTicks(range, areas[0]?.width ?? view.width);
	return {
		...base(view),
		grid: areas.map(gridOf),
		xAxis: areas.map((_, grid) =>
			xAxis(
				{
					grid,
					min: figure.from,
					max: figure.to,
					ticks,
					text,
					labels: grid === areas.length - 1,
				},
				view,
			),
		),
		yAxis: panels.map((panel, i) =>
			yAxis(
				i,
				scales[i] as Scale,
				(value) => unitText(panel.unit, value),
				view,
			),
		),
		series: [
			...areas.map((area, i) => markSeries(i, figure.marks, area, colours)),
			markNames(figure.marks, areas[0] as Area, colours),
			...missingBands(0, figure.unfinished, areas[0] as Area, colours),
			...missingNames(0, figure.unfinished, areas[0] as Area, colours),
			...panels.flatMap((panel, i) =>
				panel.lines.map((line) => {
					const points =
						line.steps && !line.throughout ? stepped(line.points) : line.points;
					return {
						type: "line",
						xAxisIndex: i,
						yAxisIndex: i,
						data: withDots(points, (scales[i] as Scale).to),
						symbol: "none",
						showSymbol: true,
						showAllSymbol: true,
						silent: true,
						connectNulls: false,
						...(line.steps ? { step: "middle" } : {}),
						itemStyle: { color: colourOf(line, view.theme) },
						lineStyle: {
							color: colourOf(line, view.theme),
							width: line.dash === 0 ? 2 : 1.75,
							type: lineType(line),
							join: "round",
						},
						z: line.dash === 0 ? 4 : 3,
					};
				}),
			),
			overlay([
				...above.parts,
				...panels.flatMap((panel, i) =>
					headOf(
						i === 0 && figure.unfinished.unplaced !== null
							? {
									...panel,
									title: `${panel.title}; ${figure.unfinished.unplaced}`,
								}
							: panel,
						scales[i] as Scale,
						areas[i] as Area,
						view,
					),
				),
				...panels.flatMap((panel, i) =>
					limitParts(
						panel.limits,
						scales[i] as Scale,
						areas[i] as Area,
						view.theme,
					),
				),
			]),
		],
	};
}

export function timeHeight(
	figure: TimeFigure,
	view: Omit<View, "height">,
): number {
	const units = figure.panels.reduce((n, _, i) => n + weight(i), 0);
	return (
		caption(figure, view, legendKeys(figure, view)).height +
		figure.panels.length * HEAD +
		Math.round(units * 66) +
		FOOT
	);
}

export function timeStops(
	figure: TimeFigure,
	{ off }: Pick<View, "off">,
): number[] {
	// Panels have different stretches: those of the first one are what a step is.
	const [first] = figure.panels;
	const lines = (first?.lines ?? []).filter(({ key }) => !off.has(key));
	const seconds = (lines.length > 0 ? lines : (first?.lines ?? [])).flatMap(
		({ points }) => points.map(([second]) => second),
	);
	return [...new Set(seconds)].sort((a, b) => a - b);
}

export function timeReading(
	figure: TimeFigure,
	{ off }: View,
	x: number,
): Reading {
	const mark = figure.marks.findLast(
		({ from, to }) => x >= from && x < Math.max(to, from + 1e-9),
	);
	const missing = missingAt(figure.unfinished, x);
	return {
		x,
		title: `at ${secondText(x)}${mark === undefined ? "" : `, ${mark.text}`}`,
		rows: [
			...(missing === undefined
				? []
				: [{ key: null, name: "never completed", text: shareText(missing) }]),
			...figure.panels.flatMap(({ lines, unit, title }) =>
				lines
					.filter(({ key }) => !off.has(key))
					.map((key) => {
						const value = valueAt(key, x);
						return {
							key,
							name: sharesKeys(figure, key)
								? `${title}: ${key.name}`
								: key.name,
							text: valueWords(
								figure.unfinished,
								{ key: key.key, second: x },
								value === null ? null : unitText(unit, value),
							),
						};
					}),
			),
		],
	};
}

/** A key that several panels share has the first one's name, which is that of its process. */
export function timeKeys({ panels }: TimeFigure): SeriesKey[] {
	const keys = new Map<string, SeriesKey>();
	for (const { lines } of panels)
		for (const line of lines) if (!keys.has(line.key)) keys.set(line.key, line);
	return [...keys.values()];
}

// --- internal ---

/** Room for the title of a panel, and for the seconds below the last one. */
const HEAD = 28;
const FOOT = 30;

/** From so many pixels on there is room for a legend beside the title of each panel. */
const WIDE = 600;

/** What stands on top of all panels. */
function legendKeys(
	figure: TimeFigure,
	{ width, off }: Pick<View, "width" | "off">,
): SeriesKey[] {
	return width >= WIDE
		? []
		: timeKeys(figure).filter(({ key }) => !off.has(key));
}

/** The first panel is the one that people look at. */
function weight(i: number): number {
	return i === 0 ? 2.4 : 1;
}

function layout(
	panels: readonly Panel[],
	{ width, height, logarithmic }: View,
	[above, below]: readonly [caption: number, footroom: number],
): { readonly areas: readonly Area[]; readonly scales: readonly Scale[] } {
	const units = panels.reduce((n, _, i) => n + weight(i), 0);
	const unit = (height - above - panels.length * HEAD - FOOT) / units;
	const scales = panels.map((panel, i) => {
		const scale = scaleOf(
			[
				...panel.lines.flatMap(({ points }) =>
					points.map(([, value]) => value ?? 0),
				),
				...panel.limits.map(({ value }) => value),
			],
			// Only latencies are worth an axis of powers.
			i === 0 && logarithmic !== null ? logarithmic : panel.logarithmic,
			Math.max(2, Math.round((weight(i) * unit) / (i === 0 ? 36 : 24))),
		);
		if (i > 0) return scale;
		const size = weight(i) * unit;
		const above = raised(scale, size, HEADROOM);
		return below === 0 ? above : lowered(above, size, below);
	});
	const left =
		labelWidth(scales, (value, i) =>
			unitText((panels[i] as Panel).unit, value),
		) + 4;
	let top = above;
	const areas = panels.map((_, i) => {
		top += HEAD;
		const area = {
			left,
			top,
			width: width - left - 20,
			height: Math.max(20, weight(i) * unit),
		};
		top += area.height;
		return area;
	});
	return { areas, scales };
}

/** What a panel shows, and of a picture on its own which line is which. */
function headOf(
	panel: Panel,
	scale: Scale,
	area: Area,
	view: View,
): readonly Part[] {
	const colours = COLOURS[view.theme];
	const y = area.top - 8;
	const title = `${panel.title}${scale.logarithmic ? ", logarithmic" : ""}`;
	const legend: Part[] = [];
	let right = area.left + area.width;
	if (view.alone && view.width >= WIDE)
		for (const line of panel.lines.toReversed()) {
			const name = fitted(line.name, 200);
			right -= widthOf(name);
			legend.push(label(name, [right, y], { colour: colours.ink }));
			right -= SAMPLE + 6;
			legend.push(...sample(line, view.theme, [right, y - 4]));
			right -= 14;
		}
	return [
		label(fitted(title, right - area.left), [area.left, y], {
			colour: colours.soft,
		}),
		...legend,
	];
}

/** A count is the same all over its stretch: the first and the last one reach to their ends. */
function stepped(
	points: Panel["lines"][number]["points"],
): Panel["lines"][number]["points"] {
	const [a, b] = [points[0], points[1]];
	const [y, z] = [points.at(-2), points.at(-1)];
	if (!a || !b || !y || !z) return points;
	return [
		[a[0] - (b[0] - a[0]) / 2, a[1]],
		...points,
		[z[0] + (z[0] - y[0]) / 2, z[1]],
	];
}

/** Of the nearest point, if its stretch is there at all. */
function valueAt(
	{ points, throughout }: Panel["lines"][number],
	x: number,
): number | null {
	const [first, last] = [points[0], points.at(-1)];
	if (first === undefined || last === undefined) return null;
	if (throughout) return x >= first[0] && x <= last[0] ? first[1] : null;
	const width = (last[0] - first[0]) / (points.length - 1);
	if (x < first[0] - width || x > last[0] + width) return null;
	return points.reduce((a, b) =>
		Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a,
	)[1];
}

function sharesKeys({ panels }: TimeFigure, { key }: SeriesKey): boolean {
	return (
		panels.filter(({ lines }) => lines.some((l) => l.key === key)).length > 1
	);
}
