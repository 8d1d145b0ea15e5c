import type { Plan } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";

/** What starting and stopping a broker takes, and waiting for the last messages. */
const AROUND_NS = 5e9;

/** ns that the runs take that are still to be made after this one; null: nobody knows, as with a search or a closed load. */
export function timeAfter(current: Plan | null, ahead: readonly Plan[]): number | null {
	const isOpen = ({ search, schedule }: Plan) => search !== null || schedule.kind === "closed";
	if (current?.search || ahead.some(isOpen)) return null;
	return sum(ahead.map(({ schedule }) => schedule.warmupNs + schedule.durationNs + AROUND_NS));
}
