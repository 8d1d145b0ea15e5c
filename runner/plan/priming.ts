import type { Plan } from "../model/plan.ts";
import type { System } from "../scenario/scenario.ts";
import { HEARTBEAT_MARGIN_NS, START_LEAD_NS } from "./expand.ts";

/**
 * What a fresh JVM is given before a run whose warm-up lasts until latency is steady: the run's own messages in a closed loop, on topics of
 * their own, of which nothing is kept. null: the run needs none, as its broker has no JVM, or is somebody else's.
 *
 * A JVM compiles what it has called some thousand times, in steps: at 50/s p50 of a Kafka was level from 20 s to 100 s at 1.3 ms, and
 * then fell to 1.05 ms. A look at some seconds takes such a landing for the end of the stairs.
 */
export function priming(plan: Plan, { traits }: System): Plan | null {
	const { schedule, client, message, heartbeat } = plan;
	const isFresh = traits.jvm === true && plan.target !== "existing" && plan.create;
	if (!isFresh || schedule.steady === null) return null;
	const most = Math.floor(MOST_BYTES / message.bytes);
	return {
		...plan,
		schedule: {
			kind: "closed",
			rate: null,
			seed: 0,
			pieces: [],
			warmupNs: 0,
			steady: null,
			warmupMessages: 0,
			durationNs: LONGEST_NS,
			messages: Math.max(plan.producers, Math.min(MESSAGES, most)),
		},
		inFlight: IN_FLIGHT,
		topics: plan.topics.map(apart),
		replyTopics: plan.replyTopics.map(apart),
		intervalSeconds: undefined,
		phases: [],
		faults: [],
		limits: [],
		sla: [],
		baselineSla: [],
		work: null,
		drainNs: DRAIN_NS,
		heartbeat: {
			...heartbeat,
			durationNs: LONGEST_NS + HEARTBEAT_MARGIN_NS + (client.count > 1 ? START_LEAD_NS : 0),
			gracefulStopNs: DRAIN_NS + 10e9,
		},
	};
}

// --- internal ---

/** HotSpot's second compiler takes a method after 5000 to 15 000 calls (Tier4InvocationThreshold, Tier4CompileThreshold). */
const MESSAGES = 20_000;
/** One at a time for each producer: each message is a request of its own, as at a low rate. */
const IN_FLIGHT = 1;
const LONGEST_NS = 30e9;
const DRAIN_NS = 5e9;
/** What large messages may leave on its disk. */
const MOST_BYTES = 1 << 30;

function apart(topic: string): string {
	return `${topic}w`;
}
