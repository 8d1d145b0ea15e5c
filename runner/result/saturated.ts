import type { Run } from "../model/result.ts";

/**
 * The checks that found machine or load generator at its end: the figures of such a run are theirs as much as the system's, so no order of
 * systems follows from them.
 */
export function saturatedBy({ validity }: Run): string[] {
	return validity
		.filter(
			({ check, status, code }) =>
				// A closed load that carries half of what it carries without any system.
				code === "ceiling-near" || AT_ITS_END[status]?.includes(check),
		)
		.map(({ check }) => check);
}

// --- internal ---

/** By status: the checks that say so. Lag and messages that wait in the client library do only where they decided something. */
const AT_ITS_END: Readonly<Record<string, readonly string[]>> = {
	warn: ["cores", "cpuQuota", "ownCpu"],
	invalid: ["cores", "lag", "offered", "held"],
};
