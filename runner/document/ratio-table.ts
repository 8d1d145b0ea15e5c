import {
	intervalText,
	looksOf,
	marginText,
	ratioOfText,
	sideText,
	verdictCell,
} from "../compare/words.ts";
import type { Comparison } from "../model/comparison.ts";
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
		sideText(c, c.a),
		sideText(c, c.b),
		ratioOfText(c),
		intervalText(c),
		[marginText(c), aside(c.marginFrom === "default" ? "" : c.marginFrom)],
		c.judged ? badge(looksOf(c), verdictCell(c)) : verdictCell(c),
	]);
	return table(columns, rows, parts);
}
