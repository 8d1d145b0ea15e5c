import type { Run } from "../model/result.ts";

type Check = Run["validity"][number];

/**
 * The checks that found machine or load generator at its end: the figures of such a run are theirs as much as the system's, so no order of
 * systems follows from them.
 */
export function saturatedBy({ validity }: Run): string[] {
	return validity.filter(isAtItsEnd).map(({ check }) => check);
}

// --- internal ---

/** By check: the statuses that say so. Lag and messages that wait in the client library do only where they decided something. */
const AT_ITS_END: Readonly<Record<string, readonly Check["status"][]>> = {
	cores: ["warn", "invalid"],
	cpuQuota: ["warn"],
	ownCpu: ["warn"],
	lag: ["invalid"],
	offered: ["invalid"],
	held: ["invalid"],
};

function isAtItsEnd({ check, status, code }: Check): boolean {
	return (
		// A closed load that carries half of what it carries without any system.
		code === "ceiling-near" || (AT_ITS_END[check]?.includes(status) ?? false)
	);
}
