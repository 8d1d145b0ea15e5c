import type { Figure, SeriesKey, View } from "./figure.ts";
import type { Scale } from "./scale.ts";
import { fitted, shown, widthOf, wrapped } from "./text.ts";
import { COLOURS, colourOf, dashesOf, FONT } from "./theme.ts";

/** Pieces that all pictures are put together from, as ECharts wants them. */

/** A graphic element or a part of an option: ECharts' own types ask for the whole library. */
export type Part = Readonly<Record<string, unknown>>;

/** The rectangle that curves are drawn in, pixels. */
export interface Area {
	readonly left: number;
	readonly top: number;
	readonly width: number;
	readonly height: number;
}

/** What a pointer tells: plain text, for those who point and for those who use keys. */
export interface Reading {
	/** Where it has snapped to, in the axis' own numbers. */
	readonly x: number;
	readonly title: string;
	readonly rows: readonly {
		readonly key: SeriesKey | null;
		readonly name: string;
		readonly text: string;
	}[];
}

/** What stands above the plot of a picture on its own: title, facts, legend. */
export function caption(
	{ title, facts }: Figure,
	view: Pick<View, "theme" | "width" | "alone">,
	keys: readonly SeriesKey[],
): { readonly height: number; readonly parts: readonly Part[] } {
	if (!view.alone) return { height: 8, parts: [] };
	const { ink, soft } = COLOURS[view.theme];
	const room = view.width - 2 * MARGIN;
	const parts: Part[] = [];
	let y = 8;
	for (const line of wrapped(title, room, 2, 15 * BOLD)) {
		parts.push(
			label(line, [MARGIN, y + 14], { colour: ink, size: 15, bold: true }),
		);
		y += 20;
	}
	for (const line of wrapped(facts, room, 3)) {
		parts.push(label(line, [MARGIN, y + 11], { colour: soft }));
		y += 16;
	}
	const legend = legendOf(keys, view, y + 6, room);
	return { height: legend.bottom + 6, parts: [...parts, ...legend.parts] };
}

/** Samples of lines with their names, in rows; what finds no room is counted. */
export function legendOf(
	keys: readonly SeriesKey[],
	{ theme }: Pick<View, "theme">,
	top: number,
	room: number,
): { readonly bottom: number; readonly parts: readonly Part[] } {
	const parts: Part[] = [];
	let [x, row] = [0, 0];
	const { soft } = COLOURS[theme];
	for (const [i, key] of keys.entries()) {
		const name = fitted(key.name, Math.min(room - 40, 420));
		const width = SAMPLE + 6 + widthOf(name) + 16;
		if (x > 0 && x + width > room) [x, row] = [0, row + 1];
		const y = top + row * 18 + 8;
		if (row === MOST_ROWS) {
			parts.push(
				label(`and ${keys.length - i} more`, [MARGIN, y + 4], { colour: soft }),
			);
			break;
		}
		parts.push(...sample(key, theme, [MARGIN + x, y]));
		parts.push(
			label(name, [MARGIN + x + SAMPLE + 6, y + 4], {
				colour: COLOURS[theme].ink,
			}),
		);
		x += width;
	}
	return {
		bottom: keys.length === 0 ? top - 6 : top + (row + 1) * 18,
		parts,
	};
}

/** A piece of the line of a key. */
export function sample(
	key: SeriesKey,
	theme: View["theme"],
	[x, y]: readonly [number, number],
): Part[] {
	return [
		{
			type: "line",
			silent: true,
			shape: { x1: x, y1: y, x2: x + SAMPLE, y2: y },
			style: {
				stroke: colourOf(key, theme),
				lineWidth: 2,
				lineDash: [...dashesOf(key)],
			},
		},
	];
}

/** Bold letters are wider. */
export const BOLD = 1.07;
export const SAMPLE = 26;
export const MARGIN = 12;

/** Text at a baseline. */
export function label(
	text: string,
	[x, y]: readonly [number, number],
	{
		colour,
		size = 12,
		bold = false,
		align = "left",
		halo = null,
		rotate = 0,
	}: {
		readonly colour: string;
		readonly size?: number;
		readonly bold?: boolean;
		readonly align?: "left" | "center" | "right";
		/** Colour behind the letters, where they stand on lines. */
		readonly halo?: string | null;
		/** Degrees, counter-clockwise. */
		readonly rotate?: number;
	},
): Part {
	return {
		type: "text",
		silent: true,
		x,
		y,
		rotation: (rotate * Math.PI) / 180,
		style: {
			text: shown(text),
			fill: colour,
			font: `${bold ? "600" : "400"} ${size}px ${FONT}`,
			align,
			verticalAlign: "bottom",
			y: size * 0.25,
			...(halo === null ? {} : { stroke: halo, lineWidth: 4 }),
		},
	};
}

/** What is drawn at pixels of its own, above or below the curves. */
export function overlay(parts: readonly Part[], z = 5): Part {
	return {
		type: "custom",
		coordinateSystem: "none",
		silent: true,
		z,
		data: [0],
		renderItem: () => ({ type: "group", children: parts }),
	};
}

/** What is drawn in the coordinates of a grid, and cut off at its edges. `draw` is given the way from them to pixels. */
export function inGrid(
	grid: number,
	draw: (to: (x: number, y: number) => [number, number]) => readonly Part[],
	z = 4,
): Part {
	return {
		type: "custom",
		coordinateSystem: "cartesian2d",
		xAxisIndex: grid,
		yAxisIndex: grid,
		silent: true,
		clip: true,
		z,
		data: [[0, 0]],
		renderItem: (
			_params: unknown,
			api: { coord: (point: readonly number[]) => number[] },
		) => ({
			type: "group",
			children: draw((x, y) => api.coord([x, y]) as [number, number]),
		}),
	};
}

/** What is the same in every picture. The pointer is the page's own: ECharts only draws. */
export function base({ theme, alone }: View): Part {
	const { page, soft } = COLOURS[theme];
	return {
		animation: false,
		backgroundColor: alone ? page : "transparent",
		textStyle: { fontFamily: FONT, fontSize: 12, color: soft },
	};
}

/** The x axis of a grid, in numbers; only these ticks, each with its text. */
export function xAxis(
	{
		grid,
		min,
		max,
		ticks,
		text,
		labels = true,
	}: {
		readonly grid: number;
		readonly min: number;
		readonly max: number;
		readonly ticks: readonly number[];
		readonly text: (tick: number) => string;
		readonly labels?: boolean;
	},
	view: View,
): Part {
	const colours = COLOURS[view.theme];
	const [from, to] = view.zoom ?? [min, max];
	return {
		type: "value",
		gridIndex: grid,
		min: from,
		max: to,
		axisLine: { lineStyle: { color: colours.grid } },
		axisTick: { show: false, customValues: ticks },
		splitLine: { show: true, lineStyle: { color: colours.grid } },
		axisLabel: {
			show: labels,
			customValues: ticks,
			color: colours.soft,
			fontSize: 12,
			margin: 8,
			hideOverlap: true,
			formatter: (value: number) => shown(text(nearest(ticks, value))),
		},
	};
}

/** The value axis of a grid. */
export function yAxis(
	grid: number,
	scale: Scale,
	text: (value: number) => string,
	{ theme }: View,
): Part {
	const colours = COLOURS[theme];
	const at = scale.ticks.map(scale.to);
	return {
		type: "value",
		gridIndex: grid,
		min: scale.min,
		max: scale.max,
		// For us: ECharts is given logarithms, and its axis is a linear one.
		logarithmic: scale.logarithmic,
		axisLine: { show: false },
		axisTick: { show: false, customValues: at },
		splitLine: { show: true, lineStyle: { color: colours.grid } },
		axisLabel: {
			customValues: at,
			color: colours.soft,
			fontSize: 12,
			margin: 6,
			formatter: (value: number) =>
				text(scale.ticks[at.indexOf(nearest(at, value))] ?? 0),
		},
	};
}

/** Room that the labels of value axes need. */
export function labelWidth(
	scales: readonly Scale[],
	text: (value: number, i: number) => string,
): number {
	const widths = scales.flatMap((scale, i) =>
		scale.ticks.map((tick) => widthOf(text(tick, i))),
	);
	return Math.ceil(Math.max(24, ...widths)) + 10;
}

export function gridOf({ left, top, width, height }: Area): Part {
	return {
		left,
		top,
		width,
		height,
		containLabel: false,
		outerBoundsMode: "none",
	};
}

/** Pixels above the values for the text and the flag of a limit, and for the names of phases. */
export const HEADROOM = 20;

/** Horizontal lines with their texts above them, on the side where curves are low; of two that are close the second text stands beside the first. */
export function limitParts(
	limits: readonly { readonly text: string; readonly value: number }[],
	scale: Scale,
	area: Area,
	theme: View["theme"],
	side: "left" | "right" = "right",
): Part[] {
	const { limit, page } = COLOURS[theme];
	const taken: { y: number; used: number }[] = [];
	const [lines, texts]: [Part[], Part[]] = [[], []];
	for (const { text, value } of limits) {
		const at = scale.to(value);
		if (at > scale.max || at < scale.min) continue;
		const y =
			area.top + area.height * (1 - (at - scale.min) / (scale.max - scale.min));
		// Below the line where it has no room above.
		const baseline = y - area.top < 18 ? y + 16 : y - 9;
		const used = taken
			.filter((t) => Math.abs(t.y - baseline) < 15)
			.reduce((sum, t) => sum + t.used, 0);
		const words = fitted(text, Math.max(0, area.width - used - 10));
		taken.push({ y: baseline, used: widthOf(words) + 14 });
		const x =
			side === "left"
				? area.left + 6 + used
				: area.left + area.width - 4 - used;
		lines.push({
			type: "line",
			silent: true,
			shape: { x1: area.left, y1: y, x2: area.left + area.width, y2: y },
			style: { stroke: limit, lineWidth: 1.5, lineDash: [7, 4] },
		});
		texts.push(
			label(words, [x, baseline], { colour: limit, halo: page, align: side }),
		);
	}
	// No line strikes a text through, be it that of another limit.
	return [...lines, ...texts];
}

/** Where no line is drawn, as its neighbours are missing, the point itself. */
export function withDots(
	points: readonly (readonly [number, number | null])[],
	to: (value: number) => number,
): unknown[] {
	const gap = (i: number) => (points[i]?.[1] ?? null) === null;
	return points.map(([x, value], i) => {
		if (value === null) return [x, null];
		return gap(i - 1) && gap(i + 1)
			? { value: [x, to(value)], symbol: "circle", symbolSize: 4 }
			: [x, to(value)];
	});
}

// --- internal ---

const MOST_ROWS = 4;

function nearest(list: readonly number[], value: number): number {
	return list.reduce(
		(a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a),
		list[0] ?? value,
	);
}
