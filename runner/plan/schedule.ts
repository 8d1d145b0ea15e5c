import type { Schedule, Times } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import { messagesBefore } from "./offset.ts";

/** A schedule with the messages that are due before and in its window. */
export function counted(times: Times): Schedule {
	return times.kind === "closed"
		? times
		: {
				...times,
				warmupMessages: messagesBefore(times, times.warmupNs),
				messages: messagesBefore(times, times.warmupNs + times.durationNs),
			};
}

/** The plan of a warm-up until steady, once it is known when its window has opened (ns since T0); null: at the latest. */
export function openedAt(plan: Plan, startNs: number | null): Plan {
	const { schedule } = plan;
	if (schedule.steady === null || startNs === null) return plan;
	return { ...plan, schedule: counted({ ...schedule, warmupNs: startNs }) };
}
