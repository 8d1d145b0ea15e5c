import type { Figure, View } from "./figure.ts";
import { COLOURS, FONT } from "./theme.ts";

/** ECharts' own types would ask for the whole library. */
export type Part = Readonly<Record<string, unknown>>;

/** With the pixels that title, facts and legend take above the curves; on a page, which has those, only which groups are off. */
export function headOf(
	figure: Pick<Figure, "title" | "facts">,
	groups: readonly string[],
	view: Omit<View, "height">,
): { readonly height: number; readonly option: Part } {
	const { ink, soft, page } = COLOURS[view.theme];
	const alone = view.alone ?? false;
	const width = view.width - 2 * MARGIN;
	// Rather too many lines: fonts differ between machines.
	const title = wrapped(shown(figure.title), width / 8.6);
	const facts = wrapped(shown(figure.facts), width / 6.7);
	const below = MARGIN + title.length * 20 + facts.length * 15;
	const text = { color: soft, fontSize: 12, lineHeight: 15 };
	return {
		height: alone ? below + rowsOf(groups, width) * 20 + 8 : 0,
		option: {
			animation: false,
			backgroundColor: alone ? page : "transparent",
			textStyle: { fontFamily: FONT, fontSize: 12, color: soft },
			title: {
				show: alone,
				text: title.join("\n"),
				subtext: facts.join("\n"),
				left: MARGIN,
				top: MARGIN,
				padding: 0,
				itemGap: 4,
				textStyle: { color: ink, fontSize: 15, fontWeight: 600, lineHeight: 20 },
				subtextStyle: text,
			},
			legend: {
				show: alone && groups.length > 0,
				data: groups.map(shown),
				selected: Object.fromEntries(groups.map((group) => [shown(group), !view.off.has(group)])),
				left: MARGIN,
				top: below + 6,
				width,
				padding: 0,
				// A wide font takes more room than ECharts expects.
				formatter: (name: string) => name + slackOf(name),
				itemGap: GAP,
				itemWidth: 28,
				itemHeight: 8,
				textStyle: { color: ink, width: Math.min(width - 40, 420), overflow: "truncate" },
				inactiveColor: soft,
			},
		},
	};
}

/** Above a grid: the quantity on its value axis, or its case in bold. ECharts moves its own axis names about. */
export function heading(
	text: string,
	at: { readonly left: number; readonly top: number; readonly width: number },
	{ theme }: View,
	bold = false,
): Part {
	const { ink, soft } = COLOURS[theme];
	const font = bold
		? { color: ink, fontSize: 13, fontWeight: 600 }
		: { color: soft, fontSize: 12, fontWeight: 400 };
	return {
		text: shown(text),
		left: at.left,
		top: at.top,
		padding: 0,
		textStyle: { ...font, lineHeight: 16, width: at.width, overflow: "truncate" },
	};
}

/** One line, without characters that XML forbids: control characters and half surrogates. */
export function shown(text: string): string {
	return text
		.replaceAll(/\p{Cc}+|\s+/gu, " ")
		.replaceAll(/[\p{Cs}\uFFFE\uFFFF]/gu, "\uFFFD")
		.trim()
		.slice(0, LONGEST);
}

/** Lines of at most `width` letters. ECharts' own wrapping guesses widths once measuring took long, so a busy machine changes the chart. */
export function wrapped(text: string, width: number): string[] {
	const most = Math.max(1, Math.floor(width));
	const lines: string[] = [];
	for (const word of text === "" ? [] : text.split(" ")) {
		// By code points: half of one is not text.
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
/** Letters of a text in a chart. */
const LONGEST = 400;

/** Pixels between the parts of a legend. */
const GAP = 8;

function rowsOf(groups: readonly string[], width: number): number {
	let [row, x] = [groups.length === 0 ? 0 : 1, 0];
	for (const group of groups) {
		const text = shown(group).length * 8 + slackOf(group).length * 12;
		const each = 28 + 5 + Math.min(420, text) + GAP;
		if (x > 0 && x + each > width) [row, x] = [row + 1, 0];
		x += each;
	}
	return row;
}

/** An em space for each twelve letters, a twelfth of their width. */
function slackOf(text: string): string {
	return "\u2003".repeat(Math.ceil(shown(text).length / 12));
}
