import type { Figure, View } from "./figure.ts";
import { COLOURS, FONT } from "./theme.ts";

/** What is around the curves of every picture. */

/** A part of an option: ECharts' own types ask for the whole library. */
export type Part = Readonly<Record<string, unknown>>;

/** Pixels above the curves: of a picture on its own for title, facts and legend. */
export function headHeight(
	figure: Pick<Figure, "title" | "facts">,
	groups: readonly string[],
	view: Pick<View, "width" | "alone">,
): number {
	if (!view.alone) return 0;
	const { title, facts, legend } = headOf(figure, groups, view);
	return 12 + title.length * 20 + facts.length * 15 + legend * 20 + 8;
}

/** Title, facts and legend of a picture on its own; on a page only which groups are off, as the page has the rest around it. */
export function head(
	figure: Pick<Figure, "title" | "facts">,
	groups: readonly string[],
	view: View,
): Part {
	const { ink, soft, page } = COLOURS[view.theme];
	const { title, facts } = headOf(figure, groups, view);
	const width = roomOf(view);
	return {
		animation: false,
		backgroundColor: view.alone ? page : "transparent",
		textStyle: { fontFamily: FONT, fontSize: 12, color: soft },
		title: {
			show: view.alone ?? false,
			text: title.join("\n"),
			subtext: facts.join("\n"),
			left: MARGIN,
			top: 12,
			padding: 0,
			itemGap: 4,
			textStyle: { color: ink, fontSize: 15, fontWeight: 600, lineHeight: 20 },
			subtextStyle: { color: soft, fontSize: 12, lineHeight: 15 },
		},
		legend: {
			show: (view.alone ?? false) && groups.length > 0,
			data: groups.map(shown),
			selected: Object.fromEntries(groups.map((group) => [shown(group), !view.off.has(group)])),
			left: MARGIN,
			top: 12 + title.length * 20 + facts.length * 15 + 6,
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
	{ title, facts }: Pick<Figure, "title" | "facts">,
	groups: readonly string[],
	view: Pick<View, "width">,
): { title: string[]; facts: string[]; legend: number } {
	const room = roomOf(view);
	let [row, x] = [groups.length === 0 ? 0 : 1, 0];
	for (const group of groups) {
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
