import type { Distribution } from "../histogram/distribution.ts";
import { tail } from "../histogram/percentiles.ts";
import type { Sla } from "../model/plan.ts";
import { say } from "../text/say.ts";
import type { Finding } from "./checks/check.ts";
import { boundOfMetric } from "./checks/clock.ts";
import { STEADY_MARGIN } from "./checks/limits.ts";
import { drift } from "./checks/steady.ts";
import { distributionOf, type Facts, sampleOf } from "./facts.ts";
import { type Judgement, leftOpen } from "./judgement.ts";
import { fails } from "./statistics.ts";

/**
 * A latency that two clocks have timed is known to their bound b alone. A gate on it passes when the upper end of its interval (without one
 * the largest of all samples) and b keep the limit L, and fails when the lower end less b is above L, or when those that took longer than
 * L + b spend the budget twice. Else it is INCONCLUSIVE.
 */
export function unlessClocksHide(
	j: Judgement,
	sla: Sla | undefined,
	facts: Facts,
): Judgement {
	if (sla === undefined || sla.kind === "tally") return j;
	const bound = boundOfMetric(facts, sla.metric);
	if (bound === 0 || j.n === null) return j;
	const stands =
		j.verdict === "pass"
			? highest(j, sla, facts) + bound <= sla.limitNs
			: j.verdict === "fail"
				? surelyOver(j, sla, bound, facts)
				: true;
	return stands ? j : leftOpen(j, say("clocks", { boundNs: bound }));
}

/**
 * A latency gate that passes does so for this duration only when the queue grew (`grew`), or p50 rose towards a limit that is near:
 * it is left open.
 */
export function unlessItRises(
	j: Judgement,
	grew: Finding | undefined,
	facts: Facts,
): Judgement {
	if (j.verdict !== "pass" || j.n === null) return j;
	if (grew) return leftOpen(j, say("queue-growing"));
	const found = drift(facts);
	const near = j.margin !== null && j.margin < STEADY_MARGIN;
	return found?.significant && found.change > 0 && near
		? leftOpen(j, say("p50-rose", { factor: STEADY_MARGIN }))
		: j;
}

// --- internal ---

type LatencySla = Exclude<Sla, { kind: "tally" }>;

function highest(j: Judgement, sla: LatencySla, facts: Facts): number {
	if (sla.kind === "percentile" && j.highNs !== null) return j.highNs;
	const { max } = sampleOf(facts, sla.metric);
	return (j.censored ?? 0) > 0 ? Number.POSITIVE_INFINITY : (max ?? 0);
}

function surelyOver(
	j: Judgement,
	sla: LatencySla,
	bound: number,
	facts: Facts,
): boolean {
	const censored = j.censored ?? 0;
	if (sla.kind === "max")
		return censored > 0 || (j.valueNs ?? 0) - bound > sla.limitNs;
	if (j.lowNs !== null && j.lowNs - bound > sla.limitNs) return true;
	const n = j.n ?? 0;
	const share = tail(sla.percentile);
	const over =
		censored +
		countOver(distributionOf(facts, sla.metric), sla.limitNs + bound);
	return fails(over, n, share) && over >= 2 * n * share;
}

/** Samples whose whole bucket lies above. */
function countOver({ count, low, upTo }: Distribution, ns: number): number {
	const first = low.findIndex((from) => from > ns);
	return first < 0 ? 0 : count - (upTo[first - 1] ?? 0);
}
