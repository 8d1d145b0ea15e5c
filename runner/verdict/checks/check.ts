import type { Collected } from "../../evidence/collect.ts";
import type { Run } from "../../model/result.ts";
import { type Said, say } from "../../text/say.ts";
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
	readonly said: Said;
	/** For people; absent where one word says it. */
	readonly figure?: string | null;
	readonly limit?: string | null;
	/** What to do about it; dropped where the finding is ok. */
	readonly remedy?: Said;
}

export function unknown(said: Said, remedy: Said): Finding {
	return { status: "unknown", said, remedy };
}

/** No client came so far as to write its counters. */
export const NOT_COUNTED: Finding = unknown(say("not-counted"), say("again"));
