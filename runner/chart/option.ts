import { largestOf } from "../extremes.ts";
import { formatCount } from "../units.ts";
import { type Extent, extentsOf, footOf, isGrid, type Place, xAxis, yAxis } from "./axes.ts";
import type { Figure, Series, View } from "./figure.ts";
import { heading, headOf, type Part } from "./head.ts";
import { seriesOf } from "./series.ts";
import { COLOURS } from "./theme.ts";

/** For the page and for charts on their own. Given again it updates in place. */
export function optionOf(figure: Figure, view: View): Part {
	const { areas } = layoutOf(figure, view);
	const extents = extentsOf(figure, view);
	const places = figure.panels.map((panel, grid): Place => {
		const [area, extent] = [areas[grid] as Place["area"], extents[grid] as Extent];
		return { figure, panel, grid, area, extent, view };
	});
	const { option } = headOf(figure, namesOf(figure), view);
	const { scale } = figure.x;
	const slides = (scale === "seconds" || scale === "date") && !view.alone;
	return {
		...option,
		title: [option.title, ...places.flatMap(headingsOf)],
		useUTC: true,
		...(isGrid(figure) ? {} : { axisPointer: { link: [{ xAxisIndex: "all" }] } }),
		grid: areas.map((area) => ({ ...area, outerBoundsMode: "none" })),
		xAxis: places.map(xAxis),
		yAxis: places.map(yAxis),
		series: seriesOf(places),
		dataZoom: slides ? [slider([...areas.keys()], view)] : [],
	};
}

export function heightOf(figure: Figure, view: Omit<View, "height">): number {
	return layoutOf(figure, view).height;
}

/** The first series of each group, in order, which represents it in a legend. */
export function groupsOf({ panels }: Figure): Series[] {
	const first = new Map<string, Series>();
	for (const one of panels.flatMap(({ series }) => series))
		if (one.group !== "" && !first.has(one.group)) first.set(one.group, one);
	return [...first.values()];
}

export function isLogarithmic(figure: Figure, view: Pick<View, "logarithmic">): boolean {
	return extentsOf(figure, view)[0]?.logarithmic ?? false;
}

/** Whether half a page is wide enough. */
export function isNarrow({ x, panels }: Figure): boolean {
	if (panels.length > 1 || x.scale === "seconds" || x.scale === "date") return false;
	return (x.names ?? []).length <= 4;
}

/** On its own, in a width that fits most pages. */
export function firstView(figure: Figure, theme: View["theme"], width = 720): View {
	const view = { theme, width, off: new Set<string>(), logarithmic: null, alone: true };
	return { ...view, height: heightOf(figure, view) };
}

// --- internal ---

/** Pixels left and right of a plot. */
const LEFT = 64;
const RIGHT = 24;
/** Least width of a small multiple. */
const MULTIPLE = 330;

function layoutOf(figure: Figure, view: Omit<View, "height">) {
	const { panels } = figure;
	const most = isGrid(figure) ? Math.max(1, Math.floor(view.width / MULTIPLE)) : 1;
	// Rows of the same length: 4 are 2 and 2, not 3 and 1.
	const columns = Math.ceil(panels.length / Math.ceil(panels.length / most));
	const room = view.width / columns;
	let top = headOf(figure, namesOf(figure), view).height;
	const areas = panels.map((_, i) => {
		const [above, height, below] = heightsOf(figure, i, view);
		const width = room - LEFT - RIGHT;
		const area = { left: (i % columns) * room + LEFT, top: top + above, width, height };
		if ((i + 1) % columns === 0 || i === panels.length - 1) top += above + height + below;
		return area;
	});
	return { areas, height: top };
}

/** Pixels above a plot, of it, and below it. */
function heightsOf(figure: Figure, i: number, view: Pick<View, "width">): [number, number, number] {
	const { x, panels } = figure;
	if (isGrid(figure)) {
		const above = panels.some(({ title }) => title !== "") ? 52 : 30;
		const below = x.scale === "nines" ? 30 : footOf(x, view);
		return [above, (panels.length === 1 ? 360 : 260) - above - 30, below];
	}
	if (x.scale !== "seconds") return [34, 250, x.scale === "date" ? 56 : footOf(x, view)];
	if (panels.length === 1) return [30, 234, 56];
	return [28, i === 0 ? 170 : 80, i === panels.length - 1 ? 12 + 56 : 12];
}

function headingsOf({ figure, panel, extent, area, view }: Place): Part[] {
	const { x } = figure;
	const grid = isGrid(figure);
	const most = largestOf(panel.series.flatMap(({ data }) => data.map(({ n }) => n ?? 0)));
	const text = [
		grid ? (panel.unit === "ns" ? "latency" : "messages per second") : panel.title,
		extent.logarithmic ? ", logarithmic" : "",
		most > 0 ? `; darkest: ${formatCount(most)} messages` : "",
		x.scale === "date" ? "; cross: not passed" : "",
	].join("");
	const top = area.top - 23;
	if (!grid) return [heading(text, { left: 8, top, width: view.width - 16 }, view)];
	const name = heading(text, { ...area, top, left: area.left - LEFT + 8 }, view);
	const title = heading(panel.title, { ...area, top: area.top - 42 }, view, true);
	return panel.title === "" ? [name] : [title, name];
}

function namesOf(figure: Figure): string[] {
	return groupsOf(figure).map(({ group }) => group);
}

/** For touch screens, and for readers unaware that a drag zooms. */
function slider(xAxisIndex: readonly number[], { theme }: View): Part {
	const { grid, page, soft } = COLOURS[theme];
	return {
		type: "slider",
		xAxisIndex,
		filterMode: "none",
		left: LEFT,
		right: RIGHT,
		bottom: 4,
		height: 16,
		showDetail: false,
		showDataShadow: false,
		brushSelect: false,
		borderColor: grid,
		fillerColor: "rgba(127,140,160,.22)",
		handleStyle: { color: page, borderColor: soft },
		moveHandleSize: 4,
	};
}
