import type { Run } from "../model/result.ts";
import { breakdownText, partsText } from "../result/breakdown.ts";
import { type Block, type Depth, fold, list, text } from "./blocks.ts";

/** Where p99 went: a line, and from `depth` on one for each percentile; null: nowhere. */
export function breakdown(run: Run, depth: Depth | null): Block[] {
	const { breakdown: parts = [] } = run;
	if (parts.length === 0) return [];
	const each = [
		list(parts.map((one) => partsText(run, one))),
		text(
			"Means of the messages around each percentile, at max of the slowest one. Queued: earlier sends blocked; lag: the generator was late; service: from the send call on",
			"small",
		),
	];
	return [
		text(breakdownText(run)),
		...(depth === null ? [] : [fold("Where each percentile went", each, { depth })]),
	];
}
