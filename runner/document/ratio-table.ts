import { intervalText, looksOf, ratioOfText, verdictCell } from "../compare/words.ts";
import type { Comparison } from "../model/comparison.ts";
import { show } from "../result/show.ts";
import { percentText } from "../text/comparisons.ts";
import { aside, badge, numbers, table } from "./make.ts";
import type { Column, Table, Text } from "./old-blocks.ts";

/** Figures against a baseline: both sides, the ratio with its interval, the margin, and what follows. */
export function ratioTable(
	comparisons: readonly Comparison[],
	name: (c: Comparison) => string,
	sides: readonly Column[],
	parts: Partial<Table> = {},
): Table {
	const columns = ["", ...sides, ...numbers(["ratio", "95 % interval", "margin"]), "verdict"];
	const rows = comparisons.map((c): Text[] => [
		name(c),
		sideText(c.a, c.unit),
		sideText(c.b, c.unit),
		ratioOfText(c),
		intervalText(c),
		[percentText(c.margin), aside(c.marginFrom === "default" ? "" : c.marginFrom)],
		c.judged ? badge(looksOf(c), verdictCell(c)) : verdictCell(c),
	]);
	return table(columns, rows, parts);
}

// --- internal ---

/** "62.4us", weak "~62.4us"; where not every run has this value "62.4us (3 of 5)". */
function sideText(
	{ median: value, weak, values, runs }: Comparison["a"],
	unit: Comparison["unit"],
): string {
	const text = show({ value, unit, weak });
	return value === null || values.length === runs ? text : `${text} (${values.length} of ${runs})`;
}
