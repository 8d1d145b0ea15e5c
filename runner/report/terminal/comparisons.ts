import type { Comparison } from "../../model/comparison.ts";
import type { Result } from "../../model/result.ts";
import { plural } from "../../units.ts";
import { intervalText, ratioOfText } from "../comparison/words.ts";
import { grid, listed, type Page } from "./text-page.ts";

/** What was compared with a baseline: ratio with its interval, the margin, the verdict, and why where it is not "same". */
export function comparisonLines(
	{ comparisons, gates }: Result,
	page: Page,
): string[] {
	// Those that an SLA line asks for stand in `comparisons` too, or only at their gate.
	const all = [...comparisons];
	for (const { comparison } of gates)
		if (comparison !== null && !all.some((one) => isSame(one, comparison)))
			all.push(comparison);
	const [first] = all;
	if (first === undefined) return [];
	const shown = all.length > MOST ? all.filter(differs) : all;
	const table = [HEAD, ...shown.map(cellsOf)];
	const hidden = all.length - shown.length;
	return [
		...page
			.fold(
				`Compared with ${[...new Set(all.map((c) => c.a.name))].join(", ")}`,
			)
			.map((line) => page.style("bold", line)),
		...(shown.length === 0 ? [] : (grid(table, page) ?? listed(table, page))),
		...(hidden > 0
			? page.fold(`${plural(hidden, "comparison")} more: SAME`, "  ")
			: []),
		...shown
			.filter(differs)
			.flatMap((c) =>
				page.fold(
					`${c.verdict.toUpperCase()} ${whereOf(c)}: ${c.why}${c.advisory === null ? "" : `; advisory: ${c.advisory}`}`,
					"    ",
					"  ",
				),
			),
	];
}

// --- internal ---

/** More than these are told of only where something has changed. */
const MOST = 20;

const HEAD = ["", "ratio", "interval", "margin", "verdict"];

function cellsOf(c: Comparison): string[] {
	return [
		whereOf(c),
		ratioOfText(c),
		intervalText(c),
		`${Number((c.margin * 100).toFixed(1))} %`,
		`${c.verdict.toUpperCase()}${c.judged ? "" : " (not judged)"}`,
	];
}

function whereOf(c: Comparison): string {
	return `${c.system}, ${c.case}, ${c.metric}`;
}

function differs(c: Comparison): boolean {
	return c.verdict !== "same" || c.advisory !== null;
}

function isSame(a: Comparison, b: Comparison): boolean {
	return (
		a.system === b.system &&
		a.case === b.case &&
		a.metric === b.metric &&
		a.margin === b.margin &&
		a.a.name === b.a.name
	);
}
