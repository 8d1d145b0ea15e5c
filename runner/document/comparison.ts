import type { Comparison } from "../model/comparison.ts";
import type { Result } from "../model/result.ts";
import { tell } from "../text/tell.ts";
import { plural } from "../units.ts";
import { list, numbers, paragraph, section } from "./make.ts";
import { FILES, type Section } from "./old-blocks.ts";
import { ratioTable } from "./ratio-table.ts";

/** Against the baseline: the ratio of each figure with its interval, and what follows from it. */
export function comparison({ comparisons, gates }: Result): Section[] {
	// Those that an SLA line asks for stand in `comparisons` too, or only at their gate.
	const all = [...comparisons];
	for (const { comparison: one } of gates)
		if (one !== null && !all.some((other) => isSame(other, one))) all.push(one);
	if (all.length === 0) return [];
	const shown = all.length > MOST ? all.filter(differs) : all;
	const more = all.length - shown.length;
	const title = `Compared with ${[...new Set(all.map((c) => c.a.name))].join(", ")}`;
	const sides = numbers(["baseline", "now"], FILES);
	return [
		section(
			"comparison",
			title,
			[
				...(shown.length === 0 ? [] : [ratioTable(shown, whereOf, sides, { share: 0.2 })]),
				paragraph(more > 0 ? `${plural(more, "comparison")} more: SAME` : null),
				list(
					shown
						.filter(differs)
						.map(
							(c) =>
								`${c.verdict.toUpperCase()} ${whereOf(c)}: ${c.why}${c.advisory === null ? "" : `; shown only: ${c.advisory}`}`,
						),
				),
				paragraph(HOW_RATIO, "small", FILES),
			],
			{ contents: "Compared with the baseline" },
		),
	];
}

// --- internal ---

/** Of more than these only those that have changed are told. */
const MOST = 20;

const HOW_RATIO = tell("ratio-means");

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
