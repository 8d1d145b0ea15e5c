import type { Collected } from "../../evidence/collect.ts";
import type { Run } from "../../model/result.ts";
import type { Values } from "../../text/say.ts";
import type { Facts } from "../facts.ts";
import type { Judgement } from "../judgement.ts";

/** What a check has come to, as result.json has it. */
export type CheckResult = Run["validity"][number];
type Status = CheckResult["status"];

/** A question to a run: is the measurement itself to be trusted? `CHECKS` has them all. */
export interface Check {
	/** Its code in result.json. */
	readonly name: string;
	/** Its row in reports/README.md: what it may come to, and when. */
	readonly comesTo: string;
	readonly when: string;
	/** A check that could find nothing in such a run is left out: that it found nothing would be no evidence. Absent: every run. */
	applies?(collected: Collected): boolean;
	judge(facts: Facts, judgements: readonly Judgement[]): Finding;
}

/**
 * `fail`: the system does not carry the rate, whatever its percentiles. `inconclusive`: the run cannot pass, as nobody has judged what happened
 * in it. `error`: mqbench contradicts itself, which is a bug of ours. What cannot be read is `unknown`, never `ok`.
 */
export interface Finding {
	readonly status: Status;
	/** A sentence, and what it names. */
	readonly text: string;
	readonly values?: Values;
	/** Where programs have to tell it from others of this check; absent: the check's name. */
	readonly code?: string;
	/** For people; absent where one word says it. */
	readonly figure?: string | null;
	readonly limit?: string | null;
	/** What to do about it; dropped where the finding is ok. */
	readonly remedy?: string;
}

/** A check that compares one number with its limit. */
export interface Threshold extends Omit<Check, "comesTo" | "judge"> {
	/** What it comes to above the limit. */
	readonly above: Status;
	readonly limit: number;
	readonly show: (value: number) => string;
	readonly remedy: string;
}

/** That number in a run. */
export interface Reading extends Pick<Finding, "text" | "values" | "figure"> {
	readonly value: number;
	/** Where it depends on the run. */
	readonly limit?: number;
}

export function threshold(row: Threshold & { read(facts: Facts): Reading | Finding }): Check {
	return { ...row, comesTo: row.above, judge: (facts) => compared(row, row.read(facts)) };
}

/** The number against its limit. What cannot be read, or needs no comparison, is a finding already. */
export function compared(
	row: Pick<Threshold, "above" | "limit" | "show" | "remedy">,
	reading: Reading | Finding,
): Finding {
	if ("status" in reading) return reading;
	const { value, limit = row.limit, ...rest } = reading;
	return {
		status: value > limit ? row.above : "ok",
		figure: row.show(value),
		limit: row.show(limit),
		remedy: row.remedy,
		...rest,
	};
}

export function ok(text: string, more: Partial<Finding> = {}): Finding {
	return { status: "ok", text, ...more };
}

export function unknown(text: string, remedy = AGAIN): Finding {
	return { status: "unknown", text, remedy };
}

export const AGAIN = "make the run again";
export const SEE_COMPLETIONS = "see why nothing completed";

/** No client came so far as to write its counters. */
export const NOT_COUNTED: Finding = unknown("no client has counted");
