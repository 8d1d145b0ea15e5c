import type { Machine } from "./machine.ts";

/** ok; warn: expect a longer tail; bad: do not measure here; info: for those who wonder; unknown: could not be read. */
export const VERDICTS = ["ok", "info", "unknown", "warn", "bad"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One line of `mqbench doctor`. */
export interface Finding {
	readonly check: string;
	readonly verdict: Verdict;
	/** What was found: "powersave", "2 of 8 cores". */
	readonly figure: string;
	/** What that means for a measurement, in one sentence. */
	readonly sentence: string;
	/** What to do; null when there is nothing to do. */
	readonly remedy: string | null;
}

/** A check by its name. It may throw: what cannot be read is `unknown`. */
export interface Check {
	readonly name: string;
	/** True: it measures time, so that nothing else may run beside it. */
	readonly alone: boolean;
	look(machine: Machine): Promise<Finding[]> | Finding[];
}

export function ok(check: string, figure: string, sentence: string): Finding {
	return { check, verdict: "ok", figure, sentence, remedy: null };
}

export function unknown(check: string, sentence: string): Finding {
	return {
		check,
		verdict: "unknown",
		figure: "unknown",
		sentence,
		remedy: null,
	};
}
