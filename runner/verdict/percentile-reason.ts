import type { Plan, Sla } from "../model/plan.ts";
import { samplesForBound } from "../stats/support.ts";
import { type Said, say } from "../text/say.ts";
import { intervalNs } from "./intervals.ts";
import type { OverTest } from "./statistics.ts";
import { windowFor } from "./window-length.ts";

type PercentileSla = Extract<Sla, { kind: "percentile" }>;

/** Why a percentile gate came out as it did. */
export function percentileReason(sla: PercentileSla, plan: Plan, test: OverTest, late: Late): Said {
	switch (test.reason) {
		case "samples":
			return test.n === 0
				? say("no-messages")
				: say("few-samples", { ...late, ...needed(sla, plan) });
		case "events":
			return say("late-messages-few-stalls", late);
		case "budget":
			return say("late-messages-twice", late);
		case "test":
			if (test.verdict !== "inconclusive") return say("late-messages", late);
			return test.phi > 2
				? say("late-messages-clustered", late)
				: say("late-messages-near-limit", late);
	}
}

/** The numbers of a test on messages over a limit. */
export function lateOf(test: OverTest, limitNs: number, censored: number, plan: Plan) {
	const { n, over, allowed, longestEvent } = test;
	// In a closed loop nobody knows when a message that never completed was sent.
	const known = plan.schedule.kind !== "closed" || censored === 0;
	return {
		n,
		over,
		allowed,
		censored,
		limitNs,
		events: known ? test.events : 0,
		longestNs: longestEvent * intervalNs(plan),
		throughout: known && over > 0 && test.throughout,
	};
}

// --- internal ---

type Late = ReturnType<typeof lateOf>;

/** The samples that carry the percentile, and the window that has them. */
function needed(sla: PercentileSla, plan: Plan) {
	const { percentile, metric } = sla;
	const n = samplesForBound(percentile);
	return { percentile, needed: n, window: windowFor(n, plan, metric) };
}
