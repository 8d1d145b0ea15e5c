import { largestOf } from "../extremes.ts";
import { deepestOf, depthOf, type Extent, onAxis, type Place, placeOf } from "./axes.ts";
import type { Datum, Figure, Series, Span, View } from "./figure.ts";
import { type Part, shown } from "./head.ts";
import { COLOURS, colourOf, HEAT, lineType, markOf } from "./theme.ts";

/** What stands in the grids of a figure: limits and spans first, then its series, then what is above all. */
export function seriesOf(places: readonly Place[]): Part[] {
	return [
		...places.flatMap((place) => [...limitLines(place), ...spanAreas(place)]),
		...places.flatMap((place) => {
			const drawn = place.panel.series.filter(({ draw }) => draw !== "words");
			return drawn.flatMap((one, i) => {
				if (one.draw === "cells") return [cells(one, place)];
				// Systems stand beside each other over a name.
				const apart = place.figure.x.scale === "names" ? Math.min(12, 60 / drawn.length) : 0;
				const aside = (i - (drawn.length - 1) / 2) * apart;
				// A legend takes the look of the first that has a name; what is drawn above what, z says.
				return [line(one, place, aside), ...intervals(one, place, aside), ...end(one, place)];
			});
		}),
		...places.slice(0, 1).flatMap(between),
		...places.flatMap(flags),
	];
}

/** Several systems or sides: their names stand at the ends of their curves, and intervals are bands, as whiskers would hide each other. */
export function isCompared({ panels }: Figure): boolean {
	const all = panels.flatMap(({ series }) => series);
	return all.some(({ color }) => color >= 0 && color !== all[0]?.color);
}

/** Of a figure that is turned: areas that are allowed, intervals, values in the form of their verdict, and the words of it. */
export function turnedSeries({ panel, extent, view }: Place): Part[] {
	const { band, soft, ink, limit, good, grey } = COLOURS[view.theme];
	const of = (draw: Series["draw"]) =>
		panel.series.filter((one) => one.draw === draw).flatMap(({ data }) => data);
	const dots = of("dots").flatMap((datum) => (datum.y === null ? [] : [{ ...datum, y: datum.y }]));
	const words = view.width < 500 ? [] : of("words");
	const colourOfLook = (look = "") =>
		({ fail: limit, pass: good, inconclusive: soft })[look] ?? grey;
	const margins = (to: To) =>
		of("cells").map(({ x, x2 = x, y, y2 = 0 }) => {
			const [left, middle] = to(y ?? 0, (x + x2) / 2);
			const shape = {
				x: left,
				y: middle - ROW / 2 + 2,
				width: to(y2, x)[0] - left,
				height: ROW - 4,
			};
			return { type: "rect", shape, style: { fill: band } };
		});
	return [
		shapes(0, "", margins, 1),
		shapes(0, "", (to) =>
			dots.flatMap((datum) => {
				const at = (ratio: number) => to(ratio, datum.x);
				return whisker(datum, extent, at, { stroke: colourOfLook(datum.look), lineWidth: 2 });
			}),
		),
		{
			...inGrid(0),
			type: "scatter",
			symbolSize: 10,
			z: 4,
			data: dots.map(({ x, y, look = "unknown" }) => ({
				value: [Math.max(extent.min, Math.min(extent.max, y)), x],
				symbol: VERDICT_MARKS[look],
				itemStyle: { color: colourOfLook(look) },
			})),
			markLine: {
				...QUIET,
				label: { show: false },
				lineStyle: { color: soft, type: "solid", width: 1 },
				data: [{ xAxis: 1 }],
			},
		},
		{
			...inGrid(0),
			type: "scatter",
			silent: true,
			symbolSize: 0,
			data: words.map(({ x, text = "" }) => ({
				value: [extent.max, x],
				label: { show: true, position: "right", color: ink, formatter: shown(text) },
			})),
		},
	];
}

/** Pixels of a row of a figure that is turned. */
export const ROW = 30;

// --- internal ---

type To = (x: number, y: number) => [number, number];

const QUIET = { silent: true, animation: false, symbol: "none" };
/** Verdicts are told by form as well. */
const VERDICT_MARKS: Readonly<Record<string, string>> = {
	fail: "triangle",
	inconclusive: "diamond",
	pass: "circle",
	unknown: "emptyCircle",
};
const CROSS = "path://M0 1L1 0L5 4L9 0L10 1L6 5L10 9L9 10L5 6L1 10L0 9L4 5Z";
const WORDS_HEIGHT = 15;

function inGrid(grid: number): Part {
	return { xAxisIndex: grid, yAxisIndex: grid };
}

/** A series of no line: what is marked in a grid. */
function marks(grid: number, of: Part): Part {
	return { ...inGrid(grid), type: "line", data: [], silent: true, ...of };
}

/** A text over what is drawn. */
function over(color: string, { theme }: View): Part {
	return { color, textBorderColor: COLOURS[theme].page, textBorderWidth: 3, formatter: "{b}" };
}

/** How a line looks: colour, dashes and mark of its series. The one that decides is strong. */
function lookOf(one: Series, grid: number, { theme }: View) {
	const color = colourOf(one.color, theme);
	return {
		...inGrid(grid),
		name: shown(one.group),
		type: "line",
		color,
		symbol: markOf(one.color),
		showSymbol: true,
		showAllSymbol: true,
		lineStyle: {
			color,
			width: one.thin ? 1 : 2,
			opacity: one.thin ? 0.55 : 1,
			type: lineType(one.dash),
		},
		itemStyle: { color },
		emphasis: { disabled: true },
		legendHoverLink: false,
		z: one.thin ? 3 : 4,
	};
}

/** A line or its points: with marks where the axis has few places, else where a datum has a form or a name of its own. */
function line(one: Series, place: Place, aside: number): Part {
	const { figure, grid, extent, ends, view } = place;
	const { scale } = figure.x;
	const look = lookOf(one, grid, view);
	const { name, color } = look;
	const apart = one.draw === "dots";
	const points = one.data.flatMap((d) => (d.x2 === undefined ? [d] : [d, { ...d, x: d.x2 }]));
	return {
		...look,
		type: apart ? "scatter" : "line",
		// Percentiles hold until the next; counts are the same all over their stretch.
		step: scale === "nines" ? "end" : one.draw === "step" ? "middle" : false,
		symbol: scale === "nines" || scale === "seconds" ? "none" : look.symbol,
		symbolSize: scale === "date" ? 7 : one.thin ? 5 : 8,
		symbolOffset: [aside, 0],
		itemStyle: { color, opacity: apart && one.thin ? 0.5 : 1 },
		data: points.map((datum, i) => {
			const value = [placeOf(figure.x, datum.x), onAxis(datum.y, extent)];
			const mark = markAt(one, points, i, place);
			return mark === null ? value : { value, ...mark };
		}),
		endLabel: { show: ends && !one.thin, formatter: name, color, width: 92, overflow: "truncate" },
		labelLayout: { moveOverlap: "shiftY" },
	};
}

/** The mark of a datum that is not that of its line. */
function markAt(one: Series, data: readonly Datum[], i: number, { figure, view }: Place) {
	const { scale } = figure.x;
	const { y, text, look = "pass" } = data[i] as Datum;
	if (y === null) return null;
	const gap = (k: number) => (data[k]?.y ?? null) === null;
	// Where no line is drawn, as its neighbours are missing, the point itself.
	if (scale === "seconds")
		return gap(i - 1) && gap(i + 1) ? { symbol: "circle", symbolSize: 4 } : null;
	if (scale === "nines")
		return text === undefined || one.thin ? null : { symbol: markOf(one.color), symbolSize: 6 };
	if (look === "pass") return null;
	const color = look === "fail" ? COLOURS[view.theme].limit : colourOf(one.color, view.theme);
	return { symbol: CROSS, symbolSize: 9, itemStyle: { color } };
}

/**
 * Intervals: lines with ends, an arrow where there is no upper bound; of curves that are compared a band, as far as there are both
 * bounds.
 */
function intervals(one: Series, { figure, grid, extent, view }: Place, aside: number): Part[] {
	const stroke = colourOf(one.color, view.theme);
	const at = (x: number) => placeOf(figure.x, x);
	if (figure.x.scale === "nines" && isCompared(figure)) {
		const named = one.data.filter(({ text }) => text !== undefined);
		const open = named.findIndex(({ low, high }) => low == null || high == null);
		const data = named.slice(0, open < 0 ? undefined : open);
		if (one.thin || data.length < 2) return [];
		const edge = (bound: "low" | "high") =>
			data.map((d): [number, number] => [at(d.x), d[bound] ?? 0]);
		const style = { fill: stroke, opacity: 0.13 };
		return [polygon(grid, one.group, [...edge("high"), ...edge("low").reverse()], style)];
	}
	const style = { stroke, lineWidth: one.thin ? 0.7 : 1.2 };
	const draw = (to: To) =>
		one.data.flatMap((datum) => {
			const across = (value: number): [number, number] => {
				const [x, y] = to(at(datum.x), value);
				return [y, x + aside];
			};
			return datum.y === null ? [] : whisker(datum, extent, across, style, false);
		});
	const known = one.data.some(({ low, high }) => low != null || high != null);
	return known ? [shapes(grid, one.group, draw)] : [];
}

/** A line with ends from one bound of an interval to the other; one that is not known, or lies outside, has an arrow. */
function whisker(
	{ low = null, high = null }: Datum,
	{ min, max }: Extent,
	/** Where a value stands: along the line, and across it. */
	at: (value: number) => [number, number],
	style: Part,
	turned = true,
): Part[] {
	if (low === null && high === null) return [];
	const point = (along: number, across: number) =>
		turned ? `${along} ${across}` : `${across} ${along}`;
	const tip = (bound: number | null, out: number) => {
		const open = bound === null || bound > max || bound < min;
		const [along, across] = at(open ? out : bound);
		const back = along - 7 * Math.sign(at(max)[0] - at(min)[0]) * (out === max ? 1 : -1);
		const end = open
			? `M${point(back, across - 4)}L${point(along, across)}L${point(back, across + 4)}`
			: `M${point(along, across - 3)}L${point(along, across + 3)}`;
		return { at: point(along, across), end };
	};
	const [from, to] = [tip(low, min), tip(high, max)];
	const pathData = `${from.end}M${from.at}L${to.at}${to.end}`;
	return [{ type: "path", shape: { pathData }, style: { ...style, fill: "none" } }];
}

/**
 * What a curve goes on to: dotted to the maximum; or, as some never completed, an arrow that says that it would go on beyond every value,
 * with its words below those of other curves.
 */
function end(one: Series, { figure, panel, grid, extent, view }: Place): Part[] {
	const last = one.data.at(-1);
	if (one.end === undefined || last === undefined) return [];
	const look = lookOf(one, grid, view);
	const from = depthOf(last.x);
	if (one.end.y !== null) {
		const value = [depthOf(one.end.x), onAxis(one.end.y, extent)];
		const data = [[from, onAxis(last.y, extent)], { value, symbol: "emptyCircle", symbolSize: 6 }];
		const lineStyle = { color: look.color, width: 1.5, type: [1, 3] };
		return one.thin ? [] : [{ ...look, symbol: "none", data, lineStyle }];
	}
	const row = panel.series.filter((other) => !other.thin && other.end?.y === null).indexOf(one);
	const words = shown(one.end.text ?? "");
	return [
		{
			...inGrid(grid),
			name: look.name,
			type: "scatter",
			silent: true,
			data: [[from, extent.max]],
			symbol: "arrow",
			symbolSize: 14,
			symbolOffset: [0, 8],
			itemStyle: { color: look.color, opacity: 1 },
			label: {
				...over(COLOURS[view.theme].limit, view),
				formatter: () => words,
				// Of repeats that are thin lines the table tells.
				show: row >= 0,
				offset: [0, row * WORDS_HEIGHT],
				// Where there is room for words.
				position: from < deepestOf(figure) / 2 ? "right" : "left",
			},
			z: 5,
		},
	];
}

/** Messages by second and value: the darker a cell, the more; its shade goes by the logarithm of their number. */
function cells({ data }: Series, { grid, extent, view }: Place): Part {
	const most = largestOf(data.map(({ n = 0 }) => n));
	const shades = HEAT[view.theme];
	const shadeOf = (n: number) => {
		const part = most <= 1 ? 1 : Math.log(n) / Math.log(most);
		return shades[Math.min(shades.length - 1, Math.floor(part * shades.length))];
	};
	const draw = (to: To) =>
		data.map(({ x, x2 = x, y, y2 = 0, n = 0 }) => {
			const [left, bottom] = to(x, Math.max(y ?? 0, extent.min));
			const [right, top] = to(x2, y2);
			const width = Math.max(1, right - left - 0.5);
			const shape = { x: left, y: top, width, height: Math.max(1, bottom - top) };
			return { type: "rect", shape, style: { fill: shadeOf(n) } };
		});
	return shapes(grid, "", draw, 3);
}

/** Limits across a grid, each with its text above it; those of the same value are one line: "p50 < 20ms, p99 < 20ms". */
function limitLines({ figure, panel, grid, area, view }: Place): Part[] {
	if (panel.limits.length === 0) return [];
	const { limit } = COLOURS[view.theme];
	const texts = new Map<number, string[]>();
	for (const { y, text } of panel.limits) texts.set(y, [...(texts.get(y) ?? []), text]);
	// A curve rises to the right.
	const label =
		figure.x.scale === "nines"
			? { position: "insideStartTop", width: area.width - 10 }
			: { position: "insideEndTop", width: view.width / 2 };
	return [
		marks(grid, {
			markLine: {
				...QUIET,
				lineStyle: { color: limit, width: 1.5, type: [7, 4] },
				label: { ...over(limit, view), ...label, overflow: "truncate" },
				data: [...texts].map(([yAxis, all]) => ({ name: shown(all.join(", ")), yAxis })),
			},
		}),
	];
}

/** Where a limit is judged: at its percentile. */
function flags({ figure, panel, grid, view }: Place): Part[] {
	const data = panel.limits.flatMap(({ x, y }) =>
		x === undefined ? [] : [[placeOf(figure.x, x), y]],
	);
	if (data.length === 0) return [];
	return [
		{
			...inGrid(grid),
			type: "scatter",
			data,
			silent: true,
			symbol: "triangle",
			symbolRotate: 180,
			symbolSize: 9,
			symbolOffset: [0, -5],
			itemStyle: { color: COLOURS[view.theme].limit },
			z: 5,
		},
	];
}

/**
 * Stretches and moments across a grid; their names stand in the first one, cut where the next begins. The warm-up is only less bright;
 * what was done to the broker has a colour.
 */
function spanAreas({ figure, grid, area: { width }, view }: Place): Part[] {
	const { x, spans } = figure;
	if (spans.length === 0) return [];
	const { soft, limit, band, hidden } = COLOURS[view.theme];
	const [from, to] = [x.from ?? 0, x.to ?? 0];
	const fault = { itemStyle: { color: hidden, opacity: 0.18 }, label: { color: hidden } };
	const looks: Readonly<Record<Span["kind"], { readonly itemStyle: Part; readonly label: Part }>> =
		{
			warmup: { itemStyle: { color: band }, label: {} },
			phase: fault,
			fault,
			missing: {
				itemStyle: { color: limit, opacity: 0.14, borderColor: limit, borderWidth: 1 },
				label: { color: limit, position: "insideBottomLeft" },
			},
		};
	const area = (one: Span, i: number, all: readonly Span[]) => {
		const { itemStyle, label } = looks[one.kind];
		const room = (((all[i + 1]?.from ?? to) - one.from) * width) / (to - from);
		// Without room for a word there is none.
		const cut = room > 50 ? { width: room - 10, overflow: "truncate" } : { show: false };
		const start = {
			name: shown(one.text),
			xAxis: one.from,
			itemStyle,
			label: { ...cut, ...label },
		};
		return [start, { xAxis: one.to }];
	};
	const stretches = spans.filter((span) => span.to > span.from);
	const text = { ...over(soft, view), show: grid === 0 };
	return [
		marks(grid, {
			markArea: {
				...QUIET,
				label: { ...text, position: "insideTopLeft" },
				data: [
					...stretches.filter(({ kind }) => kind !== "missing").map(area),
					...stretches.filter(({ kind }) => kind === "missing").map(area),
				],
			},
			markLine: {
				...QUIET,
				lineStyle: { color: soft, type: [2, 3] },
				label: {
					show: grid === 0,
					position: "insideEndTop",
					rotate: 0,
					color: soft,
					formatter: "{b}",
				},
				data: spans
					.filter((span) => span.from === span.to)
					.map((span) => ({ xAxis: span.from, name: shown(span.text) })),
			},
		}),
	];
}

/** The areas between two curves: where either has a point, as far as both go; each value holds until the next. */
function between({ figure, panel, view }: Place): Part[] {
	const of = (key: string) => panel.series.find((one) => one.key === key);
	return (figure.between ?? []).flatMap(({ upper, lower }) => {
		const [above, below] = [of(upper), of(lower)];
		if (above === undefined || below === undefined) return [];
		const [high, low] = [above.data, below.data];
		const last = Math.min(high.at(-1)?.x ?? 0, low.at(-1)?.x ?? 0);
		const places = [...high, ...low].map(({ x }) => x).filter((x) => x <= last);
		const xs = [...new Set(places)].sort((a, b) => a - b);
		if (xs.length < 2) return [];
		const at = (data: readonly Datum[], x: number) => data.findLast((d) => d.x <= x)?.y ?? 0;
		const edge = (value: (x: number) => number) =>
			xs.flatMap((x, i): [number, number][] => [
				...(i === 0 ? [] : [[depthOf(x), value(xs[i - 1] ?? x)] as [number, number]]),
				[depthOf(x), value(x)],
			]);
		const points = [
			...edge((x) => Math.max(at(high, x), at(low, x))),
			...edge((x) => at(low, x)).reverse(),
		];
		const style = { fill: COLOURS[view.theme].hidden, opacity: 0.16 };
		return [polygon(0, above.group, points, style)];
	});
}

function polygon(
	grid: number,
	group: string,
	points: readonly (readonly [number, number])[],
	style: Part,
): Part {
	const draw = (to: To) => {
		const shape = { points: points.map(([x, y]) => to(x, y)) };
		return [{ type: "polygon", shape, style }];
	};
	return shapes(grid, group, draw, 1);
}

interface Api {
	coord(point: readonly number[]): number[];
}

/** What ECharts leaves to its users: a shape in the coordinates of a grid. It goes by the switch of its group. */
function shapes(grid: number, group: string, draw: (to: To) => readonly Part[], z = 2): Part {
	return {
		...inGrid(grid),
		...(group === "" ? {} : { name: shown(group) }),
		type: "custom",
		silent: true,
		clip: true,
		z,
		data: [[0, 0]],
		renderItem: (_: unknown, { coord }: Api) => ({
			type: "group",
			children: draw((x, y) => coord([x, y]) as [number, number]),
		}),
	};
}
