import type { Part } from "./axes.ts";
import { head, headHeight as height, shown } from "./head.ts";
import type { Figure, SeriesKey, View } from "./old-figure.ts";
import { COLOURS, colourOf, lineType, markOf } from "./theme.ts";

export { heading, shown, wrapped } from "./head.ts";

/** What is around the curves of every picture, and the pieces that several kinds share. */

/** The switches of a figure: its groups in the order of their first line. The line stands for its group in a legend. */
export function groupsOf(keys: readonly SeriesKey[]): SeriesKey[] {
	const first = new Map<string, SeriesKey>();
	for (const key of keys) if (!first.has(key.group)) first.set(key.group, key);
	return [...first.values()];
}

/** Pixels above the curves: of a picture on its own for title, facts and legend. */
export function headHeight(
	figure: Figure,
	view: Pick<View, "width" | "alone">,
	keys: readonly SeriesKey[],
): number {
	return height(
		figure,
		groupsOf(keys).map(({ group }) => group),
		view,
	);
}

/** Title, facts and legend of a picture on its own. */
export function frame(figure: Figure, view: View, keys: readonly SeriesKey[]): Part {
	return head(
		figure,
		groupsOf(keys).map(({ group }) => group),
		view,
	);
}

/** How a line looks: colour, dashes and mark of its key. The one that decides is strong. */
export function lineLook(key: SeriesKey, view: View): Part & { readonly color: string } {
	const color = colourOf(key.colour, view.theme);
	return {
		name: shown(key.group),
		color,
		symbol: markOf(key.colour),
		showSymbol: false,
		lineStyle: {
			color,
			width: key.thin ? 1 : 2,
			opacity: key.thin ? 0.55 : 1,
			type: lineType(key.dash),
		},
		itemStyle: { color },
		emphasis: { disabled: true },
		legendHoverLink: false,
		z: key.thin ? 3 : 4,
	};
}

/** The name of a group at the end of its line, aside of those that are near. */
export function endName(key: SeriesKey, { theme }: View, show: boolean): Part {
	return {
		endLabel: {
			show,
			formatter: shown(key.group),
			color: colourOf(key.colour, theme),
			width: 92,
			overflow: "truncate",
		},
		labelLayout: { moveOverlap: "shiftY" },
	};
}

/** Limits across a grid, each with its text above it. */
export function limitSeries(
	grid: number,
	limits: readonly { readonly text: string; readonly value: number }[],
	view: View,
	{ position = "insideEndTop", room = view.width / 2 } = {},
): Part[] {
	const { limit, page } = COLOURS[view.theme];
	return limits.length === 0
		? []
		: [
				{
					...place(grid),
					type: "line",
					data: [],
					silent: true,
					markLine: {
						silent: true,
						symbol: "none",
						animation: false,
						lineStyle: { color: limit, width: 1.5, type: [7, 4] },
						label: {
							position,
							color: limit,
							textBorderColor: page,
							textBorderWidth: 3,
							formatter: "{b}",
							width: room,
							overflow: "truncate",
						},
						data: limits.map(({ text, value }) => ({ name: shown(text), yAxis: value })),
					},
				},
			];
}

/** What ECharts leaves to its users: a shape in the coordinates of a grid. It goes by the switch of its group. */
export function shapes(
	grid: number,
	key: SeriesKey | null,
	draw: (to: (x: number, y: number) => [number, number]) => readonly Part[],
	z = 2,
): Part {
	return {
		...place(grid),
		...(key === null ? {} : { name: shown(key.group) }),
		type: "custom",
		silent: true,
		clip: true,
		z,
		data: [[0, 0]],
		renderItem: (_: unknown, api: { coord: (point: readonly number[]) => number[] }) => ({
			type: "group",
			children: draw((x, y) => api.coord([x, y]) as [number, number]),
		}),
	};
}

/** The interval of each value, as a line with ends; without an upper bound it has an arrow. `aside`: pixels to the side. */
export function whiskers(
	grid: number,
	key: SeriesKey,
	points: readonly {
		readonly x: number;
		readonly value: number | null;
		readonly low: number | null;
		readonly high: number | null;
	}[],
	top: number,
	{ theme }: View,
	aside = 0,
): Part {
	const stroke = colourOf(key.colour, theme);
	return shapes(grid, key, (to) =>
		points.flatMap(({ x, low, high, value }): Part[] => {
			if (low === null || value === null) return [];
			const at = to(x, value)[0] + aside;
			const bottom = to(x, low)[1];
			const above = to(x, high ?? top)[1];
			const end = high === null ? "m-4 7l4 -7l4 7" : "m-3 0h6";
			return [
				{
					type: "path",
					shape: { pathData: `M${at - 3} ${bottom}h6m-3 0V${above}${end}` },
					style: { stroke, lineWidth: key.thin ? 0.7 : 1.2, fill: "none" },
				},
			];
		}),
	);
}

export function place(grid: number): Part {
	return { xAxisIndex: grid, yAxisIndex: grid };
}
