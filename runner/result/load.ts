import { inOrder, type Plan } from "../model/plan.ts";
import { Run } from "../model/result.ts";

export function loadOf(plan: Plan): Run["load"] {
	const { schedule, message, topics, client } = plan;
	return inOrder<Run["load"]>(Run.shape.load, {
		...plan,
		rate: schedule.rate,
		warmupNs: schedule.warmupNs,
		durationNs: schedule.durationNs,
		messageBytes: message.bytes,
		limitBytes: message.limitBytes,
		payload: message.payload,
		randomRatio: message.randomRatio,
		checksum: message.checksum,
		topics: topics.length,
		clients: client.count,
	});
}
