import type { LatencySla, Plan, Sla } from "../model/plan.ts";
import { TALLIES } from "../model/tallies.ts";
import { limitIndex, samplesPerMessage, whyMissing } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import { samplesForBound } from "../stats/support.ts";
import { type Said, said } from "../text/say.ts";
import { formatCount as count, formatDuration as duration, formatDurationExact } from "../units.ts";
import { whyHopeless } from "./abort.ts";
import { BEFORE_CHECKS, excused, type Line } from "./excuses.ts";
import { type Facts, hasMetric, sampleOf, samplesDue, stoppedAfterNs } from "./facts.ts";
import { intervalNs, type LimitInterval, limitIntervals, offeredIntervals } from "./intervals.ts";
import { because, type Judgement, NO_NUMBERS, notMeasured, unmeasured } from "./judgement.ts";
import { percentileOf } from "./quantile.ts";
import { windowFor } from "./rates.ts";
import { type Interval, type OverTest, testOver } from "./statistics.ts";
import { judgeTally } from "./tally.ts";

/** What one SLA line comes to by what a run measured, before anything excuses it. Of a run that was stopped, by what was offered until then. */
export function lineOf(sla: Sla, facts: Facts): Line {
	const line =
		sla.kind === "tally"
			? { ...UNCOUNTED, judgement: judgeTally(sla, facts) }
			: latencyLine(sla, facts);
	const all = { ...line, sla, facts, stopped: false };
	const { state, run } = facts.collected;
	const { judgement } = line;
	return state === "aborted" && sla.text === run?.abortedBy && judgement.verdict !== "error"
		? { ...all, ...stoppedBy(sla, facts, judgement) }
		: all;
}

/** The line with what excuses it. Another line than the one that stopped the run is FAIL only if what was offered fails it already, else nobody knows. */
export function judged(line: Line): Judgement {
	const judgement = excused(line, BEFORE_CHECKS);
	const { sla, facts, stopped } = line;
	if (facts.collected.state !== "aborted" || stopped || judgement.verdict === "error")
		return judgement;
	const failed = judgement.verdict === "fail" || judgement.cause !== null;
	if (failed && (sla.kind !== "tally" || TALLIES[sla.tally].grows)) return judgement;
	const afterNs = stoppedAfterNs(facts);
	const by = facts.collected.run?.abortedBy ?? "";
	const why = `stopped after ${duration(afterNs)}, as ${by} could not pass any more`;
	return {
		...judgement,
		...because(said("aborted-open", why, { afterNs, by })),
		verdict: "inconclusive",
		excuse: null,
		cause: null,
	};
}

// --- internal ---

type Judged = Pick<Line, "judgement" | "intervals" | "test" | "late">;

/** Of rates, counts and what was not measured: no messages are counted against a limit. */
const UNCOUNTED = { intervals: [], test: () => "pass" as const, late: null };

function latencyLine(sla: LatencySla, facts: Facts): Judged {
	const { plan, state } = facts.collected;
	const base = { ...NO_NUMBERS, sla: sla.text, limit: formatDurationExact(sla.limitNs) };
	const why = whyUnmeasured(sla, facts);
	if (why !== null) return { ...UNCOUNTED, judgement: unmeasured(base, why) };
	const intervals = intervalsOf(sla, facts);
	const tested = testOf(sla, intervals);
	const censored = sum(intervals.map((i) => i.censored));
	const { n, over, allowed, phi } = tested;
	const value = measuredValue(sla, facts, censored);
	const never = value.beyondTimeout || (n > 0 && censored === n);
	const beyondNs = never && state === "complete" ? plan.timeoutNs : null;
	const beyond = beyondNs === null ? "stopped" : `> ${formatDurationExact(beyondNs)}`;
	const approximate = value.support === "weak" ? "~" : "";
	const isMax = sla.kind === "max";
	return {
		intervals,
		test: (some) => testOf(sla, some).verdict,
		// Of messages that never came nobody has to ask why they were late.
		late: censored <= 0 || (!isMax && censored < n) ? sla : null,
		judgement: {
			...base,
			verdict: plan.strict && tested.reason === "samples" && !isMax ? "error" : tested.verdict,
			valueNs: value.value,
			lowNs: value.low,
			highNs: value.high,
			beyondNs,
			margin: value.value ? sla.limitNs / value.value : null,
			n,
			over,
			allowed,
			censored,
			events: isMax ? null : tested.events,
			phi: isMax ? null : phi,
			measured: never
				? beyond
				: value.value === null || (isMax && n === 0)
					? countedOnly(tested, sla, facts)
					: `${approximate}${duration(value.value)}`,
			...because(lateSaid(sla, plan, tested, censored)),
		},
	};
}

/** The run was stopped because this line could not pass any more: it FAILs, unless what was late is somebody else's doing. */
function stoppedBy(
	sla: Sla,
	facts: Facts,
	judgement: Judgement,
): Pick<Line, "judgement" | "test" | "late" | "stopped"> {
	const { plan, counters } = facts.collected;
	const total = (name: "failed" | "duplicated") =>
		(counters.warmup?.[name] ?? 0) + (counters.window?.[name] ?? 0);
	const hopeless = (over: number) =>
		whyHopeless(sla, plan, {
			over,
			failed: total("failed"),
			duplicated: total("duplicated"),
		});
	const afterNs = stoppedAfterNs(facts);
	const counted = hopeless(judgement.over ?? 0);
	const why = `stopped after ${duration(afterNs)}: could not pass any more${counted === null ? "" : ` (${counted.text})`}`;
	return {
		judgement: {
			...judgement,
			verdict: "fail",
			...because(said("aborted-hopeless", why, { ...counted?.values, afterNs })),
		},
		test: (some) => (hopeless(sum(some.map((i) => i.over))) === null ? "pass" : "fail"),
		late: sla.kind !== "tally" && counted !== null ? sla : null,
		stopped: true,
	};
}

function whyUnmeasured(sla: LatencySla, facts: Facts): Said | null {
	const { plan, clients } = facts.collected;
	if (hasMetric(facts, sla.metric))
		return limitIndex(plan, sla) < 0
			? notMeasured("the generator has not counted this limit")
			: null;
	if (clients.length === 0) return notMeasured("nothing was measured");
	return samplesPerMessage(plan, sla.metric) === 0
		? whyMissing(plan, sla.metric)
		: notMeasured(`${plan.system} acknowledges nothing: there is no ack latency to judge`);
}

function intervalsOf(sla: LatencySla, facts: Facts): LimitInterval[] {
	const { collected } = facts;
	const k = limitIndex(collected.plan, sla);
	return collected.state === "aborted"
		? offeredIntervals(collected, k, samplesDue(facts, sla.metric))
		: limitIntervals(collected, k);
}

/** Of the largest value nothing is allowed, and nothing is uncertain. */
function testOf(sla: LatencySla, intervals: readonly Interval[]): OverTest {
	if (sla.kind === "percentile") return testOver(intervals, sla.percentile);
	const tested = testOver(intervals, 50);
	const { n, over } = tested;
	const verdict = n === 0 ? "inconclusive" : over === 0 ? "pass" : "fail";
	return { ...tested, verdict, reason: n === 0 ? "samples" : "test", allowed: 0 };
}

/** Of lag and queued too, a message without a value is one of the n of the gate. */
function measuredValue(sla: LatencySla, facts: Facts, censored: number) {
	const sample = sampleOf(facts, sla.metric);
	if (sla.kind === "percentile") {
		const n = Math.max(sample.n, samplesDue(facts, sla.metric));
		return percentileOf(facts, sla.metric, sla.percentile, { ...sample, n });
	}
	const beyondTimeout = censored > 0;
	return {
		value: beyondTimeout ? null : sample.max,
		low: null,
		high: null,
		beyondTimeout,
		support: "ok",
	};
}

/** No percentile, and yet a verdict: the count is what it rests on. Of a run that broke off it holds messages that nobody has sent. */
function countedOnly(
	{ verdict, n, over }: OverTest,
	{ limitNs }: LatencySla,
	{ collected }: Facts,
): string {
	return verdict === "fail" && (collected.state === "complete" || collected.state === "aborted")
		? `${count(over)} of ${count(n)} over ${formatDurationExact(limitNs)}`
		: "n/a";
}

const REASONS = {
	stalls: ": too few stalls to tell how typical they are",
	budget: ", at least twice as many",
	near: ": too close to the limit to tell",
	clear: "",
};

/** "at most 100 of 10 000 may take longer than 10ms; 490 did, in 2 separate stretches, the longest 600ms" */
function lateSaid(sla: LatencySla, plan: Plan, tested: OverTest, censored: number): Said {
	const { verdict, reason, n, over, allowed, phi } = tested;
	const { limitNs } = sla;
	if (n === 0) return said("no-messages", "no message was intended in the window");
	if (reason === "samples" && sla.kind === "percentile") {
		const needed = samplesForBound(sla.percentile);
		const window = windowFor(needed, plan, sla.metric);
		return said(
			"few-samples",
			`p${sla.percentile} needs at least ${count(needed)} samples (${window}), and there are ${count(n)}; ${over === 0 ? "none" : count(over)} of them took longer than ${formatDurationExact(limitNs)}`,
			{ percentile: sla.percentile, needed, window, n, over, limitNs },
		);
	}
	// In a closed loop nobody knows when a message that never completed was sent.
	const known = plan.schedule.kind !== "closed" || censored === 0;
	const stretches = known ? tested.events : 0;
	const longestNs = tested.longestEvent * intervalNs(plan);
	const when =
		known && over > 0 && tested.throughout
			? ", throughout the window"
			: stretches === 0 || over === 1
				? ""
				: stretches === 1
					? `, in one stretch of ${duration(longestNs)}`
					: `, in ${count(stretches)} separate stretches, the longest ${duration(longestNs)}`;
	const stalls = reason === "events" || (verdict === "inconclusive" && phi > 2);
	const open = verdict === "inconclusive" ? "near" : "clear";
	const why = stalls ? "stalls" : reason === "budget" ? "budget" : open;
	const most = allowed < 1 ? "none" : `at most ${count(Math.floor(allowed))}`;
	const never =
		censored === 0
			? ""
			: ` (${censored === n ? "none completed" : `${count(censored)} never completed`})`;
	return said(
		"late-messages",
		`${most} of ${count(n)} may take longer than ${formatDurationExact(limitNs)}; ${over === 0 ? "none" : count(over)} did${never}${when}${REASONS[why]}`,
		{
			n,
			over,
			allowed,
			censored,
			limitNs,
			events: stretches,
			longestNs,
			throughout: tested.throughout,
			why,
		},
	);
}
