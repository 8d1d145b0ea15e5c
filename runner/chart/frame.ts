import type { Part } from "./axes.ts";
import type { Figure, SeriesKey, View } from "./old-figure.ts";
import { COLOURS, colourOf, FONT, lineType, markOf } from "./theme.ts";

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
	if (!view.alone) return 0;
	const { title, facts, legend } = headOf(figure, view, keys);
	return 12 + title.length * 20 + facts.length * 15 + legend * 20 + 8;
}

/** Title, facts and legend of a picture on its own; on a page only which groups are off, as the page has the rest around it. */
export function frame(figure: Figure, view: View, keys: readonly SeriesKey[]): Part {
	const { ink, soft, page } = COLOURS[view.theme];
	const head = headOf(figure, view, keys);
	const width = roomOf(view);
	return {
		animation: false,
		backgroundColor: view.alone ? page : "transparent",
		textStyle: { fontFamily: FONT, fontSize: 12, color: soft },
		title: {
			show: view.alone ?? false,
			text: head.title.join("\n"),
			subtext: head.facts.join("\n"),
			left: MARGIN,
			top: 12,
			padding: 0,
			itemGap: 4,
			textStyle: { color: ink, fontSize: 15, fontWeight: 600, lineHeight: 20 },
			subtextStyle: { color: soft, fontSize: 12, lineHeight: 15 },
		},
		legend: {
			show: (view.alone ?? false) && keys.length > 0,
			data: groupsOf(keys).map((key) => shown(key.group)),
			selected: Object.fromEntries(
				groupsOf(keys).map((key) => [shown(key.group), !view.off.has(key.group)]),
			),
			left: MARGIN,
			top: 12 + head.title.length * 20 + head.facts.length * 15 + 6,
			width,
			padding: 0,
			// In a wide font a text is longer than ECharts takes it to be.
			formatter: (name: string) => name + slackOf(name),
			itemGap: 14,
			itemWidth: 28,
			itemHeight: 8,
			textStyle: { color: ink, width: Math.min(width - 40, 420), overflow: "truncate" },
			inactiveColor: soft,
		},
	};
}

/** A text above a grid: what its value axis measures, or its case in bold. ECharts' own names of axes move about. */
export function heading(
	text: string,
	{ left, top, width }: { left: number; top: number; width: number },
	{ theme }: View,
	bold = false,
): Part {
	const { ink, soft } = COLOURS[theme];
	return {
		text: shown(text),
		left,
		top,
		padding: 0,
		textStyle: {
			color: bold ? ink : soft,
			fontSize: bold ? 13 : 12,
			fontWeight: bold ? 600 : 400,
			lineHeight: 16,
			width,
			overflow: "truncate",
		},
	};
}

/** How a line looks: colour, dashes and mark of its key. The one that decides is strong. */
export function lineLook(key: SeriesKey, view: View): Part & { readonly color: string } {
	const color = colourOf(key, view.theme);
	return {
		name: shown(key.group),
		color,
		symbol: markOf(key),
		showSymbol: false,
		lineStyle: {
			color,
			width: key.thin ? 1 : 2,
			opacity: key.thin ? 0.55 : 1,
			type: lineType(key),
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
			color: colourOf(key, theme),
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
	const stroke = colourOf(key, theme);
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

/** One line, without what XML does not allow: control characters and half surrogates. */
export function shown(text: string): string {
	return text
		.replaceAll(/\p{Cc}+|\s+/gu, " ")
		.replaceAll(/[\p{Cs}\uFFFE\uFFFF]/gu, "\uFFFD")
		.trim()
		.slice(0, LONGEST);
}

/**
 * Lines of at most so many letters; words are kept whole where they fit. ECharts' own wrapping goes by widths that it guesses once measuring them took
 * long, so that the same picture would be another one on a busy machine.
 */
export function wrapped(text: string, width: number): string[] {
	const most = Math.max(1, Math.floor(width));
	const lines: string[] = [];
	for (const word of text === "" ? [] : text.split(" ")) {
		// By code points: half of one is no text.
		const letters = [...word];
		const last = lines.at(-1);
		if (last !== undefined && [...last].length + 1 + letters.length <= most)
			lines[lines.length - 1] = `${last} ${word}`;
		else
			for (let at = 0; at === 0 || at < letters.length; at += most)
				lines.push(letters.slice(at, at + most).join(""));
	}
	return lines;
}

// --- internal ---

const MARGIN = 12;
/** Letters of a text in a picture; more would fill it. */
const LONGEST = 400;

/** Lines of each part, rather too many than too few: fonts differ from machine to machine. */
function headOf(
	{ title, facts }: Figure,
	view: Pick<View, "width">,
	keys: readonly SeriesKey[],
): { title: string[]; facts: string[]; legend: number } {
	const room = roomOf(view);
	let [row, x] = [keys.length === 0 ? 0 : 1, 0];
	for (const { group } of groupsOf(keys)) {
		const { length } = shown(group);
		const text = length * 8 + slackOf(group).length * 12;
		const each = 28 + 5 + Math.min(420, text) + 14;
		if (x > 0 && x + each > room) [row, x] = [row + 1, 0];
		x += each;
	}
	return {
		title: wrapped(shown(title), room / 8.6),
		facts: wrapped(shown(facts), room / 6.7),
		legend: row,
	};
}

/** An em space for each twelve letters, a twelfth of their width. */
function slackOf(text: string): string {
	return "\u2003".repeat(Math.ceil(shown(text).length / 12));
}

function roomOf({ width }: Pick<View, "width">): number {
	return width - 2 * MARGIN;
}
