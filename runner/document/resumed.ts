import type { Result, Run } from "../model/result.ts";
import { formatUtc } from "../units.ts";

/** Which runs come from when, where a command went on with those of another: "resumed: runs 1 to 3 began after ..."; null: one command made them all. */
export function resumedText({ environment, runs }: Result): string | null {
	const later = environment?.resumed ?? [];
	if (environment === null || later.length === 0) return null;
	const starts = [environment, ...later].map(({ startedAt }) => startedAt);
	const parts = starts.flatMap((start, i) => {
		const next = starts[i + 1];
		const own = runs.filter(
			({ startedAt }) =>
				startedAt !== null &&
				(i === 0 || startedAt >= start) &&
				(next === undefined || startedAt < next),
		);
		return own.length === 0 ? [] : [`${numbers(own)} of ${formatUtc(start, "second")} UTC`];
	});
	return `resumed: ${parts.join("; ")}`;
}

// --- internal ---

/** "run 3", "runs 1 to 3, 5" */
function numbers(runs: readonly Run[]): string {
	const spans: [number, number][] = [];
	for (const { index } of runs.toSorted((a, b) => a.index - b.index)) {
		const last = spans.at(-1);
		if (last && last[1] === index - 1) last[1] = index;
		else spans.push([index, index]);
	}
	const text = spans.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
	return `${runs.length === 1 ? "run" : "runs"} ${text.join(", ")}`;
}
