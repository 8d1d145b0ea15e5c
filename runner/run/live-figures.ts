import type { Plan } from "../model/plan.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, limitIndex, mainMetric, samplesPerMessage } from "../plan/samples.ts";
import { supportOf, tail } from "../stats/support.ts";
import { plainText } from "../terminal/columns.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration, ratePerSecond } from "../units.ts";
import type { ProgressLine, WindowSoFar } from "./progress-line.ts";

/** Of one client, or of several together (merge-progress.ts). */
export type Tick = Extract<ProgressLine, { mqbench: "tick" }> & OfSeveral;
/** When the window of a warm-up until steady opens, ns since T0. */
export interface Opens {
	readonly mqbench: "opens";
	readonly startNs: number;
}
export type End = Extract<ProgressLine, { mqbench: "end" }> & OfSeveral;

interface OfSeveral {
	/** Counts are of all these clients, percentiles and times each of the worst one. undefined: it is one client. */
	readonly merged?:
		| {
				readonly clients: number;
				/** Those that have not told of this second: their counts follow. */
				readonly silent: readonly number[];
				/** Messages in the window of the client that has fewest. */
				readonly fewest: number;
		  }
		| undefined;
}

/** Figures of a run that is under way, as words: what one line and many lines show alike. */

/** "warm-up", "measuring", the name of a step, "drain". */
export function phaseText(plan: Plan, tick: Tick): string {
	const { kind, warmupNs, durationNs } = plan.schedule;
	const atNs = tick.at * 1e9;
	// Closed loads open their window when the warm-up is back.
	if (kind === "closed") return tick.window ? "measuring" : "warm-up";
	if (atNs > warmupNs + durationNs) return "drain";
	if (atNs <= warmupNs) return "warm-up";
	// The part of the window that the second before belongs to.
	const sinceNs = atNs - warmupNs;
	return (
		plan.phases.find(({ fromNs, toNs }) => sinceNs > fromNs && sinceNs <= toNs)?.name ?? "measuring"
	);
}

/** Do consumers take nothing, as a backlog is built? */
function isPaused({ backlog }: Plan, { at }: Tick): boolean {
	return backlog !== null && at * 1e9 > backlog.pauseNs && at * 1e9 <= backlog.resumeNs;
}

/** "p50 60us", "p99 ~1.5ms" of the messages that were due in the last second; "~": few of them came back. */
export function lastSecond(plan: Plan, tick: Tick): string[] {
	if (tick.p50 !== null && tick.p99 !== null) {
		const back =
			(tick.metric === "ack" || plan.pattern === "publish" ? tick.acked : tick.received) ?? 0;
		// Of several clients the percentiles are one client's.
		const count = back / (tick.merged?.clients ?? 1);
		return [`p50 ${marked(tick.p50, 50, count)}`, `p99 ${marked(tick.p99, 99, count)}`];
	}
	return [isPaused(plan, tick) ? "consumers are paused" : "no answers yet"];
}

/** " (worst of 3 clients)" behind percentiles that are the worst client's; "" where there is one client. */
export function worstOf({ merged }: OfSeveral): string {
	return merged ? ` (worst of ${merged.clients} clients)` : "";
}

/** "client 2 is late"; null: all have told of this second. */
export function silentText({ merged }: OfSeveral): string | null {
	const silent = merged?.silent ?? [];
	if (silent.length === 0) return null;
	return silent.length === 1
		? `client ${silent[0]} is late`
		: `clients ${silent.join(", ")} are late`;
}

/**
 * "p99 1.4ms" of the window so far, of messages that are back; "~": few samples; "n/a": too few. `count`: what carries them, where
 * that is not all of the window's.
 */
export function soFar(
	{ p50, p99, p999, ...window }: WindowSoFar,
	percentiles: readonly number[],
	count: number = window.count,
): string[] {
	const values = new Map([
		[50, p50],
		[99, p99],
		[99.9, p999],
	]);
	return percentiles.map((p) =>
		supportOf(count, p) === "none" ? `p${p} n/a` : `p${p} ${marked(values.get(p) ?? 0, p, count)}`,
	);
}

/** "1.5ms", or "~1.5ms" where fewer samples stand behind it than it takes. */
function marked(ns: number, p: number, count: number): string {
	return `${supportOf(count, p) === "ok" ? "" : "~"}${formatDuration(ns)}`;
}

/** Messages per second that were due in the last second; null: a closed load has none due, or all have been. */
function offeredPerSecond(plan: Plan, { at }: Tick): number | null {
	const { schedule } = plan;
	const { kind, rate, warmupNs, durationNs } = schedule;
	if (kind === "closed" || rate === null) return null;
	if (at * 1e9 > warmupNs + durationNs) return null;
	return kind === "stages"
		? messagesBefore(schedule, at * 1e9) - messagesBefore(schedule, (at - 1) * 1e9)
		: ratePerSecond(rate);
}

/** Messages a second, each with its name: "sent", of a schedule "offered" before it, then those acknowledged or received. */
export function rates(
	plan: Plan,
	tick: Tick,
): readonly (readonly [name: string, perSecond: number])[] {
	const offered = offeredPerSecond(plan, tick);
	const received = plan.pattern === "fan-out" ? "copies received" : "received";
	const acks = plan.pattern === "publish" || plan.pattern === "backlog";
	return [
		...(offered === null ? [] : [["offered", offered] as const]),
		["sent", tick.sent],
		...(acks && typeof tick.acked === "number" ? [["acked", tick.acked] as const] : []),
		...(plan.pattern === "publish" ? [] : [[received, tick.received] as const]),
	];
}

/** "p99 < 20ms: 3 over, 300 allowed" for each latency line of the SLA, nearest to its limit first; of several systems with its name. */
export function limits(
	{ plan, several }: { readonly plan: Plan; readonly several: boolean },
	{ over }: Tick,
): { readonly text: string; readonly broken: boolean }[] {
	return plan.sla
		.flatMap((sla) => {
			const k = limitIndex(plan, sla);
			if (sla.kind === "tally" || k < 0) return [];
			const n = intendedInWindow(plan) * samplesPerMessage(plan, sla.metric);
			const allowed = sla.kind === "max" ? 0 : Math.floor(n * tail(sla.percentile) + 1e-9);
			const count = over[k] ?? 0;
			const broken = count > allowed;
			const line = `${sla.text}${several ? ` (${plan.system})` : ""}`;
			return [
				{
					share: count / Math.max(0.5, allowed),
					broken,
					text: `${plainText(line)}: ${formatCount(count)} over, ${formatCount(allowed)} allowed${broken ? ": TOO MANY" : ""}`,
				},
			];
		})
		.sort((a, b) => b.share - a.share);
}

/** What the window came to, once all of it is there: "response of 45 000 messages: p50 60us, ..."; null: nobody said. */
export function endText(plan: Plan, end: End): string | null {
	const { window } = end;
	if (!window || end.state !== "complete") return null;
	const metric = end.metric ?? mainMetric(plan);
	const due = intendedInWindow(plan) * samplesPerMessage(plan, metric);
	// Percentiles of those that came would flatter a run in which some did not.
	if (window.count < due)
		return `${formatCount(window.count)} of ${formatCount(due)} messages have a ${metric} time`;
	// Nor are percentiles of each client those of all: the report has them.
	if (end.merged)
		return `all ${formatCount(window.count)} messages of ${end.merged.clients} clients have a ${metric} time`;
	const lag =
		typeof end.windowLagP99 === "number" ? `; lag p99 ${formatDuration(end.windowLagP99)}` : "";
	return `${metric} of ${formatCount(window.count)} messages: ${[...soFar(window, [50, 99, 99.9]), `max ${formatDuration(window.max)}`].join(", ")}${lag}`;
}

/** "drain 3s of at most 30s"; once it is over, what is waited for then. */
export function drainText({ drainNs }: Plan, ns: number): string {
	return ns > drainNs
		? tell("drain-over", { drain: waitText(drainNs) })
		: `drain ${waitText(ns)} of at most ${waitText(drainNs)}`;
}

/** "8s", "3min 40s", "1h 5min": as long as a person has to wait. */
export function waitText(ns: number): string {
	const seconds = Math.max(0, Math.round(ns / 1e9));
	if (seconds < 60) return `${seconds}s`;
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes}min${seconds % 60 === 0 ? "" : ` ${seconds % 60}s`}`;
	return `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? "" : ` ${minutes % 60}min`}`;
}
