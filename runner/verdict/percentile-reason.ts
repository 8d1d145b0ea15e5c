import { samplesForSupport } from "../histogram/percentiles.ts";
import type { Plan, Sla } from "../model/plan.ts";
import { formatCount, formatDuration, formatDurationExact } from "../units.ts";
import { INTERVAL_NS } from "./intervals.ts";
import { type OverTest, samplesForPass } from "./statistics.ts";
import { windowFor } from "./window-length.ts";

type PercentileSla = Extract<Sla, { kind: "percentile" }>;

/** One sentence on why a percentile gate came out as it did. */
export function percentileReason(
	sla: PercentileSla,
	plan: Plan,
	test: OverTest,
	censored: number,
): string {
	const said = counted(test, sla.limitNs, censored);
	switch (test.reason) {
		case "samples":
			return test.n === 0
				? "no message was intended in the window"
				: `p${sla.percentile} ${requiredSamples(sla, plan)}; have ${formatCount(test.n)} (${said})`;
		case "events":
			return `${said}: too few stalls to tell how typical they are`;
		case "budget":
			return `${said}: at least twice the budget`;
		case "test":
			return test.verdict === "inconclusive"
				? `${said}: ${test.phi > 2 ? "too few stalls to tell how typical they are" : "too close to the limit to tell"}`
				: said;
	}
}

/** "490 of 10 000 over 10ms, budget 100, in 1 event of 500ms" */
export function counted(
	test: OverTest,
	limitNs: number,
	censored: number,
): string {
	const longest = formatDuration(test.longestEvent * INTERVAL_NS);
	return [
		`${formatCount(test.over)} of ${formatCount(test.n)} over ${formatDurationExact(limitNs)}`,
		censored > 0 ? ` (${formatCount(censored)} never completed)` : "",
		`, budget ${formatCount(test.allowed)}`,
		test.events === 1 ? `, in 1 event of ${longest}` : "",
		test.events > 1
			? `, in ${formatCount(test.events)} events, the longest ${longest}`
			: "",
	].join("");
}

// --- internal ---

/** "needs N >= 100 000, i.e. 34s at this rate": the samples that carry the percentile well. */
function requiredSamples(sla: PercentileSla, plan: Plan): string {
	const p = sla.percentile;
	const n = Math.max(samplesForSupport(p), samplesForPass(p));
	return `needs N >= ${formatCount(n)}, i.e. ${windowFor(n, plan, sla.metric)}`;
}
