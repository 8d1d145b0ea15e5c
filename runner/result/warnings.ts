import type { Result } from "../model/result.ts";
import { runTitle } from "./words.ts";

/** A check that warned, over all runs. */
export interface Warning {
	readonly check: string;
	/** "2 of 3 runs"; of a single run empty. */
	readonly runs: string;
	/** What it said of the first of them, or of that with the largest share, with the run's name where there are several. */
	readonly detail: string;
}

/**
 * What checks warned of, whatever the verdict: whoever only sees the shared summary must know what its numbers have been through.
 * One line for each check.
 */
export function warningsOf(result: Result): Warning[] {
	const warnings = new Map<string, { detail: string; share: number; runs: number }>();
	for (const run of result.runs)
		for (const { check, status, detail, values } of run.validity) {
			if (status !== "warn") continue;
			const before = warnings.get(check);
			const runs = (before?.runs ?? 0) + 1;
			const share = Math.abs(Number(values?.share ?? 0));
			warnings.set(
				check,
				before && before.share >= share
					? { ...before, runs }
					: {
							detail: result.runs.length > 1 ? `${runTitle(run, result)}: ${detail}` : detail,
							share,
							runs,
						},
			);
		}
	return [...warnings].map(([check, { detail, runs }]) => ({
		check,
		runs: result.runs.length > 1 ? `${runs} of ${result.runs.length} runs` : "",
		detail,
	}));
}

/** "others (2 of 3 runs): nats, 256B 1000/s, repeat 1 of 3: other processes used 63 % of ..." */
export function warningText({ check, runs, detail }: Warning): string {
	return `${check}${runs === "" ? "" : ` (${runs})`}: ${detail}`;
}
