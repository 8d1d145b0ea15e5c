import type { Collected } from "../../evidence/collect.ts";
import type { Run } from "../../model/result.ts";
import type { Values } from "../../text/say.ts";
import type { Facts } from "../facts.ts";
import type { Judgement } from "../judgement.ts";

/** What a check has come to, as result.json has it. */
export type CheckResult = Run["validity"][number];

/** A question to a run: is the measurement itself to be trusted? `CHECKS` has them all. */
export interface Check {
	/** Its code in result.json. */
	readonly name: string;
	/** A check that could find nothing in such a run is left out: that it found nothing would be no evidence. Absent: every run. */
	applies?(collected: Collected): boolean;
	judge(facts: Facts, judgements: readonly Judgement[]): Finding;
}

/**
 * `fail`: the system does not carry the rate, whatever its percentiles. `inconclusive`: the run cannot pass, as nobody has judged what happened
 * in it. `error`: mqbench contradicts itself, which is a bug of ours. What cannot be read is `unknown`, never `ok`.
 */
export interface Finding {
	readonly status: CheckResult["status"];
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

export function unknown(text: string, remedy = AGAIN): Finding {
	return { status: "unknown", text, remedy };
}

/** How one number is held against its limit. */
interface Limited {
	readonly limit: number;
	/** The status above the limit. */
	readonly above: Finding["status"];
	readonly show: (value: number) => string;
	readonly text: string;
	readonly values: Values;
	readonly remedy: string;
}

export function compared(value: number, { limit, above, show, ...rest }: Limited): Finding {
	const status = value > limit ? above : "ok";
	return { status, figure: show(value), limit: show(limit), ...rest };
}

export const AGAIN = "make the run again";

/** No client came so far as to write its counters. */
export const NOT_COUNTED: Finding = unknown("no client has counted");
