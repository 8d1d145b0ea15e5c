import { whoIs } from "../evidence/client-read.ts";
import type { ClientPart, Collected } from "../evidence/collect.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { type Distribution, EMPTY } from "../histogram/distribution.ts";
import { readLogs } from "../histogram/hlog.ts";
import { type Merged, mergeLines } from "../histogram/merge.ts";
import type { Sample } from "../histogram/percentiles.ts";
import type { Tick } from "../model/client-file.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Metric, Plan } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { isElsewhere as isKindElsewhere } from "../model/run-file.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, mainMetric, samplesPerMessage } from "../plan/samples.ts";
import { intendedBySecond, receivedTwice } from "./intervals.ts";

/** Facts about a run from outside its folder. Unknown ones are null. */
export interface Surroundings {
	readonly clockSource: string | null;
	/** Cores that the control group allows. */
	readonly quotaCores: number | null;
	/** Null if not measured. */
	readonly floor: Floor | null;
	/** Are the runs of this command compared with a baseline, by an SLA line or otherwise? */
	readonly compared: boolean;
}

export type Floor = NonNullable<Run["floor"]>;

export const UNKNOWN: Surroundings = {
	clockSource: null,
	quotaCores: null,
	floor: null,
	compared: false,
};

export interface Facts extends Surroundings {
	readonly collected: Collected;
	/** By tag: "response", "response.warmup". */
	readonly merged: ReadonlyMap<string, Merged>;
	/** Lag in the window by client index; empty for a single client, which `merged` covers. */
	readonly lags: ReadonlyMap<number, Merged>;
	readonly unreadable: string | null;
}

/** Reads the histograms. An unreadable histogram is a fact, never an exception. */
export function factsOf(collected: Collected, surroundings: Surroundings): Facts {
	const nothing = { merged: new Map(), lags: new Map(), unreadable: null };
	try {
		const { plan } = collected;
		const due = dueBySecond(collected);
		const merged = mergeLines(readLogs(collected.logs), windowOf(collected).startNs, {
			course: mainMetric(plan),
			beside: ["lag", "queued"],
			due: (second) => due?.get(second) ?? 0,
			...(plan.phases.length > 0
				? { phases: plan.phases }
				: { phases: hoursOf(plan), phasesOf: mainMetric(plan) }),
		});
		return { ...surroundings, collected, ...nothing, merged, lags: lagsOf(collected) };
	} catch (error) {
		const unreadable = `a histogram log cannot be read: ${(error as Error).message}`;
		return { ...surroundings, collected, ...nothing, unreadable };
	}
}

/** The hours of the window, of a run of two hours or more whose load has no steps: they show a drift. The last one may be shorter. */
export function hoursOf({ schedule, phases }: Plan): { fromNs: number; toNs: number }[] {
	const { kind, durationNs } = schedule;
	if (kind === "closed" || phases.length > 0 || durationNs < 2 * HOUR_NS) return [];
	return Array.from({ length: Math.ceil(durationNs / HOUR_NS) }, (_, i) => ({
		fromNs: i * HOUR_NS,
		toNs: Math.min((i + 1) * HOUR_NS, durationNs),
	}));
}

/** A system without acknowledgements has no ack latency, a closed load no response. */
export function hasMetric({ collected }: Pick<Facts, "collected">, metric: Metric): boolean {
	if (collected.state === "never" || collected.clients.length === 0) return false;
	return (
		samplesPerMessage(collected.plan, metric) > 0 &&
		(metric !== "ack" || collected.clients.every((c) => c.capabilities.acks))
	);
}

/** The window's samples. Intended messages that never came count as the largest, except for lag and queued: a lost message was not late. */
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

/** Messages of the window that should have completed: all intended, of a stopped run those offered; 0 if it broke off. */
export function messagesDue({ collected }: Facts): number {
	const intended = intendedInWindow(collected.plan);
	if (collected.state === "complete") return intended;
	const { window } = collected.counters;
	return window === null ? 0 : window.intended - window.notOffered;
}

export function samplesDue(facts: Facts, metric: Metric): number {
	return messagesDue(facts) * samplesPerMessage(facts.collected.plan, metric);
}

/** Samples due per second from the window's start (warm-up < 0). Null for a closed load, an incomplete run, or without a main metric. */
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

/** Response; service for a closed load, ack for a backlog. */
export function mainSampleOf(facts: Facts): Sample {
	return sampleOf(facts, mainMetric(facts.collected.plan));
}

/** The window in real time, ns since T0. In a closed load it opens after the warm-up and ends with the last receipt or acknowledgement. */
export function windowOf({ plan, totals, ticks }: Collected): { startNs: number; endNs: number } {
	const { kind, warmupNs, durationNs } = plan.schedule;
	if (kind !== "closed") return { startNs: warmupNs, endNs: warmupNs + durationNs };
	const startNs = totals?.windowStartNs ?? warmupNs;
	const last = [totals?.lastReceiveNs, totals?.lastAckNs].filter((ns) => ns != null);
	// Without any answer, the window ends with the last count.
	const endNs =
		last.length > 0
			? largestOf(last)
			: (totals?.endNs ?? Math.round((ticks.at(-1)?.at ?? 0) * 1e9));
	return { startNs, endNs: Math.max(startNs, endNs) };
}

/** ns of the window that passed before the stop. */
export function stoppedAfterNs({ collected }: Facts): number {
	return Math.max(0, (collected.totals?.endNs ?? 0) - windowOf(collected).startNs);
}

export function tightestLimitNs({ collected }: Facts, metric?: Metric): number | null {
	const limits = collected.plan.sla.flatMap((s) =>
		s.kind === "tally" || (metric !== undefined && s.metric !== metric) ? [] : [s.limitNs],
	);
	return limits.length === 0 ? null : smallestOf(limits);
}

/** Ticks within the window; for a closed load, whose window opens at any time, the ticks that overlap it. */
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

/** Exact figures of the window, or of its seconds [from, to), from the counters. */
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
		/** Lowest negative value; infinite if there was none. */
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

/** The window's samples that have a value, one per message (see `receivedTwice`). */
export function distributionOf(facts: Facts, metric: Metric): Distribution {
	const whole = facts.merged.get(metric)?.whole ?? EMPTY;
	return withoutSmallest(whole, receivedTwice(facts.collected, metric));
}

/** Lag per client in the window, for several clients; leaves out clients that measured nothing. */
export function lagByClient(facts: Facts) {
	return facts.collected.parts.flatMap((part) => {
		const merged = facts.lags.get(part.index);
		const { whole: distribution = EMPTY } = merged ?? {};
		if (merged === undefined || distribution.count === 0) return [];
		const { max } = sumsOf({ collected: part }, "lag");
		return [{ part, merged, sample: { ...allOf(distribution), max } }];
	});
}

/** Only samples with a value. */
export function allOf(distribution: Distribution): Sample {
	return { distribution, n: distribution.count, min: null, max: null };
}

/** Latencies that end with a receipt, possibly at another client. */
export const RECEIVES: ReadonlySet<Metric> = new Set(["response", "service", "last"]);

/** Service and queued contain no lag: subtracting it would make them too good. */
export function containsLag(metric: Metric): boolean {
	return metric !== "service" && metric !== "queued";
}

/** "client 1 (bench@10.0.0.11)", "client 1" */
export function clientName({ index, end }: ClientPart): string {
	return whoIs(index, end?.name ?? null);
}

/** A container counts as this host. */
export function isElsewhere({ end }: ClientPart): boolean {
	return end != null && isKindElsewhere(end.kind);
}

/** Removes the n smallest samples: it is unknown which to remove, and no percentile may profit from that. */
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

const HOUR_NS = 3600e9;

/** Reads logs again per client; most lines are of other metrics and are not decoded. */
function lagsOf(collected: Collected): Map<number, Merged> {
	if (collected.parts.length < 2) return new Map();
	const { startNs } = windowOf(collected);
	return new Map(
		collected.parts.flatMap(({ index, logs }) => {
			const lag = mergeLines(readLogs(logs, "lag"), startNs).get("lag");
			return lag ? [[index, lag] as const] : [];
		}),
	);
}
