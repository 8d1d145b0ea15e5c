import type { Collected } from "../../evidence/collect.ts";
import type { Run } from "../../model/result.ts";
import type { Values } from "../../text/say.ts";
import type { Facts } from "../facts.ts";
import type { Judgement } from "../judgement.ts";

export type CheckResult = Run["validity"][number];

/** Asks whether the measurement itself can be trusted; `CHECKS` lists all. */
export interface Check {
	readonly name: string;
	/** Row in reports/METHOD.md: possible results, and when. */
	readonly comesTo: string;
	readonly when: string;
	/** False where it could find nothing, because then finding nothing is no evidence. By default it applies to every run. */
	applies?(collected: Collected): boolean;
	judge(facts: Facts, judgements: readonly Judgement[]): Finding;
}

/** `fail`: rate not sustained. `inconclusive`: cannot pass. `error`: a bug in mqbench. `unknown`: cannot be read, never `ok`. */
export interface Finding {
	readonly status: CheckResult["status"];
	readonly text: string;
	readonly values?: Values;
	/** For programs. By default the check's name. */
	readonly code?: string;
	/** For people. Absent where one word suffices. */
	readonly figure?: string | null;
	readonly limit?: string | null;
	/** Dropped if ok. */
	readonly remedy?: string;
}

export interface Threshold extends Omit<Check, "comesTo" | "judge"> {
	readonly above: CheckResult["status"];
	readonly limit: number;
	readonly show: (value: number) => string;
	readonly remedy: string;
}

export interface Reading extends Pick<Finding, "text" | "values" | "figure"> {
	readonly value: number;
	readonly limit?: number;
}

export function threshold(row: Threshold & { read(facts: Facts): Reading | Finding }): Check {
	return { ...row, comesTo: row.above, judge: (facts) => compared(row, row.read(facts)) };
}

/** Compares a number; a finding passes through. */
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
/** No client wrote its counters. */
export const NOT_COUNTED: Finding = unknown("no client has counted");
