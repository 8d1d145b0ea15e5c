import type { Gate } from "../model/result.ts";

/** One SLA line judged for one run: what result.json has of a repeat, and what only the verdict needs. */
export interface Judgement extends Omit<Gate["repeats"][number], "repeat"> {
	readonly sla: string;
	readonly limit: string;
	/** True: the generator's lateness, or the burst after it, decided the verdict. */
	readonly lagDecided: boolean;
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
};
