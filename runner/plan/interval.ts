import type { Plan } from "../model/plan.ts";

/** Seconds recorded as one: 1 up to 4 h, then 10, from 40 h on 60, which limits a report's size. Faults and backlogs need every second. */
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
