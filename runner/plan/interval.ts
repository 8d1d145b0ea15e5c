import type { Plan } from "../model/plan.ts";

/**
 * Seconds of a window that are recorded as one: one up to 4 h, then 10, from 40 h on 60. So a run has at most 14 400 of them, and a report takes
 * no more memory and time than that of 4 h. Steps consist of whole ones.
 *
 * What a fault does is measured in moments, and so is how a backlog is worked off; of a closed load nobody knows how long it takes. These stay
 * by the second. undefined: one.
 */
export function intervalSeconds({
	schedule,
	phases,
	faults,
	backlog,
}: Pick<Plan, "schedule" | "phases" | "faults" | "backlog">): number | undefined {
	if (schedule.kind === "closed" || faults.length > 0 || backlog !== null) return undefined;
	const longest = LENGTHS.find((n) => schedule.durationNs <= MOST * n * 1e9) ?? 60;
	return LENGTHS.findLast(
		(n) => n > 1 && n <= longest && phases.every(({ toNs }) => toNs % (n * 1e9) === 0),
	);
}

// --- internal ---

const LENGTHS = [1, 10, 60];
const MOST = 14_400;
