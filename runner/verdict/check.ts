import type { Facts } from "./facts.ts";
import type { Judgement } from "./sla.ts";

/**
 * Is the measurement itself to be trusted? `fail`: the system does not carry the rate, whatever its percentiles. `inconclusive`: the run cannot
 * pass, as nobody has judged what happened in it. `error`: mqbench contradicts itself, which is a bug of ours. What cannot be read is `unknown`, never `ok`.
 */
export interface Check {
	readonly check: string;
	readonly status:
		| "ok"
		| "warn"
		| "unknown"
		| "inconclusive"
		| "invalid"
		| "fail"
		| "error";
	/** One sentence for people. */
	readonly detail: string;
	/** For people; null where one word says it. */
	readonly figure: string | null;
	readonly limit: string | null;
	/** What to do about it; null when there is nothing to be done. */
	readonly remedy: string | null;
}

export type CheckFunction = (
	facts: Facts,
	judgements: readonly Judgement[],
) => Check;

export function result(
	check: string,
	status: Check["status"],
	detail: string,
	more: Partial<Pick<Check, "figure" | "limit" | "remedy">> = {},
): Check {
	const { figure = null, limit = null, remedy = null } = more;
	// A remedy that was not needed would only unsettle.
	return {
		check,
		status,
		detail,
		figure,
		limit,
		remedy: status === "ok" ? null : remedy,
	};
}
