import { largestOf } from "../extremes.ts";
import { deepestOf, depthOf, onAxis, type Place, placeOf } from "./axes.ts";
import type { Datum, Series, Span } from "./figure.ts";
import { type Part, shown } from "./head.ts";
import { COLOURS, colourOf, dashesOf, HEAT, markOf } from "./theme.ts";

const DRAW: Readonly<Record<Series["draw"], (one: Series, place: Place) => Part[]>> = {
	line: curve,
	step: curve,
	dots: curve,
	cells,
	band,
};

/** Limits and spans first, then the series. */
export function seriesOf(places: readonly Place[]): Part[] {
	return [
		...places.flatMap((place) => [...limitLines(place), ...spanAreas(place)]),
		...places.flatMap((place) => place.panel.series.flatMap((one) => DRAW[one.draw](one, place))),
	];
}

// --- internal ---

type Point = [x: number, y: number];

const QUIET = { silent: true, animation: false, symbol: "none" };
/** Verdicts differ in form, not only in colour. */
const CROSS = "path://M0 1L1 0L5 4L9 0L10 1L6 5L10 9L9 10L5 6L1 10L0 9L4 5Z";

function inGrid(grid: number): Part {
	return { xAxisIndex: grid, yAxisIndex: grid };
}

/** Marks a grid without drawing a line. */
function marks(grid: number, of: Part): Part {
	return { ...inGrid(grid), type: "line", data: [], silent: true, ...of };
}

/** Outlined, to be readable over the drawing. */
function over(color: string, { view }: Place): Part {
	return { color, textBorderColor: COLOURS[view.theme].page, textBorderWidth: 3, formatter: "{b}" };
}

/** With marks if the axis has few places, else where a datum has its own form or name. The series that decides is strong. */
function curve(one: Series, place: Place): Part[] {
	const { figure, grid, extent, view } = place;
	const { scale } = figure.x;
	const { data, thin, draw } = one;
	// A series without a switch is only read.
	if (one.group === "") return [];
	const color = colourOf(one.color, view.theme);
	const name = shown(one.group);
	const apart = draw === "dots";
	const dashes = dashesOf(one.dash);
	const at = placing(one, place);
	const open = scale === "nines" && !thin && one.end?.y === null;
	return [
		{
			...inGrid(grid),
			name,
			type: apart ? "scatter" : "line",
			color,
			// Percentiles hold until the next; counts are constant over their stretch.
			step: scale === "nines" ? "end" : draw === "step" ? "middle" : false,
			symbol: scale === "nines" || scale === "seconds" ? "none" : markOf(one.color),
			symbolSize: scale === "date" ? 7 : thin ? 5 : 8,
			showSymbol: true,
			showAllSymbol: true,
			lineStyle: {
				color,
				width: thin ? 1 : 2,
				opacity: thin ? 0.55 : 1,
				type: dashes.length === 0 ? "solid" : dashes,
			},
			itemStyle: { color, opacity: apart && thin ? 0.5 : 1 },
			emphasis: { disabled: true },
			legendHoverLink: false,
			z: thin ? 3 : 4,
			data: data.map((datum, i) => {
				const value = [at(datum.x), onAxis(datum.y, extent)];
				const mark = markAt(one, i, place);
				return mark === null ? value : { value, ...mark };
			}),
			markLine: {
				...QUIET,
				label: { show: false },
				lineStyle: { color, width: thin ? 0.7 : 1.2, type: "solid" },
				data: [...whiskers(one, place, at), ...toMaximum(one, place)],
			},
			...(open ? { markPoint: beyond(one, place) } : {}),
		},
	];
}

/** Over a name, systems are side by side. */
function placing(one: Series, { figure, panel, area }: Place): (x: number) => number {
	const { x: axis } = figure;
	if (axis.scale !== "names") return (x) => placeOf(axis, x);
	const beside = panel.series.filter(({ draw }) => draw === "dots");
	const pixels = area.width / (axis.names?.length ?? 1);
	const apart = Math.min(12, 60 / beside.length) / pixels;
	const aside = (beside.indexOf(one) - (beside.length - 1) / 2) * apart;
	return (x) => x + aside;
}

/** The mark of a datum, where it differs from its line's. */
function markAt(one: Series, i: number, { figure, view }: Place): Part | null {
	const { scale } = figure.x;
	const { y, text, look = "pass" } = one.data[i] as Datum;
	if (y === null) return null;
	const gap = (k: number) => (one.data[k]?.y ?? null) === null;
	// Without neighbours no line is drawn, so the point is.
	if (scale === "seconds")
		return gap(i - 1) && gap(i + 1) ? { symbol: "circle", symbolSize: 4 } : null;
	if (scale === "nines")
		return text === undefined || one.thin ? null : { symbol: markOf(one.color), symbolSize: 6 };
	if (look === "pass") return null;
	const color = look === "fail" ? COLOURS[view.theme].limit : colourOf(one.color, view.theme);
	return { symbol: CROSS, symbolSize: 9, itemStyle: { color } };
}

/** Intervals, with an arrow where a bound is unknown or outside. Repeats that do not decide have none: they would hide each other. */
function whiskers({ data, thin }: Series, { figure, extent }: Place, at: (x: number) => number) {
	if (figure.x.scale === "nines" && thin) return [];
	const end = (x: number, bound: number | null, out: number) => {
		const known = bound !== null && bound <= extent.max && bound >= extent.min;
		const cap = known
			? { symbol: "rect", symbolSize: [7, 1.2] }
			: { symbol: "arrow", symbolSize: 7 };
		return { coord: [at(x), known ? bound : out], ...cap };
	};
	return data.flatMap(({ x, y, low = null, high = null }) =>
		y === null || (low === null && high === null)
			? []
			: [[end(x, low, extent.min * 1.001), end(x, high, extent.max * 0.999)]],
	);
}

function toMaximum({ data, end, thin }: Series, { extent }: Place): Part[][] {
	const last = data.at(-1);
	if (end === undefined || end.y === null || last === undefined || thin) return [];
	const to = { coord: [depthOf(end.x), onAxis(end.y, extent)] };
	const lineStyle = { width: 1.5, type: [1, 3] };
	return [
		[
			{ coord: [depthOf(last.x), onAxis(last.y, extent)], lineStyle },
			{ ...to, symbol: "emptyCircle", symbolSize: 6 },
		],
	];
}

/** Some never completed: an arrow beyond every value, with its words below other curves' words. */
function beyond(one: Series, place: Place): Part {
	const { figure, panel, extent, view } = place;
	const from = depthOf(one.data.at(-1)?.x ?? 0);
	const row = panel.series.filter(({ thin, end }) => !thin && end?.y === null).indexOf(one);
	return {
		...QUIET,
		symbol: "arrow",
		symbolSize: 14,
		symbolOffset: [0, 8],
		data: [{ coord: [from, extent.max * 0.999], name: shown(one.end?.text ?? "") }],
		label: {
			...over(COLOURS[view.theme].limit, place),
			offset: [0, row * 15],
			// Where there is room for words.
			position: from < deepestOf(figure) / 2 ? "right" : "left",
		},
	};
}

/** Between two bounds; to the axis' end where one is missing. */
function band(one: Series, { figure, grid, extent, view }: Place): Part[] {
	const { color, data } = one;
	if (data.length < 2) return [];
	const edge = (bound: "low" | "high", none: number) =>
		data.map((datum): Point => [placeOf(figure.x, datum.x), datum[bound] ?? none]);
	const points = [...edge("high", extent.max), ...edge("low", extent.min).reverse()];
	const style = { fill: colourOf(color, view.theme), opacity: 0.15 };
	const draw = (to: To) => {
		const shape = { points: points.map(([x, y]) => to(x, onAxis(y, extent))) };
		return [{ type: "polygon", shape, style }];
	};
	return [shapes(grid, one.group, draw, 1)];
}

/** The darker a cell, the more messages; shades are logarithmic. */
function cells({ data }: Series, { figure, grid, extent, view }: Place): Part[] {
	const most = largestOf(data.map(({ n = 0 }) => n));
	const shades = HEAT[view.theme];
	const shadeOf = (n: number) => {
		const part = most <= 1 ? 1 : Math.log(n) / Math.log(most);
		return shades[Math.min(shades.length - 1, Math.floor(part * shades.length))];
	};
	const half = figure.x.step / 2;
	const draw = (to: To) =>
		data.map(({ x, y, y2 = 0, n = 0 }) => {
			const [left, bottom] = to(x - half, Math.max(y ?? 0, extent.min));
			const [right, top] = to(x + half, y2);
			const width = Math.max(1, right - left - 0.5);
			const shape = { x: left, y: top, width, height: Math.max(1, bottom - top) };
			return { type: "rect", shape, style: { fill: shadeOf(n) } };
		});
	return [shapes(grid, "", draw, 3)];
}

/** Limits of the same value are one line: "p50 < 20ms, p99 < 20ms". A flag marks the percentile that is judged. */
function limitLines(place: Place): Part[] {
	const { figure, panel, grid, area, view } = place;
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
				label: { ...over(limit, place), ...label, overflow: "truncate" },
				data: [...texts].map(([yAxis, all]) => ({ name: shown(all.join(", ")), yAxis })),
			},
			markPoint: {
				...QUIET,
				symbol: "triangle",
				symbolRotate: 180,
				symbolSize: 9,
				symbolOffset: [0, -5],
				itemStyle: { color: limit },
				label: { show: false },
				data: panel.limits.flatMap(({ x, y }) =>
					x === undefined ? [] : [{ coord: [placeOf(figure.x, x), y] }],
				),
			},
		}),
	];
}

/** Their names are in the first grid, cut where the next one begins. */
function spanAreas(place: Place): Part[] {
	const { figure, grid, view } = place;
	const { x, spans } = figure;
	const { soft, limit, band, hidden, grid: line } = COLOURS[view.theme];
	const [from, to] = [x.from ?? 0, x.to ?? 0];
	const below = { color: limit, position: "insideBottomLeft" };
	const looks: Readonly<Record<Span["kind"], readonly [itemStyle: Part, label: Part]>> = {
		warmup: [{ color: band }, { color: soft }],
		phase: [{ color: "transparent", borderColor: line, borderWidth: 1 }, { color: soft }],
		fault: [{ color: hidden, opacity: 0.18 }, { color: hidden }],
		missing: [{ color: limit, opacity: 0.14, borderColor: limit, borderWidth: 1 }, below],
	};
	const data = spans.map((one) => {
		const [itemStyle, label] = looks[one.kind];
		const others = spans.filter(({ kind }) => (kind === "missing") === (one.kind === "missing"));
		const next = others[others.indexOf(one) + 1]?.from ?? to;
		const room = ((next - one.from) * place.area.width) / (to - from);
		const cut = { show: grid === 0 && room > 50, width: room - 10, overflow: "truncate" };
		const name = shown(one.text);
		return [{ name, xAxis: one.from, itemStyle, label: { ...cut, ...label } }, { xAxis: one.to }];
	});
	const label = { ...over(soft, place), position: "insideTopLeft" };
	return data.length === 0 ? [] : [marks(grid, { markArea: { ...QUIET, label, data } })];
}

type To = (x: number, y: number) => Point;

/** An ECharts custom series: shapes in a grid's coordinates, switched with their group. */
function shapes(grid: number, group: string, draw: (to: To) => readonly Part[], z: number): Part {
	return {
		...inGrid(grid),
		...(group === "" ? {} : { name: shown(group) }),
		type: "custom",
		silent: true,
		clip: true,
		z,
		data: [[0, 0]],
		renderItem: (_: unknown, { coord }: { coord(point: readonly number[]): number[] }) => ({
			type: "group",
			children: draw((x, y) => coord([x, y]) as Point),
		}),
	};
}
