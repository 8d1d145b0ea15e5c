import { intervalText, looksOf, ratioOfText, verdictCell } from "../compare/words.ts";
import type { Comparison } from "../model/comparison.ts";
import type { Result } from "../model/result.ts";
import { percentText } from "../text/comparisons.ts";
import { plural } from "../units.ts";
import {
	aside,
	type Block,
	badge,
	type Column,
	type Inline,
	list,
	numbers,
	section,
	type Table,
	table,
	text,
} from "./blocks.ts";

/** Against the baseline: the ratio of each figure with its interval, and what follows from it. */
export function comparison({ comparisons, gates }: Result): Block[] {
	// Those that an SLA line asks for stand in `comparisons` too, or only at their gate.
	const found = [...comparisons, ...gates.flatMap((gate) => gate.comparison ?? [])];
	const all = [
		...new Map(found.map((c) => [JSON.stringify([whereOf(c), c.margin, c.a.name]), c])),
	].map(([, c]) => c);
	if (all.length === 0) return [];
	const changed = all.filter((c) => c.verdict !== "same" || c.advisory !== null);
	const shown = all.length > MOST ? changed : all;
	const more = all.length - shown.length;
	const names = [...new Set(all.map((c) => c.a.name))].join(", ");
	return [
		section("comparison", `Compared with ${names}`, [
			ratioTable(shown, whereOf, numbers(["baseline", "now"], 2)),
			text(more > 0 ? `${plural(more, "comparison")} more: SAME` : null),
			list(
				changed.map(
					(c) =>
						`${c.verdict.toUpperCase()} ${whereOf(c)}: ${c.why}${c.advisory === null ? "" : `; shown only: ${c.advisory}`}`,
				),
			),
			text(
				"Ratio: now / baseline, the median of the ratios of all pairs of runs (Hodges-Lehmann), with its exact interval. 1.1 is 10 % more",
				"small",
				2,
			),
		]),
	];
}

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

/** Of more than these only those that have changed are told. */
const MOST = 20;

/** "62.4us", weak "~62.4us"; where not every run has this value "62.4us (3 of 5)". */
function sideOf(
	{ median: value, weak, values, runs }: Comparison["a"],
	unit: Comparison["unit"],
): Inline {
	const some = value === null || values.length === runs ? "" : ` (${values.length} of ${runs})`;
	return [{ value, unit, weak }, some];
}

function whereOf(c: Comparison): string {
	return `${c.system}, ${c.case}, ${c.metric}`;
}
