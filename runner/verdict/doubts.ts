import type { Distribution } from "../histogram/distribution.ts";
import { tail } from "../histogram/percentiles.ts";
import type { Sla } from "../model/plan.ts";
import { limitIndex } from "../plan/samples.ts";
import { say, sayBut } from "../text/say.ts";
import type { Finding } from "./checks/check.ts";
import { boundOfMetric } from "./checks/clock.ts";
import { floorOver } from "./checks/floor.ts";
import { STEADY_MARGIN } from "./checks/limits.ts";
import { machinesOf, nameOf } from "./checks/machine.ts";
import { drift, leavesOpen } from "./checks/steady.ts";
import { distributionOf, type Facts, sampleOf } from "./facts.ts";
import { limitIntervals, without } from "./intervals.ts";
import { because, type Judgement, leftOpen } from "./judgement.ts";
import { type Saturation, saturationOf } from "./saturation.ts";
import { fails, testOver } from "./statistics.ts";

/**
 * A latency that two clocks have timed is known to their bound b alone. A gate on it passes when the upper end of its interval (without one
 * the largest of all samples) and b keep the limit L, and fails when the lower end less b is above L, or when those that took longer than
 * L + b spend the budget twice. Else it is INCONCLUSIVE.
 */
export function unlessClocksHide(j: Judgement, sla: Sla | undefined, facts: Facts): Judgement {
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
export function unlessItRises(j: Judgement, grew: Finding | undefined, facts: Facts): Judgement {
	if (j.verdict !== "pass" || j.n === null) return j;
	if (grew) return leftOpen(j, say("queue-growing"));
	const rise = drift(facts);
	return rise !== null && leavesOpen(j, rise)
		? leftOpen(j, say("p50-rose", { factor: STEADY_MARGIN }))
		: j;
}

/**
 * A line that FAILs while no core was free says as much about the machine: its `cause`; under `strict` it is INVALID. Of a latency so when
 * it would not FAIL without the messages that were due meanwhile, of a rate when that time explains what is missing. Where nobody knows when
 * messages were due, it has to be most of the window.
 */
export function unlessSaturated(j: Judgement, sla: Sla | undefined, facts: Facts): Judgement {
	const { state } = facts.collected;
	// What a stopped run has not measured nobody decided.
	if (state !== "complete" && state !== "aborted") return j;
	if (j.verdict !== "fail" || sla === undefined) return j;
	const by = machinesOf(facts)
		.map((machine) => saturationOf(machine, facts))
		.find((saturation) => saturation !== null && explains(saturation, j, sla, facts));
	if (!by) return j;
	const { why: text, code, values } = j;
	const { idle: idleShare, wait: waitShare, share } = by;
	const where = nameOf(by.machine);
	const but = say("machine-saturated", { idleShare, waitShare, share, where });
	return {
		...j,
		cause: "machine",
		...because(sayBut({ text, code, values }, but)),
		verdict: facts.collected.plan.strict ? "invalid" : "fail",
	};
}

/**
 * A FAIL of a response that the generator alone, without any system, does not keep either, says nothing of the system. Messages that never
 * completed are the system's all the same: a FAIL by these alone stands.
 */
export function unlessFloorFails(j: Judgement, sla: Sla | undefined, facts: Facts): Judgement {
	if (j.verdict !== "fail" || sla === undefined || sla.kind === "tally") return j;
	const floorNs = floorOver(sla, facts);
	return floorNs === null || failsByMissing(sla, facts)
		? j
		: leftOpen(j, say("floor-over-limit", { floorNs }));
}

// --- internal ---

/** Would it FAIL if all that completed had been in time? */
function failsByMissing(sla: LatencySla, { collected: { plan, seconds, state } }: Facts): boolean {
	// Of a run that was stopped what is under way may still come.
	if (state === "aborted") return false;
	const missing = limitIntervals(plan, seconds, limitIndex(plan, sla)).map(({ n, censored }) => ({
		n,
		over: censored,
	}));
	return sla.kind === "max"
		? missing.some(({ over }) => over > 0)
		: testOver(missing, sla.percentile).verdict === "fail";
}

/** Of a rate: what was reached is no less than what the rest of the window allows for. */
function explains(
	{ intervals, share }: Saturation,
	j: Judgement,
	sla: Sla,
	{ collected: { plan, seconds, state } }: Facts,
): boolean {
	if (sla.kind === "tally")
		return j.tally?.unit === "messages/s" && (j.tally.value ?? 0) >= j.tally.limit * (1 - share);
	if (state !== "complete" || plan.schedule.kind === "closed") return share > 0.5;
	const rest = without(limitIntervals(plan, seconds, limitIndex(plan, sla)), intervals);
	return sla.kind === "max"
		? rest.every(({ over }) => over === 0)
		: testOver(rest, sla.percentile).verdict !== "fail";
}

type LatencySla = Exclude<Sla, { kind: "tally" }>;

function highest(j: Judgement, sla: LatencySla, facts: Facts): number {
	if (sla.kind === "percentile" && j.highNs !== null) return j.highNs;
	const { max } = sampleOf(facts, sla.metric);
	return (j.censored ?? 0) > 0 ? Number.POSITIVE_INFINITY : (max ?? 0);
}

function surelyOver(j: Judgement, sla: LatencySla, bound: number, facts: Facts): boolean {
	const censored = j.censored ?? 0;
	if (sla.kind === "max") return censored > 0 || (j.valueNs ?? 0) - bound > sla.limitNs;
	if (j.lowNs !== null && j.lowNs - bound > sla.limitNs) return true;
	const n = j.n ?? 0;
	const share = tail(sla.percentile);
	const over = censored + countOver(distributionOf(facts, sla.metric), sla.limitNs + bound);
	return fails(over, n, share) && over >= 2 * n * share;
}

/** Samples whose whole bucket lies above. */
function countOver({ count, low, upTo }: Distribution, ns: number): number {
	const first = low.findIndex((from) => from > ns);
	return first < 0 ? 0 : count - (upTo[first - 1] ?? 0);
}
