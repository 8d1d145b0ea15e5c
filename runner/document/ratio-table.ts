import { intervalText, looksOf, ratioOfText, verdictCell } from "../compare/words.ts";
import type { Comparison } from "../model/comparison.ts";
import { percentText } from "../text/comparisons.ts";
import { aside, badge, type Column, type Inline, numbers, type Table, table } from "./blocks.ts";

/** Figures against a baseline: both sides, the ratio with its interval, the margin, and what follows. */
export function ratioTable(
	comparisons: readonly Comparison[],
	name: (c: Comparison) => string,
	sides: readonly Column[],
): Table {
	const columns = ["", ...sides, ...numbers(["ratio", "95 % interval", "margin"]), "verdict"];
	const rows = comparisons.map((c): Inline[] => [
		name(c),
		sideOf(c.a, c.unit),
		sideOf(c.b, c.unit),
		ratioOfText(c),
		intervalText(c),
		[percentText(c.margin), aside(c.marginFrom === "default" ? "" : c.marginFrom)],
		c.judged ? badge(looksOf(c), verdictCell(c)) : verdictCell(c),
	]);
	return table(columns, rows);
}

// --- internal ---

/** "62.4us", weak "~62.4us"; where not every run has this value "62.4us (3 of 5)". */
function sideOf(
	{ median: value, weak, values, runs }: Comparison["a"],
	unit: Comparison["unit"],
): Inline {
	const some = value === null || values.length === runs ? "" : ` (${values.length} of ${runs})`;
	return [{ value, unit, weak }, some];
}
