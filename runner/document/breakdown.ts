import type { Run } from "../model/result.ts";
import { breakdownText, partsText } from "../result/breakdown.ts";
import { tell } from "../text/tell.ts";
import { type Block, type Depth, fold, list, text } from "./blocks.ts";

/** Where p99 went: a line, and from `depth` on one for each percentile; null: nowhere. */
export function breakdown(run: Run, depth: Depth | null): Block[] {
	const { breakdown: parts = [] } = run;
	if (parts.length === 0) return [];
	const each = [list(parts.map((one) => partsText(run, one))), text(tell("parts-mean"), "small")];
	return [
		text(breakdownText(run)),
		...(depth === null ? [] : [fold(tell("title-parts"), each, { depth })]),
	];
}
