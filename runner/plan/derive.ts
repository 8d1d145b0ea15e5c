import type { Times } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import { intervalSeconds } from "./interval.ts";
import { counted } from "./schedule.ts";

/** Another run of a plan, with its own index and topics. New `times` recount its messages. */
export function derivePlan(
	plan: Plan,
	{ index, times, ...changes }: Partial<Plan> & { readonly index: number; readonly times?: Times },
): Plan {
	const renamed = (topic: string) =>
		topic.replace(new RegExp(`\\.${plan.index}(\\.\\d+(\\.reply)?)$`), `.${index}$1`);
	const schedule = times === undefined ? plan.schedule : counted(times);
	const added = endNs(schedule) - endNs(plan.schedule);
	return {
		...plan,
		index,
		runNumber: (plan.runNumber + index * 0x9e3779b1) >>> 0,
		topics: plan.topics.map(renamed),
		replyTopics: plan.replyTopics.map(renamed),
		schedule,
		intervalSeconds: intervalSeconds({ ...plan, schedule }),
		heartbeat: {
			...plan.heartbeat,
			durationNs: plan.heartbeat.durationNs + Math.ceil(added / 1e6) * 1e6,
		},
		...changes,
	};
}

// --- internal ---

function endNs({ warmupNs, durationNs }: Times): number {
	return warmupNs + durationNs;
}
