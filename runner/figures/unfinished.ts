import { joined, shareText } from "../chart/missing.ts";
import type { Missing, Unfinished } from "../chart/old-figure.ts";
import { secondText } from "../chart/units.ts";
import { rank } from "../histogram/percentiles.ts";
import type { Run } from "../model/result.ts";
import { maxText } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount } from "../units.ts";

/** When messages were due that never completed, as far as it is known. */

/** By stretches of `size` seconds, counted as those of the lines. */
export function unfinishedOf(run: Run, size: number): Unfinished {
	const slots = new Map<number, Missing>();
	for (const second of run.series.seconds) {
		if (second.missing === null || second.missing === 0) continue;
		const slot = Math.floor(second.second / size);
		slots.set(slot, {
			from: slot * size,
			to: (slot + 1) * size,
			count: 0,
			due: 0,
			beyond: [],
			longest: null,
		});
	}
	for (const second of run.series.seconds) {
		const slot = Math.floor(second.second / size);
		const known = slots.get(slot);
		if (known === undefined) continue;
		const missing = second.missing ?? 0;
		slots.set(slot, {
			...known,
			count: known.count + missing,
			due: known.due + missing + second.count,
			beyond: [...new Set([...known.beyond, ...beyondOf(second)])],
			longest: larger(known.longest, second.max),
		});
	}
	const censored = run.metrics[run.main]?.censored ?? 0;
	const known = run.series.seconds.some(({ missing }) => missing !== null);
	return {
		stretches: [...slots.values()].sort((a, b) => a.from - b.from),
		beyond: maxText({ censored: 1, max: null }, run),
		unplaced:
			censored > 0 && !known
				? tell("second-unknown", {
						messages: formatCount(censored),
						what: run.state === "complete" ? "never completed" : tell("not-completed-at-end"),
					})
				: null,
	};
}

/** Which lines have no value in this second, as too many messages never completed; those of the maximum always, if one did not. */
export function beyondOf({ missing, count, p50, p99 }: Run["series"]["seconds"][number]): string[] {
	if (missing === null || missing === 0) return [];
	const reaches = (p: number) => rank(count + missing, p) > count;
	return [
		"max",
		...(p99 === null && reaches(99) ? ["p99"] : []),
		...(p50 === null && reaches(50) ? ["p50"] : []),
	];
}

/** "12 of 1 000 never completed from 2s to 3s."; empty: all did. */
export function unfinishedSentence(unfinished: Unfinished): string {
	if (unfinished.unplaced !== null) return `${unfinished.unplaced}.`;
	const all = joined(unfinished.stretches);
	if (all.length === 0) return "";
	const parts = all
		.slice(0, MOST_NAMED)
		.map((one) => `${shareText(one)} from ${secondText(one.from)} to ${secondText(one.to)}`);
	const rest = all.slice(MOST_NAMED);
	if (rest.length > 0)
		parts.push(
			`${shareText(sumOf(rest))} in ${formatCount(rest.length)} later stretch${rest.length === 1 ? "" : "es"}`,
		);
	return `Never completed: ${parts.join(", ")}.`;
}

// --- internal ---

/** Stretches that a description names one by one. */
const MOST_NAMED = 5;

function larger(a: number | null, b: number | null): number | null {
	return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function sumOf(all: readonly Missing[]): Pick<Missing, "count" | "due"> {
	return {
		count: all.reduce((n, { count }) => n + count, 0),
		due: all.reduce((n, { due }) => n + due, 0),
	};
}
