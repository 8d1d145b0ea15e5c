import type { Cause, Gate } from "../model/result.ts";
import { type Said, sayBut } from "../text/say.ts";

/** One SLA line judged for one run: what result.json has of a repeat, and what only the verdict needs. */
export interface Judgement
	extends Omit<Gate["repeats"][number], "repeat" | "code" | "values" | "cause">,
		Pick<Said, "code" | "values"> {
	readonly sla: string;
	readonly limit: string;
	/** True: the generator's lateness, or the burst after it, decided the verdict. */
	readonly lagDecided: boolean;
	/** True: what waited in the client library did. */
	readonly heldDecided: boolean;
	/** machine: a saturated machine explains the FAIL; null: nothing but the system does. */
	readonly cause: Cause | null;
}

/** What a judgement says, as result.json has it. */
export function because({ text, code, values }: Said): Pick<Judgement, "why" | "code" | "values"> {
	return { why: text, code, values };
}

/** The same judgement left open: by what takes its weight away. */
export function leftOpen(j: Judgement, but: Said): Judgement {
	const { why: text, code, values } = j;
	return { ...j, verdict: "inconclusive", ...because(sayBut({ text, code, values }, but)) };
}

/** Where there is nothing to count. */
export const NO_NUMBERS = {
	valueNs: null,
	lowNs: null,
	highNs: null,
	beyondNs: null,
	margin: null,
	n: null,
	over: null,
	allowed: null,
	censored: null,
	events: null,
	phi: null,
	tally: null,
	lagDecided: false,
	heldDecided: false,
	cause: null,
};
