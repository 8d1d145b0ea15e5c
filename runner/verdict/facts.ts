import { whoIs } from "../evidence/client-read.ts";
import type { ClientPart, Collected } from "../evidence/collect.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Distribution } from "../histogram/distribution.ts";
import { EMPTY } from "../histogram/distribution.ts";
import { type LogLine, readLogs } from "../histogram/hlog.ts";
import { type Merged, mergeLines } from "../histogram/merge.ts";
import type { Sample } from "../histogram/percentiles.ts";
import type { Tick } from "../model/client-file.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Metric } from "../model/plan.ts";
import { isElsewhere as isKindElsewhere } from "../model/run-file.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, mainMetric, samplesPerMessage } from "../plan/samples.ts";
import { intendedBySecond, receivedTwice } from "./intervals.ts";

/** What is known of a run from outside its folder; null: not known. */
export interface Surroundings {
	readonly clockSource: string | null;
	/** How many cores the control group allows. */
	readonly quotaCores: number | null;
	/** The generator's floor for this case; null: not measured. */
	readonly floor: Floor | null;
	/** Is there a baseline that the runs of this command are compared with, whether an SLA line says so or not? */
	readonly compared: boolean;
}

/** A short run of the same case at the same rate against nothing: what the generator itself takes. */
export interface Floor {
	/** Relative to the result: "floors/01-256B-3000-s". */
	readonly folder: string;
	/** Why it says nothing; null when it does. */
	readonly problem: string | null;
	readonly count: number;
	/** Response (of a closed load service), ns; null: too few samples. p99 of the best second. */
	readonly p50: number | null;
	readonly p99: number | null;
	readonly max: number | null;
	/** Of a closed load: messages received per second; else null. */
	readonly perSecond: number | null;
}

/** Nothing is known. */
export const UNKNOWN: Surroundings = {
	clockSource: null,
	quotaCores: null,
	floor: null,
	compared: false,
};

/** What the verdict on one run rests on. */
export interface Facts extends Surroundings {
	readonly collected: Collected;
	/** By tag: "response", "response.warmup". */
	readonly merged: ReadonlyMap<string, Merged>;
	/** By index of the client: its own lag in the window. Of a single client `merged` has it. */
	readonly lags: ReadonlyMap<number, Merged>;
	/** Why the histograms could not be read; null when they could. */
	readonly unreadable: string | null;
}

/** Reads the histograms of a run. A histogram that cannot be read is a fact too, never an exception. */
export function factsOf(collected: Collected, surroundings: Surroundings): Facts {
	const nothing: Facts = {
		...surroundings,
		collected,
		merged: new Map(),
		lags: new Map(),
		unreadable: null,
	};
	try {
		const { plan } = collected;
		const due = dueBySecond(collected);
		const merged = mergeLines(readLogs(collected.logs), windowOf(collected).startNs, {
			course: mainMetric(plan),
			beside: ["lag", "queued"],
			due: (second) => due?.get(second) ?? 0,
			phases: plan.phases,
		});
		return { ...nothing, merged, lags: lagsOf(collected) };
	} catch (error) {
		const unreadable = `a histogram log cannot be read: ${(error as Error).message}`;
		return { ...nothing, unreadable };
	}
}

/** Does this run have the metric at all? A system without acknowledgements has no ack latency, a closed load no response. */
export function hasMetric({ collected }: Pick<Facts, "collected">, metric: Metric): boolean {
	if (collected.state === "never" || collected.clients.length === 0) return false;
	return (
		samplesPerMessage(collected.plan, metric) > 0 &&
		(metric !== "ack" || collected.clients.every((c) => c.capabilities.acks))
	);
}

/**
 * The window's samples of a metric. Of all but lag and queued every intended message owes its samples: those that never
 * came count as the largest. Of lag and queued only those that there are: a lost message was not late.
 */
export function sampleOf(facts: Facts, metric: Metric): Sample {
	const distribution = distributionOf(facts, metric);
	const sums = sumsOf(facts, metric);
	const all = metric === "lag" || metric === "queued" ? 0 : samplesDue(facts, metric);
	return {
		distribution,
		n: Math.max(all, distribution.count),
		min: sums.count > 0 ? sums.min : null,
		max: sums.count > 0 ? sums.max : null,
	};
}

/**
 * Messages of the window that should have completed: all that were intended. Of a run that somebody stopped, those offered
 * until then; of one that broke off nobody has counted them, 0.
 */
export function messagesDue({ collected }: Facts): number {
	const intended = intendedInWindow(collected.plan);
	if (collected.state === "complete") return intended;
	const { window } = collected.counters;
	return window === null ? 0 : window.intended - window.notOffered;
}

/** Samples of a metric that those messages owe. */
export function samplesDue(facts: Facts, metric: Metric): number {
	return messagesDue(facts) * samplesPerMessage(facts.collected.plan, metric);
}

/**
 * Samples of the main metric that the messages due in each second owe, by second from the window's start, the warm-up's below 0. null: nobody
 * knows (a closed load; a run that was stopped or broke off), or this run has no such metric.
 */
export function dueBySecond(collected: Collected): ReadonlyMap<number, number> | null {
	const { plan, state } = collected;
	const { schedule } = plan;
	const main = mainMetric(plan);
	if (schedule.kind === "closed" || state !== "complete" || !hasMetric({ collected }, main))
		return null;
	const { warmupNs } = schedule;
	const messages = intendedBySecond(plan);
	let before = 0;
	for (let second = -Math.ceil(warmupNs / 1e9); second < 0; second++) {
		const upTo = messagesBefore(schedule, warmupNs + (second + 1) * 1e9);
		messages.set(second, upTo - before);
		before = upTo;
	}
	const perMessage = samplesPerMessage(plan, main);
	const due = [...messages].filter(([, n]) => n > 0).map(([s, n]) => [s, n * perMessage] as const);
	return new Map(due.sort(([a], [b]) => a - b));
}

/** The sample that stands for a run: of response, of a closed load of service, of a backlog of ack. */
export function mainSampleOf(facts: Facts): Sample {
	return sampleOf(facts, mainMetric(facts.collected.plan));
}

/**
 * The window in real time, ns since T0. Of a closed load it opens when its warm-up is through, and ends with the last receipt or
 * acknowledgement.
 */
export function windowOf({ plan, totals, ticks }: Collected): { startNs: number; endNs: number } {
	const { kind, warmupNs, durationNs } = plan.schedule;
	if (kind !== "closed") return { startNs: warmupNs, endNs: warmupNs + durationNs };
	const startNs = totals?.windowStartNs ?? warmupNs;
	const last = [totals?.lastReceiveNs, totals?.lastAckNs].filter((ns) => ns != null);
	// Of a run that broke off, or that nobody answered, as far as anything was counted.
	const endNs =
		last.length > 0
			? largestOf(last)
			: (totals?.endNs ?? Math.round((ticks.at(-1)?.at ?? 0) * 1e9));
	return { startNs, endNs: Math.max(startNs, endNs) };
}

/** How much of the window had passed when the run was stopped. */
export function stoppedAfterNs({ collected }: Facts): number {
	const endNs = collected.totals?.endNs ?? 0;
	return Math.max(0, endNs - windowOf(collected).startNs);
}

/** The tightest limit on a latency that the SLA names, of one metric or of any; null: there is none. */
export function tightestLimitNs({ collected }: Facts, metric?: Metric): number | null {
	const limits = collected.plan.sla.flatMap((s) =>
		s.kind === "tally" || (metric !== undefined && s.metric !== metric) ? [] : [s.limitNs],
	);
	return limits.length === 0 ? null : smallestOf(limits);
}

/** The ticks of the window, by real time. Of a closed load, whose window opens at any time, those that it touches. */
export function ticksOfWindow(
	{ collected }: Pick<Facts, "collected">,
	ticks: readonly Tick[] = collected.ticks,
): readonly Tick[] {
	const { startNs, endNs } = windowOf(collected);
	const [from, to] = [startNs / 1e9, endNs / 1e9];
	if (collected.plan.schedule.kind === "closed")
		return ticks.filter((t) => t.at > from && t.at - secondsOf(t) < to);
	return ticks.filter((t) => t.at - secondsOf(t) >= from - 1e-9 && t.at <= to + 1e-9);
}

/** Exact figures of the window, or of its seconds [from, to), from the counters beside the histograms. */
export function sumsOf(
	{ collected }: { readonly collected: Pick<Collected, "seconds"> },
	metric: Metric,
	{ from = 0, to = Number.POSITIVE_INFINITY } = {},
) {
	const sums = {
		count: 0,
		sum: 0,
		min: Number.POSITIVE_INFINITY,
		max: 0,
		clamped: 0,
		negative: 0,
		/** Of those below 0; infinite: there was none. */
		lowest: Number.POSITIVE_INFINITY,
	};
	for (const { second, metrics } of collected.seconds) {
		const m = metrics[metric];
		if (second < from || second >= to || m === undefined) continue;
		sums.count += m.count;
		sums.sum += m.sum;
		sums.min = Math.min(sums.min, m.count > 0 ? m.min : sums.min);
		sums.max = Math.max(sums.max, m.max);
		sums.clamped += m.clamped;
		sums.negative += m.negative;
		sums.lowest = Math.min(sums.lowest, m.lowest ?? sums.lowest);
	}
	return sums;
}

/** The window's samples that have a value, each message's once: see `receivedTwice`. */
export function distributionOf(facts: Facts, metric: Metric): Distribution {
	const whole = facts.merged.get(metric)?.whole ?? EMPTY;
	return withoutSmallest(whole, receivedTwice(facts.collected, metric));
}

/** What is known of the lateness of each client of several in the window; nothing of those that measured nothing. */
export function lagByClient(
	facts: Facts,
): { readonly part: ClientPart; readonly merged: Merged; readonly sample: Sample }[] {
	return facts.collected.parts.flatMap((part) => {
		const merged = facts.lags.get(part.index);
		const { whole: distribution = EMPTY } = merged ?? {};
		if (merged === undefined || distribution.count === 0) return [];
		const { max } = sumsOf({ collected: part }, "lag");
		const n = distribution.count;
		return [{ part, merged, sample: { distribution, n, min: null, max } }];
	});
}

/** Latencies that end with a receipt, at a client which need not be the one that sent. */
export const RECEIVES: ReadonlySet<Metric> = new Set(["response", "service", "last"]);

/** Service and queued have no lag in them: taking it off would make them better than they are. */
export function containsLag(metric: Metric): boolean {
	return metric !== "service" && metric !== "queued";
}

/** "client 1 (bench@10.0.0.11)", "client 1" */
export function clientName({ index, end }: ClientPart): string {
	return whoIs(index, end?.name ?? null);
}

/** Is it on another host? A container is on this one. */
export function isElsewhere({ end }: ClientPart): boolean {
	return end != null && isKindElsewhere(end.kind);
}

/** Without so many samples: the smallest, so that no percentile profits from not knowing which they are. */
export function withoutSmallest(all: Distribution, n: number): Distribution {
	if (n <= 0) return all;
	const from = all.upTo.findIndex((upTo) => upTo > n);
	if (from < 0) return { count: 0, low: [], high: [], upTo: [] };
	return {
		count: all.count - n,
		low: all.low.slice(from),
		high: all.high.slice(from),
		upTo: all.upTo.slice(from).map((upTo) => upTo - n),
	};
}

// --- internal ---

/** Read once more, client by client: most lines are of other metrics, and are not decoded. */
function lagsOf(collected: Collected): Map<number, Merged> {
	if (collected.parts.length < 2) return new Map();
	const { startNs } = windowOf(collected);
	return new Map(
		collected.parts.flatMap(({ index, log }) => {
			const lag = log && mergeLines(lagLines(readLogs([log])), startNs).get("lag");
			return lag ? [[index, lag] as const] : [];
		}),
	);
}

/** Can be gone through again, as `Merged.above` does. */
function lagLines(lines: Iterable<LogLine>): Iterable<LogLine> {
	return {
		*[Symbol.iterator]() {
			for (const line of lines) if (line.tag === "lag") yield line;
		},
	};
}
