import type { Run } from "../model/result.ts";

/**
 * Of several repeats the one with the median p99 of its main metric, of an even number the higher of the two: a run that was measured so,
 * never an average. One without a p99 is slower than any.
 */
export function decidingRepeat(runs: readonly Run[]): Run | undefined {
	const p99 = (run: Run) =>
		run.metrics[run.main]?.percentiles.find(({ p }) => p === 99)?.value ?? Number.MAX_VALUE;
	return runs.toSorted((a, b) => p99(a) - p99(b))[Math.floor(runs.length / 2)];
}
