import type { Plan } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { plainOf } from "../model/workload.ts";

/** What a run has to do, as reports have it. */
export function loadOf(plan: Plan): Run["load"] {
	const { schedule } = plan;
	return {
		broker: plan.broker,
		durability: plan.durability,
		target: plan.target,
		pattern: plan.pattern,
		rate: schedule.rate,
		schedule,
		phases: plan.phases,
		backlog: plan.backlog,
		durabilityLevel: plan.durabilityLevel,
		replicas: plan.replicas,
		acks: plan.acks,
		...plainOf(plan),
		keys: plan.keys,
		pin: plan.pin,
		faults: plan.faults,
		randomRatio: plan.message.randomRatio,
		warmupNs: schedule.warmupNs,
		durationNs: schedule.durationNs,
		drainNs: plan.drainNs,
		timeoutNs: plan.timeoutNs,
		messageBytes: plan.message.bytes,
		payload: plan.message.payload,
		connections: plan.connections,
		producers: plan.producers,
		topics: plan.topics.length,
		clients: plan.client.count,
		inFlight: plan.inFlight,
		checksum: plan.message.checksum,
		delivery: plan.delivery,
		order: plan.order,
	};
}
