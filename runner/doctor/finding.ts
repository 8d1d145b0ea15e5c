import type { Machine } from "./this-machine.ts";

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

/** What a check has found. */
export type Found = Omit<Finding, "check">;

/** A check by its name. It may throw: what cannot be read is `unknown`. */
export interface Check {
	readonly name: string;
	/** It measures time, so nothing else may run beside it. */
	readonly alone?: true;
	look(machine: Machine): Promise<Found> | Found;
}

export function ok(figure: string, sentence: string): Found {
	return { verdict: "ok", figure, sentence, remedy: null };
}

export function info(figure: string, sentence: string, remedy: string | null = null): Found {
	return { verdict: "info", figure, sentence, remedy };
}

export function unknown(sentence: string): Found {
	return { verdict: "unknown", figure: "unknown", sentence, remedy: null };
}

export function bad(figure: string, sentence: string, remedy: string): Found {
	return { verdict: "bad", figure, sentence, remedy };
}
