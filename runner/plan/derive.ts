import type { Schedule, Times } from "../model/load.ts";
import { acrossClients, type Plan, senderOf } from "../model/plan.ts";
import { messagesBefore } from "./offset.ts";

/** Another run of a plan, with its own index and topics. New `times` recount its messages. */
export function derivePlan(
	plan: Plan,
	{ index, times, ...changes }: Partial<Plan> & { readonly index: number; readonly times?: Times },
): Plan {
	const [before, now] = [senderOf(plan), senderOf({ ...plan, ...changes, index })];
	const renamed = (topic: string) =>
		topic.replace(new RegExp(`\\.${before}(\\.\\d+(\\.reply)?)$`), `.${now}$1`);
	const schedule = times === undefined ? plan.schedule : counted(times);
	const endNs = ({ warmupNs, durationNs }: Times) => warmupNs + durationNs;
	const added = endNs(schedule) - endNs(plan.schedule);
	return {
		...plan,
		index,
		runNumber: (plan.runNumber + now * 0x9e3779b1) >>> 0,
		topics: plan.topics.map(renamed),
		replyTopics: plan.replyTopics.map(renamed),
		schedule,
		intervalSeconds: intervalSeconds({ ...plan, schedule }),
		segments: segmentsOf({ ...plan, ...changes, schedule }),
		heartbeat: {
			...plan.heartbeat,
			durationNs: plan.heartbeat.durationNs + Math.ceil(added / 1e6) * 1e6,
		},
		...changes,
	};
}

/** Seconds recorded as one: 1 up to 4 h, then 10, from 40 h on 60, which limits a report's size. Faults and backlogs need every second. */
export function intervalSeconds(
	plan: Pick<Plan, "schedule" | "phases" | "faults" | "backlog">,
): number | undefined {
	const { schedule, phases, faults, backlog } = plan;
	if (schedule.kind === "closed" || faults.length > 0 || backlog !== null) return undefined;
	const longest = LENGTHS.find((n) => schedule.durationNs <= MOST * n * 1e9) ?? 60;
	return LENGTHS.findLast(
		(n) => n > 1 && n <= longest && phases.every(({ toNs }) => toNs % (n * 1e9) === 0),
	);
}

/** Only in runs that take an hour or more. Faults, a backlog, a search and several loads need their whole run; ledgers exist only at its end. */
export function segmentsOf(
	plan: Parameters<typeof intervalSeconds>[0] &
		Pick<Plan, "search" | "client" | "pattern" | "loads">,
): Plan["segments"] {
	const { schedule, faults, backlog, search, loads, pattern } = plan;
	const { kind, steady, durationNs } = schedule;
	const whole =
		faults.length > 0 || backlog !== null || search !== null || loads > 1 || acrossClients(plan);
	if (whole || pattern === "connect" || kind === "closed" || steady !== null) return undefined;
	if (durationNs < 3600e9) return undefined;
	return { checkpointNs: Math.max(60, 5 * (intervalSeconds(plan) ?? 1)) * 1e9, resumeNs: 0 };
}

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

/** The plan once a warm-up until steady has ended (ns since T0), at the latest possible time if null. */
export function openedAt(plan: Plan, startNs: number | null): Plan {
	const { schedule } = plan;
	if (schedule.steady === null || startNs === null) return plan;
	return { ...plan, schedule: counted({ ...schedule, warmupNs: startNs }) };
}

// --- internal ---

const LENGTHS = [1, 10, 60];
const MOST = 14_400;
