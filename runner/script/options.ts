import type { Plan } from "../model/plan.ts";

/** The heartbeat that hands out slots, the same for every load; plan.json has the load's shape. */
export function options({ heartbeat }: Plan) {
	return {
		scenarios: {
			heartbeat: {
				executor: "constant-arrival-rate",
				rate: heartbeat.slotsPerSecond,
				timeUnit: "1s",
				duration: k6Duration(heartbeat.durationNs),
				preAllocatedVUs: heartbeat.vus,
				maxVUs: heartbeat.vus,
				gracefulStop: k6Duration(heartbeat.gracefulStopNs),
			},
		},
	};
}

// --- internal ---

/** k6 reads whole seconds best; it has no "min". */
function k6Duration(ns: number): string {
	return ns % 1e9 === 0 ? `${ns / 1e9}s` : `${Math.ceil(ns / 1e6)}ms`;
}
