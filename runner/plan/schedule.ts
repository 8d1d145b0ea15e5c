import type { Schedule, Times } from "../model/plan.ts";
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
