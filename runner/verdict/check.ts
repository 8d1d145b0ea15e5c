import type { Facts } from "./facts.ts";
import type { Judgement } from "./sla.ts";

/** Is the measurement itself to be trusted? `error`: mqbench contradicts itself, which is a bug of ours. */
export interface Check {
	readonly check: string;
	readonly status: "ok" | "warn" | "unknown" | "invalid" | "error";
	readonly detail: string;
	/** For people; null where one word says it. */
	readonly figure: string | null;
	readonly limit: string | null;
}

export type CheckFunction = (
	facts: Facts,
	judgements: readonly Judgement[],
) => Check;

export function result(
	check: string,
	status: Check["status"],
	detail: string,
	figure: string | null = null,
	limit: string | null = null,
): Check {
	return { check, status, detail, figure, limit };
}
