import { percentile } from "../histogram/percentiles.ts";
import type { Metric, Plan, Sla } from "../plan/plan.ts";
import { formatCount, formatDuration, formatDurationExact } from "../units.ts";
import { type Facts, hasMetric, messagesDue, sampleOf } from "./facts.ts";
import { type LimitInterval, limitIntervals } from "./intervals.ts";
import { testOver } from "./statistics.ts";
import { judgeTally } from "./tally.ts";
import type { Verdict } from "./verdict.ts";
import { counted, percentileWhy } from "./why.ts";

/** One SLA line judged for one run. */
export interface Judgement {
	readonly sla: string;
	readonly verdict: Verdict;
	/** For people: "3.2ms", "> 30s", "n/a". */
	readonly measured: string;
	readonly limit: string;
	/** One sentence. */
	readonly why: string;
	/** Of a percentile or max: messages judged, over the limit, allowed to be, never completed; null for counts. */
	readonly n: number | null;
	readonly over: number | null;
	readonly allowed: number | null;
	readonly censored: number | null;
	readonly events: number | null;
	readonly phi: number | null;
	/** True: not passed, but passed had the generator not been late. */
	readonly lagDecided: boolean;
}

/** Judges one SLA line on what a run measured. Whether the measurement is to be trusted is validity.ts' question. */
export function judge(sla: Sla, facts: Facts): Judgement {
	if (sla.kind === "tally") return { ...NO_NUMBERS, ...judgeTally(sla, facts) };
	const base = {
		...NO_NUMBERS,
		sla: sla.text,
		limit: formatDurationExact(sla.limitNs),
	};
	const { plan, seconds } = facts.collected;
	const k = plan.limits.findIndex(
		(l) => l.metric === sla.metric && l.limitNs === sla.limitNs,
	);
	const no = (why: string): Judgement => ({
		...base,
		verdict: "error",
		measured: "n/a",
		why,
	});
	if (!hasMetric(facts, sla.metric))
		return no(
			facts.collected.clients.length === 0
				? "nothing was measured"
				: `${plan.system} acknowledges nothing: there is no ack latency to judge`,
		);
	if (k < 0) return no("the generator has not counted this limit");
	const intervals = limitIntervals(plan, seconds, k);
	return sla.kind === "max"
		? judgeMax(sla, base, facts, intervals)
		: judgePercentile(sla, base, facts, intervals);
}

// --- internal ---

/** Where there is nothing to count. */
export const NO_NUMBERS = {
	n: null,
	over: null,
	allowed: null,
	censored: null,
	events: null,
	phi: null,
	lagDecided: false,
};

type Base = Pick<Judgement, "sla" | "limit"> & typeof NO_NUMBERS;
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
	const numbers = {
		...base,
		n: test.n,
		over: test.over,
		allowed: test.allowed,
		censored,
		events: test.events,
		phi: test.phi,
	};
	const measured = measuredPercentile(sla, facts);
	if (test.n > 0 && censored === test.n)
		return {
			...numbers,
			verdict: "fail",
			measured: beyond(plan),
			why: `no message completed: ${formatCount(test.n)} of ${formatCount(test.n)}`,
		};
	const without = testOver(
		intervals.map(({ n, overWithoutLag }) => ({ n, over: overWithoutLag })),
		sla.percentile,
	);
	if (
		containsLag(sla.metric) &&
		test.verdict !== "pass" &&
		without.verdict === "pass"
	)
		return {
			...numbers,
			verdict: "invalid",
			measured,
			why: `the generator was late: ${counted(test, sla.limitNs, censored)} with its lag, ${formatCount(without.over)} without it`,
			lagDecided: true,
		};
	const strict = plan.strict && test.reason === "samples";
	return {
		...numbers,
		verdict: strict ? "error" : test.verdict,
		measured,
		why: percentileWhy(sla, plan, test, censored),
	};
}

function judgeMax(
	sla: Of<"max">,
	base: Base,
	facts: Facts,
	intervals: readonly LimitInterval[],
): Judgement {
	const { plan } = facts.collected;
	const { max } = sampleOf(facts, sla.metric);
	const n = sum(intervals.map((i) => i.n));
	const over = sum(intervals.map((i) => i.over));
	const censored = sum(intervals.map((i) => i.censored));
	const numbers = { ...base, n, over, allowed: 0, censored };
	const limit = formatDurationExact(sla.limitNs);
	if (n === 0)
		return {
			...numbers,
			verdict: "inconclusive",
			measured: "n/a",
			why: "no message was intended in the window",
		};
	if (censored > 0)
		return {
			...numbers,
			verdict: "fail",
			measured: beyond(plan),
			why: `${messages(censored)} of ${formatCount(n)} never completed`,
		};
	const measured = max === null ? "n/a" : formatDuration(max);
	if (over === 0)
		return {
			...numbers,
			verdict: "pass",
			measured,
			why: `none of ${formatCount(n)} over ${limit}`,
		};
	const lagDecided =
		containsLag(sla.metric) && intervals.every((i) => i.overWithoutLag === 0);
	const why = `${formatCount(over)} of ${formatCount(n)} over ${limit}`;
	return {
		...numbers,
		verdict: lagDecided ? "invalid" : "fail",
		measured,
		why: lagDecided
			? `the generator was late: ${why} with its lag, none without it`
			: why,
		lagDecided,
	};
}

/** Service and queued have no lag in them: taking it off would make them better than they are. */
function containsLag(metric: Metric): boolean {
	return metric === "response" || metric === "ack" || metric === "lag";
}

function measuredPercentile(sla: Of<"percentile">, facts: Facts): string {
	const sample = sampleOf(facts, sla.metric);
	// Of lag and queued too, a message without a value is one of the n of the gate.
	const n = Math.max(sample.n, messagesDue(facts));
	const found = percentile({ ...sample, n }, sla.percentile, 1);
	if (found.beyondTimeout) return beyond(facts.collected.plan);
	return found.value === null ? "n/a" : formatDuration(found.value);
}

function beyond(plan: Plan): string {
	return `> ${formatDurationExact(plan.timeoutNs)}`;
}

function messages(n: number): string {
	return n === 1 ? "1 message" : `${formatCount(n)} messages`;
}

function sum(values: readonly number[]): number {
	return values.reduce((a, b) => a + b, 0);
}
