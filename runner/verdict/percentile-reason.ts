import type { Plan, Sla } from "../model/plan.ts";
import { samplesForBound } from "../stats/support.ts";
import { type Said, say } from "../text/say.ts";
import { INTERVAL_NS } from "./intervals.ts";
import type { OverTest } from "./statistics.ts";
import { windowFor } from "./window-length.ts";

type PercentileSla = Extract<Sla, { kind: "percentile" }>;

/** Why a percentile gate came out as it did. */
export function percentileReason(
	sla: PercentileSla,
	plan: Plan,
	test: OverTest,
	censored: number,
): Said {
	const late = lateOf(test, sla.limitNs, censored);
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
				? say("late-messages-few-stalls", late)
				: say("late-messages-near-limit", late);
	}
}

/** The numbers of a test on messages over a limit. */
export function lateOf(test: OverTest, limitNs: number, censored: number) {
	const { n, over, allowed, events, longestEvent } = test;
	const longestNs = longestEvent * INTERVAL_NS;
	return { n, over, allowed, censored, limitNs, events, longestNs };
}

// --- internal ---

/** The samples that carry the percentile, and the window that has them. */
function needed(sla: PercentileSla, plan: Plan) {
	const { percentile, metric } = sla;
	const n = samplesForBound(percentile);
	return { percentile, needed: n, window: windowFor(n, plan, metric) };
}
