import type { Schedule, Times } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import { messagesBefore } from "./offset.ts";

/** Adds the messages that are due before and in the window. */
export function counted(times: Times): Schedule {
	return times.kind === "closed"
		? times
		: {
				...times,
				warmupMessages: messagesBefore(times, times.warmupNs),
				messages: messagesBefore(times, times.warmupNs + times.durationNs),
			};
}

/** The plan once a warm-up until steady has ended (ns since T0); null: at the latest. */
export function openedAt(plan: Plan, startNs: number | null): Plan {
	const { schedule } = plan;
	if (schedule.steady === null || startNs === null) return plan;
	return { ...plan, schedule: counted({ ...schedule, warmupNs: startNs }) };
}
