import type { Run } from "../model/result.ts";
import { breakdownText, partsText } from "../result/breakdown.ts";
import { tell } from "../text/tell.ts";
import type { Block, Medium } from "./blocks.ts";
import { details, list, paragraph } from "./make.ts";

/** Where p99 went: a line, and in some media one for each percentile. */
export function breakdown(run: Run, media: readonly Medium[]): Block[] {
	const { breakdown: parts = [] } = run;
	if (parts.length === 0) return [];
	return [
		paragraph(breakdownText(run)),
		details(
			tell("title-parts"),
			[list(parts.map((one) => partsText(run, one))), paragraph(tell("parts-mean"), "small")],
			media,
		),
	];
}
