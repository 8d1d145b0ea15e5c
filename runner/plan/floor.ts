import { messagesBefore } from "./offset.ts";
import type { Plan } from "./plan.ts";

/** How long the floor is measured: enough for a p99 by second from 400/s on, short enough not to be in the way. */
const WARMUP_NS = 0.5e9;
const DURATION_NS = 3e9;

/**
 * The floors of a command: for each case one short run of the same load on `noop`, which completes every message at once.
 * What it shows is the generator alone; no system can be measured below it. Cases of noop itself need none.
 */
export function floors(plans: readonly Plan[]): Plan[] {
	const byCase = new Map<string, Plan>();
	for (const plan of plans)
		if (plan.broker !== "noop" && !byCase.has(plan.case))
			byCase.set(plan.case, plan);
	return [...byCase.values()].map((plan, i) => floor(plan, i + 1));
}

// --- internal ---

function floor(plan: Plan, index: number): Plan {
	const { rate } = plan.schedule;
	return {
		...plan,
		index,
		system: "noop",
		broker: "noop",
		durability: "none, nothing is stored",
		target: "local",
		repeat: 1,
		repeats: 1,
		driverOptions: {},
		schedule: {
			...plan.schedule,
			warmupNs: WARMUP_NS,
			durationNs: DURATION_NS,
			warmupMessages: messagesBefore(rate, WARMUP_NS),
			messages: messagesBefore(rate, WARMUP_NS + DURATION_NS),
		},
		drainNs: 1e9,
		timeoutNs: 1e9,
		inFlight: null,
		limits: [],
		sla: [],
		delivery: "at-most-once",
		order: "none",
		heartbeat: {
			...plan.heartbeat,
			durationNs: WARMUP_NS + DURATION_NS + 0.5e9,
			gracefulStopNs: 11e9,
		},
	};
}
