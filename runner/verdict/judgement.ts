import type { Sla } from "../model/plan.ts";
import type { Cause, Gate } from "../model/result.ts";
import { type Said, said } from "../text/say.ts";

/** What other than the system can decide a line: `excuses.ts` has them in their order. */
export type ExcuseName =
	| "lag"
	| "burst"
	| "stops"
	| "held"
	| "receipts"
	| "floor"
	| "machine"
	| "clocks"
	| "queue"
	| "drift";

/** Those of the generator's own lateness. */
export const LATENESS: readonly ExcuseName[] = ["lag", "burst", "stops"];

/** One SLA line judged for one run: what result.json has of a repeat, and what only the verdict needs. */
export interface Judgement
	extends Omit<Gate["repeats"][number], "repeat" | "code" | "values" | "cause">,
		Pick<Said, "code" | "values"> {
	readonly sla: string;
	readonly limit: string;
	/** What decided the verdict; null: the system alone. */
	readonly excuse: ExcuseName | null;
	/** machine: a saturated machine explains the FAIL; null: nothing but the system does. */
	readonly cause: Cause | null;
}

/** What a judgement says, as result.json has it. */
export function because({ text, code, values }: Said): Pick<Judgement, "why" | "code" | "values"> {
	return { why: text, code, values };
}

/** A line that was not measured, or that this run cannot answer. */
export function unmeasured(
	base: Pick<Judgement, "sla" | "limit"> & typeof NO_NUMBERS,
	why: Said,
): Judgement {
	return { ...base, verdict: "error", measured: "n/a", ...because(why) };
}

/** For want of a figure there is nothing to judge. */
export function notMeasured(why: string): Said {
	return said("not-measured", why);
}

/** "the SLA asks for at most 10s" */
export function asksFor(op: Op, limit: string): string {
	return `the SLA asks for ${ASKS[op]} ${limit}`;
}

/** Where there is nothing to count. */
export const NO_NUMBERS: Omit<
	Judgement,
	"sla" | "limit" | "verdict" | "measured" | "why" | "code" | "values"
> = {
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
	excuse: null,
	cause: null,
};

// --- internal ---

type Op = Extract<Sla, { kind: "tally" }>["op"];

const ASKS: Readonly<Record<Op, string>> = {
	"<": "less than",
	"<=": "at most",
	"==": "exactly",
	">=": "at least",
	">": "more than",
};
