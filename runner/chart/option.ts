import { largestOf } from "../extremes.ts";
import { formatCount } from "../units.ts";
import {
	type Extent,
	footOf,
	panelExtent,
	ratioExtent,
	turnedAxes,
	valueAxis,
	xAxis,
} from "./axes.ts";
import type { Figure, Panel, Series, View } from "./figure.ts";
import { head, headHeight, heading, type Part } from "./head.ts";
import { isCompared, type Place, ROW, seriesOf, turnedSeries } from "./series.ts";
import { COLOURS } from "./theme.ts";

/** What ECharts draws of a figure: for the page in a browser and for pictures on their own alike. Given again it updates in place. */
export function optionOf(figure: Figure, view: View): Part {
	const { areas, ends } = layoutOf(figure, view);
	const extents = extentsOf(figure, view);
	const places = figure.panels.map((panel, grid): Place & { area: Area } => {
		const area = areas[grid] as Area;
		const extent = extents[grid] as Extent;
		return { figure, panel, grid, extent, area, width: area.width, ends, view };
	});
	const [first] = places as [(typeof places)[number]];
	const around = head(figure, namesOf(figure), view);
	const all = [...areas.keys()];
	const { scale } = figure.x;
	const slides = (scale === "seconds" || scale === "date") && !view.alone;
	return {
		...around,
		title: [around.title, ...places.flatMap(headingsOf)],
		useUTC: true,
		...(figure.layout === "stack" ? { axisPointer: { link: [{ xAxisIndex: "all" }] } } : {}),
		grid: areas.map((area) => ({ ...area, outerBoundsMode: "none" })),
		...(figure.turned
			? {
					...turnedAxes(figure, first.extent, leftOf(figure, view), view),
					series: turnedSeries(first),
				}
			: {
					xAxis: all.map((i) => xAxis(figure, i, view)),
					yAxis: places.map(({ panel, grid, extent, area }) =>
						valueAxis(grid, panel.unit, extent, { view, height: area.height }),
					),
					series: seriesOf(places),
				}),
		dataZoom:
			scale === "names" ? [] : [insideZoom(all), ...(slides ? [slider(all, LEFT, view)] : [])],
	};
}

/** The height in which a figure reads well. */
export function heightOf(figure: Figure, view: Omit<View, "height">): number {
	return layoutOf(figure, view).height;
}

/** The switches of a figure: its groups in the order of their first series, which stands for its group in a legend. */
export function groupsOf({ panels }: Figure): Series[] {
	const first = new Map<string, Series>();
	for (const one of panels.flatMap(({ series }) => series))
		if (one.group !== "" && !first.has(one.group)) first.set(one.group, one);
	return [...first.values()];
}

/** Is the first value axis logarithmic, by choice or by itself? */
export function isLogarithmic(figure: Figure, view: Pick<View, "logarithmic">): boolean {
	return extentsOf(figure, view)[0]?.logarithmic ?? false;
}

/** Half a page is wide enough: few names beside or below each other. */
export function isNarrow({ x, turned }: Figure): boolean {
	return turned || (x.scale === "names" && (x.names ?? []).length <= 4);
}

/** A figure on its own as it is at first, in a width that fits most pages. */
export function firstView(figure: Figure, theme: View["theme"], width = 720): View {
	const view = { theme, width, off: new Set<string>(), logarithmic: null, alone: true };
	return { ...view, height: heightOf(figure, view) };
}

// --- internal ---

/** Pixels. */
interface Area {
	readonly left: number;
	readonly top: number;
	readonly width: number;
	readonly height: number;
}

const LEFT = 64;
const RIGHT = 24;
/** Pixels that small multiples need beside each other. */
const MULTIPLE_WIDTH = 330;
/** Names at the ends of curves: where they have room and are few. */
const MOST_ENDS = 6;
const ENDS_WIDTH = 100;

/** Where each panel stands, whether lines have their names at their ends, and how high all of it is. */
function layoutOf(
	figure: Figure,
	view: Omit<View, "height">,
): { readonly areas: readonly Area[]; readonly ends: boolean; readonly height: number } {
	const { panels, layout } = figure;
	const columns =
		layout === "stack"
			? 1
			: Math.max(1, Math.min(3, panels.length, Math.floor(view.width / MULTIPLE_WIDTH)));
	const width = view.width / columns;
	const ends = hasEnds(figure, width);
	const [left, right] = [leftOf(figure, view), rightOf(figure, { width, ends })];
	const areas: Area[] = [];
	let top = headHeight(figure, namesOf(figure), view);
	for (const i of panels.keys()) {
		const [above, height, below] = heightsOf(figure, i, view);
		areas.push({
			left: (i % columns) * width + left,
			top: top + above,
			width: width - left - right,
			height,
		});
		if ((i + 1) % columns === 0 || i === panels.length - 1) top += above + height + below;
	}
	return { areas, ends, height: top };
}

/** Pixels above a plot, of it, and below it. */
function heightsOf(
	{ x, panels, layout, turned }: Figure,
	i: number,
	view: Pick<View, "width">,
): [number, number, number] {
	if (turned) return [34, (x.names ?? []).length * ROW, 34];
	if (layout === "grid") {
		const above = panels.some(({ title }) => title !== "") ? 52 : 30;
		return [above, (panels.length === 1 ? 360 : 260) - above - 30, 30];
	}
	if (x.scale !== "seconds") return x.scale === "date" ? [34, 240, 56] : [34, 258, footOf(x, view)];
	if (hasCells(panels[i])) return [30, 234, 56];
	return [28, i === 0 ? 170 : 80, i === panels.length - 1 ? 12 + 56 : 12];
}

function leftOf({ turned }: Figure, view: Pick<View, "width">): number {
	return turned ? (view.width < 500 ? 96 : 150) : LEFT;
}

function rightOf({ x, turned }: Figure, { width, ends }: { width: number; ends: boolean }): number {
	if (turned) return width < 500 ? 20 : 150;
	if (x.scale === "date") return 28;
	return ends ? ENDS_WIDTH : RIGHT;
}

function hasEnds(figure: Figure, width: number): boolean {
	const { scale } = figure.x;
	if (figure.panels.some(({ series }) => series.filter(({ thin }) => !thin).length > MOST_ENDS))
		return false;
	return scale === "nines"
		? isCompared(figure) && width >= 450
		: (scale === "linear" || scale === "log") && width >= 500;
}

function extentsOf(figure: Figure, view: Pick<View, "logarithmic">): Extent[] {
	const { panels, layout, turned } = figure;
	if (turned) return [ratioExtent(figure)];
	return panels.map((panel, i) => {
		const chosen = i === 0 || panel.unit === "ns" ? view.logarithmic : null;
		return panelExtent(figure, layout === "grid" ? panels : [panel], chosen ?? panel.log);
	});
}

/** What the value axis measures; above it in bold the case. */
function headingsOf({
	figure,
	panel,
	extent,
	area,
	view,
}: Place & { readonly area: Area }): Part[] {
	const { x, layout, turned } = figure;
	const text = [
		layout === "grid" ? "latency" : panel.title,
		extent.logarithmic && !turned ? ", logarithmic" : "",
		hasCells(panel) && !turned ? `; darkest: ${formatCount(mostIn(panel))} messages` : "",
		x.scale === "date" ? "; cross: not passed" : "",
	].join("");
	if (layout === "stack")
		return [heading(text, { left: 8, top: area.top - 23, width: view.width - 16 }, view)];
	const name = heading(text, { ...area, top: area.top - 23, left: area.left - LEFT + 8 }, view);
	return panel.title === ""
		? [name]
		: [heading(panel.title, { ...area, top: area.top - 42 }, view, true), name];
}

function hasCells(panel: Panel | undefined): boolean {
	return panel?.series.some(({ draw }) => draw === "cells") ?? false;
}

function mostIn({ series }: Panel): number {
	return largestOf(series.flatMap(({ data }) => data.map(({ n }) => n ?? 0)));
}

function namesOf(figure: Figure): string[] {
	return groupsOf(figure).map(({ group }) => group);
}

/** Wheel with Ctrl, pinch: a page that is scrolled stays where it is. */
function insideZoom(xAxisIndex: readonly number[]): Part {
	return {
		type: "inside",
		xAxisIndex,
		filterMode: "none",
		zoomOnMouseWheel: "ctrl",
		moveOnMouseMove: false,
		moveOnMouseWheel: false,
		preventDefaultMouseMove: false,
	};
}

/** A slider below the axis, for fingers and for those who do not know that a drag zooms. */
function slider(xAxisIndex: readonly number[], left: number, view: View): Part {
	const colours = COLOURS[view.theme];
	return {
		type: "slider",
		xAxisIndex,
		filterMode: "none",
		left,
		right: RIGHT,
		bottom: 4,
		height: 16,
		showDetail: false,
		showDataShadow: false,
		brushSelect: false,
		borderColor: colours.grid,
		fillerColor: "rgba(127,140,160,.22)",
		handleStyle: { color: colours.page, borderColor: colours.soft },
		moveHandleSize: 4,
	};
}
