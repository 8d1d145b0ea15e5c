import { largestOf, smallestOf } from "../../extremes.ts";
import { rank } from "../../stats/support.ts";
import { formatCount, formatDuration, plural } from "../../units.ts";
import type { HeatFigure, TimeFigure } from "./figure.ts";
import { secondText } from "./units.ts";

/**
 * What a stretch of the window holds, in words: its messages, percentiles and losses from the cells of the heat map, so that a percentile is
 * known to lie between the two edges of a cell; the slowest of the run's slowest messages that were due in it; and what the broker logged in it,
 * warnings first. Columns that are cut count whole. Empty: nothing was due in it.
 */
export function stretchTexts(
	heat: HeatFigure,
	{ slowest, log = [] }: Pick<TimeFigure, "slowest" | "log">,
	[from, to]: readonly [from: number, to: number],
): string[] {
	const { bins, end, width, unfinished } = heat;
	const inside = (second: number) => second + width > from && second < to;
	const cells = heat.cells.filter(([second]) => inside(second));
	const never = unfinished.stretches.filter((one) => one.to > from && one.from < to);
	const missing = never.reduce((n, { count }) => n + count, 0);
	const completed = cells.reduce((n, [, , count]) => n + count, 0);
	const all = completed + missing;
	if (all === 0) return [];
	const counts = new Map<number, number>();
	for (const [, bin, count] of cells) counts.set(bin, (counts.get(bin) ?? 0) + count);
	const sorted = [...counts].sort(([a], [b]) => a - b);
	const between = (bin: number | undefined) =>
		bin === undefined
			? unfinished.beyond
			: `${formatDuration(bins[bin] ?? 0)} to ${formatDuration(bins[bin + 1] ?? end)}`;
	const at = (nth: number) => {
		let seen = 0;
		return sorted.find(([, count]) => {
			seen += count;
			return seen >= nth;
		})?.[0];
	};
	const begin = Math.min(
		smallestOf(cells.map(([second]) => second)),
		smallestOf(never.map((one) => one.from)),
	);
	const until = Math.max(
		largestOf(cells.map(([second]) => second + width)),
		largestOf(never.map((one) => one.to)),
	);
	const logged = log
		.filter(({ second }) => second >= from && second < to)
		.sort((a, b) => +b.serious - +a.serious);
	const due = slowest.filter(({ second }) => second >= begin && second < until);
	return [
		[
			`${secondText(begin)} to ${secondText(until)}: ${plural(all, "message")}`,
			...[50, 90, 99].map((p) => `p${p} ${between(at(rank(all, p)))}`),
			`slowest ${between(missing > 0 ? undefined : sorted.at(-1)?.[0])}`,
			...(missing > 0 ? [`${formatCount(missing)} never completed`] : []),
		].join(", "),
		...due.slice(0, MOST).map(({ second, text }) => `at ${secondText(second)}: ${text}`),
		...logged.slice(0, MOST).map(({ text }) => text),
	];
}

// --- internal ---

const MOST = 3;
