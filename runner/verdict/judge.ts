import type { LatencySla, Plan, Sla } from "../model/plan.ts";
import { TALLIES } from "../model/tallies.ts";
import { limitIndex } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import { samplesForBound } from "../stats/support.ts";
import { type Said, said } from "../text/say.ts";
import { formatCount as count, formatDuration as duration, formatDurationExact } from "../units.ts";
import { whyHopeless } from "./abort.ts";
import { BEFORE_CHECKS, excused, type Line } from "./excuses.ts";
import { type Facts, hasMetric, sampleOf, samplesDue, stoppedAfterNs } from "./facts.ts";
import { intervalNs, limitIntervals, offeredIntervals } from "./intervals.ts";
import { because, type Judgement, NO_NUMBERS, notMeasured } from "./judgement.ts";
import { percentileOf } from "./quantile.ts";
import { windowFor } from "./rates.ts";
import { type Interval, type OverTest, testOver } from "./statistics.ts";
import { judgeTally } from "./tally.ts";

/** Judges one SLA line before any excuses; in a stopped run, by the messages offered until then. */
export function lineOf(sla: Sla, facts: Facts): Line {
	const { state, run } = facts.collected;
	const judged =
		sla.kind === "tally"
			? { ...UNCOUNTED, judgement: judgeTally(sla, facts.collected) }
			: latencyLine(sla, facts);
	const line = { ...judged, sla, facts, stopped: false };
	const byIt = state === "aborted" && sla.text === run?.abortedBy;
	return byIt && line.judgement.verdict !== "error" ? stoppedBy(line) : line;
}

/** Applies excuses. In a stopped run, a line other than the cause FAILs only if the offered messages fail it already; else it is open. */
export function judged(line: Line): Judgement {
	const judgement = excused(line, BEFORE_CHECKS);
	const { sla, facts, stopped } = line;
	if (facts.collected.state !== "aborted" || stopped || judgement.verdict === "error")
		return judgement;
	const failed = judgement.verdict === "fail" || judgement.cause !== null;
	if (failed && (sla.kind !== "tally" || TALLIES[sla.tally].grows)) return judgement;
	const afterNs = stoppedAfterNs(facts);
	const by = facts.collected.run?.abortedBy ?? "";
	const why = `stopped after ${duration(afterNs)}: ${by} could not pass any more`;
	return {
		...judgement,
		...because(said("aborted-open", why, { afterNs, by })),
		verdict: "inconclusive",
		check: null,
		cause: null,
	};
}

// --- internal ---

type Judged = Pick<Line, "judgement" | "intervals" | "test" | "late">;
const UNCOUNTED = { intervals: [], test: () => "pass" as const, late: null };

function latencyLine(sla: LatencySla, facts: Facts): Judged {
	const { collected } = facts;
	const { plan, state } = collected;
	const { metric, limitNs } = sla;
	const limit = formatDurationExact(limitNs);
	const base = { ...NO_NUMBERS, sla: sla.text, limit };
	const k = limitIndex(plan, sla);
	if (!hasMetric(facts, metric) || k < 0) {
		const missing = because(notMeasured(metric));
		return { ...UNCOUNTED, judgement: { ...base, verdict: "error", measured: "n/a", ...missing } };
	}
	const due = samplesDue(facts, metric);
	const intervals =
		state === "aborted" ? offeredIntervals(collected, k, due) : limitIntervals(collected, k);
	const tested = testOf(sla, intervals);
	const { verdict, n, over, allowed, events, phi } = tested;
	const censored = sum(intervals.map((i) => i.censored));
	const isMax = sla.kind === "max";
	const sample = sampleOf(facts, metric);
	const { value, low, high, support, beyondTimeout } = isMax
		? { ...NO_INTERVAL, value: censored > 0 ? null : sample.max, beyondTimeout: censored > 0 }
		: // For lag and queued too, the gate's n includes messages without a value.
			percentileOf(facts, metric, sla.percentile, { ...sample, n: Math.max(sample.n, due) });
	const never = beyondTimeout || (n > 0 && censored === n);
	const beyondNs = never && state === "complete" ? plan.timeoutNs : null;
	const measured = () => {
		if (never) return beyondNs === null ? "stopped" : `> ${formatDurationExact(beyondNs)}`;
		if (value !== null && !(isMax && n === 0))
			return `${support === "weak" ? "~" : ""}${duration(value)}`;
		// Without a percentile a FAIL rests on the count, which in a broken-off run includes unsent messages.
		return verdict === "fail" && (state === "complete" || state === "aborted")
			? `${count(over)} of ${count(n)} over ${limit}`
			: "n/a";
	};
	return {
		intervals,
		test: (some) => testOf(sla, some).verdict,
		// Messages that never came need no reason for lateness.
		late: censored <= 0 || (!isMax && censored < n) ? sla : null,
		judgement: {
			...base,
			verdict: plan.strict && tested.reason === "samples" && !isMax ? "error" : verdict,
			valueNs: value,
			lowNs: low,
			highNs: high,
			beyondNs,
			margin: value ? limitNs / value : null,
			n,
			over,
			allowed,
			censored,
			events: isMax ? null : events,
			phi: isMax ? null : phi,
			measured: measured(),
			...because(lateSaid(sla, plan, tested, censored)),
		},
	};
}

const NO_INTERVAL = { low: null, high: null, support: "ok" };

/** A maximum allows nothing over the limit and has no uncertainty. */
function testOf(sla: LatencySla, intervals: readonly Interval[]): OverTest {
	const tested = testOver(intervals, sla.kind === "percentile" ? sla.percentile : 50);
	if (sla.kind === "percentile") return tested;
	const { n, over } = tested;
	const verdict = n === 0 ? "inconclusive" : over === 0 ? "pass" : "fail";
	return { ...tested, verdict, reason: n === 0 ? "samples" : "test", allowed: 0 };
}

/** This line stopped the run: it FAILs unless something excuses its late messages. */
function stoppedBy(line: Line): Line {
	const { sla, facts, judgement } = line;
	const { plan, counters } = facts.collected;
	const total = (name: "failed" | "duplicated") =>
		(counters.warmup?.[name] ?? 0) + (counters.window?.[name] ?? 0);
	const soFar = { failed: total("failed"), duplicated: total("duplicated") };
	const hopeless = (over: number) => whyHopeless(sla, plan, { ...soFar, over });
	const afterNs = stoppedAfterNs(facts);
	const counted = hopeless(judgement.over ?? 0);
	const why = `stopped after ${duration(afterNs)}: could not pass any more${counted === null ? "" : ` (${counted.text})`}`;
	const stopped = said("aborted-hopeless", why, { ...counted?.values, afterNs });
	return {
		...line,
		judgement: { ...judgement, verdict: "fail", ...because(stopped) },
		test: (some) => (hopeless(sum(some.map((i) => i.over))) === null ? "pass" : "fail"),
		late: sla.kind !== "tally" && counted !== null ? sla : null,
		stopped: true,
	};
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
	const limit = formatDurationExact(limitNs);
	const late = over === 0 ? "none" : count(over);
	if (n === 0) return said("no-messages", "no message was intended in the window");
	if (reason === "samples" && sla.kind === "percentile") {
		const { percentile } = sla;
		const needed = samplesForBound(percentile);
		const window = windowFor(needed, plan, sla.metric);
		const text = `p${percentile} needs at least ${count(needed)} samples (${window}), and there are ${count(n)}; ${late} of them took longer than ${limit}`;
		return said("few-samples", text, { percentile, needed, window, n, over, limitNs });
	}
	// In a closed loop, an incomplete message's send time is unknown.
	const known = plan.schedule.kind !== "closed" || censored === 0;
	const events = known ? tested.events : 0;
	const longestNs = tested.longestEvent * intervalNs(plan);
	const stretches =
		events === 1 ? "one stretch of" : `${count(events)} separate stretches, the longest`;
	const when =
		known && over > 0 && tested.throughout
			? ", throughout the window"
			: events === 0 || over === 1
				? ""
				: `, in ${stretches} ${duration(longestNs)}`;
	const open = verdict === "inconclusive";
	const stalls = reason === "events" || (open && phi > 2);
	const why = stalls ? "stalls" : reason === "budget" ? "budget" : open ? "near" : "clear";
	const most = allowed < 1 ? "none" : `at most ${count(Math.floor(allowed))}`;
	const completed = censored === n ? "none completed" : `${count(censored)} never completed`;
	const never = censored === 0 ? "" : ` (${completed})`;
	const { throughout } = tested;
	const text = `${most} of ${count(n)} may take longer than ${limit}; ${late} did${never}${when}${REASONS[why]}`;
	const values = { n, over, allowed, censored, limitNs, events, longestNs, throughout, why };
	return said("late-messages", text, values);
}
