import { brokerOf, noBroker, SystemOptions } from "../brokers/index.ts";
import { distinct } from "../grouped.ts";
import { CATCH_UP, type Times } from "../model/load.ts";
import { acrossClients, type Plan } from "../model/plan.ts";
import { derivePlan } from "./derive.ts";
import { HEARTBEAT_MARGIN_NS, START_LEAD_NS } from "./expand.ts";

/** Long enough for a p99 by second from 400/s on, short enough not to be in the way. */
const WARMUP_NS = 0.5e9;
const DURATION_NS = 3e9;
const MARGIN_NS = 0.5e9;

/** One short run per case on `noop`, which completes every message at once. No system can be measured below it. */
export function floors(
	plans: readonly Plan[],
	/** One process, which begins by itself; otherwise T0 is sent to it. */
	{ alone = true }: { readonly alone?: boolean } = {},
): Plan[] {
	const measured = plans.filter(
		({ broker, pattern }) => broker !== noBroker && pattern !== CATCH_UP,
	);
	return distinct(measured, (plan) => plan.case).map((plan, i) =>
		floor(plan, i + 1, alone ? MARGIN_NS : HEARTBEAT_MARGIN_NS),
	);
}

// --- internal ---

const floorTraits = brokerOf({ broker: noBroker }).traits(
	SystemOptions.parse({ broker: noBroker }),
);
/** A closed load takes about as long for this number of messages. */
const CLOSED_MESSAGES = 100_000;
const NO_CONSUMERS = {
	consumers: 0,
	subscriptions: 1,
	consumerConnections: 0,
	replyTopics: [],
	bystanders: 0,
	hold: 0,
};

/** The load at its highest rate; a closed one with fewer messages. */
function timesOf({ schedule: whole }: Plan): Times {
	const shape = { ...whole, warmupNs: WARMUP_NS, durationNs: DURATION_NS, steady: null };
	if (whole.kind === "closed") {
		const warmupMessages = Math.min(whole.warmupMessages, CLOSED_MESSAGES / 10);
		const measured = Math.min(whole.messages - whole.warmupMessages, CLOSED_MESSAGES);
		return {
			...whole,
			durationNs: WARMUP_NS + DURATION_NS,
			warmupMessages,
			messages: warmupMessages + measured,
		};
	}
	return { ...shape, kind: whole.kind === "poisson" ? "poisson" : "constant", pieces: [] };
}

function floor(plan: Plan, index: number, marginNs: number): Plan {
	// `noop` completes messages within a process: none crosses to another client.
	const pattern =
		floorTraits.cannot[plan.pattern] || acrossClients(plan) ? "round-trip" : plan.pattern;
	const own = Array.from({ length: plan.connections }, (_, c) => `${plan.topics[0]}-${c}`);
	// Each of several clients receives its own messages, so each connection has its own topic.
	const topics = plan.client.count === 1 ? plan.topics : own;
	return derivePlan(plan, {
		index,
		times: timesOf(plan),
		system: noBroker,
		broker: noBroker,
		server: false,
		durability: floorTraits.ownDurability,
		durabilityLevel: null,
		replicas: null,
		acks: floorTraits.acks,
		target: "local",
		pattern,
		repeat: 1,
		repeats: 1,
		driverOptions: {},
		search: null,
		loads: 1,
		beside: null,
		ledger: false,
		phases: [],
		backlog: null,
		faults: [],
		...(pattern === plan.pattern ? {} : { ...NO_CONSUMERS, topics }),
		wildcard: plan.wildcard && floorTraits.wildcards,
		work: null,
		groupsByPartition: false,
		drainNs: 1e9,
		timeoutNs: 1e9,
		inFlight: plan.schedule.kind === "closed" ? plan.inFlight : null,
		limits: [],
		sla: [],
		delivery: "at-most-once",
		order: "none",
		heartbeat: {
			...plan.heartbeat,
			durationNs: WARMUP_NS + DURATION_NS + marginNs + (plan.client.count > 1 ? START_LEAD_NS : 0),
			gracefulStopNs: 11e9,
		},
	});
}
