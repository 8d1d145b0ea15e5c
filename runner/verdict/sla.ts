import type { Percentile } from "../histogram/percentiles.ts";
import type { Plan, Sla } from "../model/plan.ts";
import { limitIndex, samplesPerMessage, whyMissing } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import { samplesForBound } from "../stats/support.ts";
import { type Said, say, sayBut } from "../text/say.ts";
import { formatCount, formatDuration, formatDurationExact } from "../units.ts";
import { judgeAborted } from "./aborted.ts";
import { excuseFor, excusesOf } from "./excuses.ts";
import { type Facts, hasMetric, sampleOf, samplesDue } from "./facts.ts";
import { intervalNs, type LimitInterval, limitIntervals, offeredIntervals } from "./intervals.ts";
import { because, type Judgement, NO_NUMBERS } from "./judgement.ts";
import { percentileOf } from "./quantile.ts";
import { receivedTwice } from "./received-twice.ts";
import { type Interval, type OverTest, testOver } from "./statistics.ts";
import { judgeTally } from "./tally.ts";
import { windowFor } from "./window-length.ts";

/** Judges one SLA line on what a run measured. Whether the measurement is to be trusted is a question of checks.ts. */
export function judge(sla: Sla, facts: Facts): Judgement {
	const judgement = judgeOffered(sla, facts);
	return facts.collected.state === "aborted" ? judgeAborted(sla, facts, judgement) : judgement;
}

// --- internal ---

/** All that was intended; of a run that was stopped, what was offered until then. */
function judgeOffered(sla: Sla, facts: Facts): Judgement {
	if (sla.kind === "tally") return judgeTally(sla, facts);
	const base = { ...NO_NUMBERS, sla: sla.text, limit: formatDurationExact(sla.limitNs) };
	const { plan, seconds } = facts.collected;
	const k = limitIndex(plan, sla);
	const no = (said: Said): Judgement => ({
		...base,
		verdict: "error",
		measured: "n/a",
		...because(said),
	});
	if (!hasMetric(facts, sla.metric))
		return no(
			facts.collected.clients.length === 0
				? say("nothing-measured")
				: samplesPerMessage(plan, sla.metric) === 0
					? whyMissing(plan, sla.metric)
					: say("no-acks", { system: plan.system }),
		);
	if (k < 0) return no(say("limit-not-counted"));
	const second = receivedTwice(facts.collected, sla.metric);
	const intervals =
		facts.collected.state === "aborted"
			? offeredIntervals(plan, seconds, k, samplesDue(facts, sla.metric), second)
			: limitIntervals(plan, seconds, k, second);
	return sla.kind === "max"
		? judgeMax(sla, base, facts, intervals)
		: judgePercentile(sla, base, facts, intervals);
}

type Base = Pick<Judgement, "sla" | "limit"> & Pick<Judgement, keyof typeof NO_NUMBERS>;
type Of<K extends Sla["kind"]> = Extract<Sla, { kind: K }>;

function judgePercentile(
	sla: Of<"percentile">,
	base: Base,
	facts: Facts,
	intervals: readonly LimitInterval[],
): Judgement {
	const { plan } = facts.collected;
	const test = testOver(intervals, sla.percentile);
	const censored = sum(intervals.map((i) => i.censored));
	const percentile = percentileOfGate(sla, facts);
	const numbers = {
		...base,
		valueNs: percentile.value,
		lowNs: percentile.low,
		highNs: percentile.high,
		beyondNs: percentile.beyondTimeout ? beyondNs(facts) : null,
		margin: marginOf(sla.limitNs, percentile.value),
		n: test.n,
		over: test.over,
		allowed: test.allowed,
		censored,
		events: test.events,
		phi: test.phi,
	};
	const measured = percentile.beyondTimeout
		? beyond(facts)
		: percentile.value === null
			? unsupported(test, sla.limitNs, facts)
			: `${percentile.support === "weak" ? "~" : ""}${formatDuration(percentile.value)}`;
	const judged = saying(numbers, measured);
	if (test.n > 0 && censored === test.n)
		return judged("fail", say("none-completed", { n: test.n }), {
			measured: beyond(facts),
			beyondNs: beyondNs(facts),
		});
	const late = lateOf(test, sla.limitNs, censored, plan);
	const verdictOf = (rest: readonly Interval[]) => testOver(rest, sla.percentile).verdict;
	const excuse = excuseFor(
		test.verdict,
		() => excusesOf(sla, intervals, facts.collected),
		verdictOf,
	);
	if (excuse) {
		const { by, without, values, ...mark } = excuse;
		const instead = { verdict: test.verdict, verdictWithout: without };
		return judged(
			"invalid",
			say(`late-by-${by}`, { ...late, ...instead, ...values } as never),
			mark,
		);
	}
	const second = receivedTwice(facts.collected, sla.metric);
	if (test.verdict === "fail" && second > 0 && verdictOf(withoutOver(intervals, second)) !== "fail")
		return judged(
			"inconclusive",
			sayBut(say("late-messages", late), say("duplicate-receipts", { second })),
		);
	const strict = plan.strict && test.reason === "samples";
	return judged(strict ? "error" : test.verdict, percentileReason(sla, plan, test, late));
}

function judgeMax(
	sla: Of<"max">,
	base: Base,
	facts: Facts,
	intervals: readonly LimitInterval[],
): Judgement {
	const { max } = sampleOf(facts, sla.metric);
	const n = sum(intervals.map((i) => i.n));
	const over = sum(intervals.map((i) => i.over));
	const censored = sum(intervals.map((i) => i.censored));
	const value = censored > 0 ? null : max;
	const numbers = {
		...base,
		valueNs: value,
		margin: marginOf(sla.limitNs, value),
		n,
		over,
		allowed: 0,
		censored,
	};
	const judged = saying(numbers, max === null ? "n/a" : formatDuration(max));
	const slow = { n, over, limitNs: sla.limitNs };
	if (n === 0) return judged("inconclusive", say("no-messages"), { measured: "n/a" });
	if (censored > 0)
		return judged("fail", say("never-completed", { n, censored }), {
			measured: beyond(facts),
			beyondNs: beyondNs(facts),
		});
	if (over === 0) return judged("pass", say("max-kept", slow));
	const excuse = excuseFor(
		"fail",
		() => excusesOf(sla, intervals, facts.collected),
		(rest) => (rest.every((i) => i.over === 0) ? "pass" : "fail"),
	);
	if (excuse) {
		const { by, without: _, values, ...mark } = excuse;
		return judged("invalid", say(`max-by-${by}`, { ...slow, ...values } as never), mark);
	}
	const second = receivedTwice(facts.collected, sla.metric);
	const broken = say("max-broken", slow);
	return over <= second
		? judged("inconclusive", sayBut(broken, say("duplicate-receipts", { second })))
		: judged("fail", broken);
}

/** Judgements with the same numbers; `more` takes the place of some of them. */
function saying(numbers: Base, measured: string) {
	return (verdict: Judgement["verdict"], said: Said, more: Partial<Judgement> = {}): Judgement => ({
		...numbers,
		verdict,
		measured,
		...because(said),
		...more,
	});
}

/** Without so many of those over the limit that have a value: where most are, as they cluster there. */
function withoutOver(intervals: readonly LimitInterval[], second: number): Interval[] {
	const all: Interval[] = intervals.map(({ n, over }) => ({ n, over }));
	const valued = intervals.map((i) => i.over - i.censored);
	const mostFirst = [...valued.keys()].sort((a, b) => (valued[b] ?? 0) - (valued[a] ?? 0));
	let left = second;
	for (const at of mostFirst) {
		const fewer = Math.min(left, Math.max(0, valued[at] ?? 0));
		left -= fewer;
		const { n, over } = all[at] ?? { n: 0, over: 0 };
		all[at] = { n, over: over - fewer };
	}
	return all;
}

/** Of lag and queued too, a message without a value is one of the n of the gate. */
function percentileOfGate(sla: Of<"percentile">, facts: Facts): Percentile {
	const sample = sampleOf(facts, sla.metric);
	const n = Math.max(sample.n, samplesDue(facts, sla.metric));
	return percentileOf(facts, sla.metric, sla.percentile, { ...sample, n });
}

/**
 * No percentile, and yet a verdict: the count is what it rests on. Of a run that broke off it holds messages that nobody has
 * sent.
 */
function unsupported(test: OverTest, limitNs: number, { collected: { state } }: Facts): string {
	return test.verdict === "fail" && (state === "complete" || state === "aborted")
		? `${formatCount(test.over)} of ${formatCount(test.n)} over ${formatDurationExact(limitNs)}`
		: "n/a";
}

function marginOf(limitNs: number, measuredNs: number | null): number | null {
	return measuredNs === null || measuredNs === 0 ? null : limitNs / measuredNs;
}

function beyond(facts: Facts): string {
	const ns = beyondNs(facts);
	return ns === null ? "stopped" : `> ${formatDurationExact(ns)}`;
}

/** null: it was stopped before the timeout could tell. */
function beyondNs({ collected }: Facts): number | null {
	return collected.state === "complete" ? collected.plan.timeoutNs : null;
}

/** Why a percentile gate came out as it did. */
function percentileReason(sla: Of<"percentile">, plan: Plan, test: OverTest, late: Late): Said {
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
function lateOf(test: OverTest, limitNs: number, censored: number, plan: Plan) {
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

type Late = ReturnType<typeof lateOf>;

/** The samples that carry the percentile, and the window that has them. */
function needed(sla: Of<"percentile">, plan: Plan) {
	const { percentile, metric } = sla;
	const n = samplesForBound(percentile);
	return { percentile, needed: n, window: windowFor(n, plan, metric) };
}
