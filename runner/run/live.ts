import { largestOf } from "../extremes.ts";
import type { Plan } from "../model/plan.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, limitIndex, mainMetric, samplesPerMessage } from "../plan/samples.ts";
import { supportOf, tail } from "../stats/support.ts";
import { plainText } from "../terminal/columns.ts";
import { wrap } from "../terminal/wrap.ts";
import { formatCount, formatDuration, ratePerSecond } from "../units.ts";
import type { End, Tick, WindowSoFar } from "./progress-line.ts";

/** A run that is under way, in words: time left, rates, response so far, and the SLA's budget. */

export interface LiveRun {
	readonly plan: Plan;
	/** "run 1 of 2" */
	readonly which: string;
	readonly tick: Tick;
	/** Messages sent so far, warm-up included. */
	readonly sent: number;
	/** ns that the runs after this one take; 0: none follows, null: nobody knows. */
	readonly followingNs: number | null;
	readonly stopping: boolean;
}

/** A label and what stands behind it, part by part. */
export type LiveRow = readonly [label: string, parts: readonly string[]];

export function liveRows(live: LiveRun): LiveRow[] {
	const { plan, tick } = live;
	const [budget] = budgets(plan, tick);
	return [
		["time", timeParts(live)],
		["rate", rateParts(live)],
		[metricOf(plan, tick), soFar(tick)],
		...(budget === undefined ? [] : [["SLA", [budget.text]] as const]),
		...trouble(tick).map((text): LiveRow => ["ERROR", [text]]),
	];
}

/** What a terminal shows of it: four rows, broken where it is narrow. */
export function liveLines(live: LiveRun, width: number): string[] {
	const rows = liveRows(live);
	const labels = largestOf(rows.map(([label]) => label.length));
	return rows.flatMap(([label, parts]) =>
		wrap(parts.join(", "), width, " ".repeat(labels + 4), `  ${label.padEnd(labels)}  `),
	);
}

/** A second of it as one line, for logs: "  7s/15s measuring  sent 3 000/s  received 3 000/s  response p50 60us, p99 1.5ms, max 9ms". */
export function plainLine(live: LiveRun): string {
	const { plan, tick, stopping } = live;
	const { kind, warmupNs, durationNs } = plan.schedule;
	const [atNs, endNs] = [tick.at * 1e9, warmupNs + durationNs];
	const time = stopping
		? `${formatDuration(atNs)} stopping`
		: kind === "closed"
			? formatDuration(atNs)
			: atNs > endNs
				? drainText(plan, atNs - endNs)
				: `${formatDuration(atNs)}/${formatDuration(endNs)} ${phaseText(plan, tick)}`;
	return `  ${[
		time,
		...rateParts(live, "plain"),
		tick.window ? `${metricOf(plan, tick)} ${soFar(tick).join(", ")}` : soFar(tick).join(),
		...budgets(plan, tick).flatMap(({ text, broken }) => (broken ? [text] : [])),
		...trouble(tick),
	].join("  ")}`;
}

/** Every how many seconds such a line is worth it: a log of an hour is read by nobody. */
export function plainEvery({ schedule }: Plan): number {
	const seconds = (schedule.warmupNs + schedule.durationNs) / 1e9;
	if (seconds <= 60 || schedule.kind === "closed") return 1;
	return seconds <= 600 ? 5 : 30;
}

/** What the window came to, once all of it is there: "response of 45 000 messages: p50 60us, ..."; null: nobody said. */
export function endText(plan: Plan, end: End): string | null {
	const { window } = end;
	if (!window || end.state !== "complete") return null;
	const metric = metricOf(plan, end);
	const count = formatCount(window.count);
	const due = intendedInWindow(plan) * samplesPerMessage(plan, metric);
	// Percentiles of those that came would flatter a run in which some did not.
	if (window.count < due) return `${count} of ${formatCount(due)} messages have a ${metric} time`;
	// Nor are percentiles of each client those of all: the report has them.
	return end.merged
		? `all ${count} messages of ${end.merged.clients} clients have a ${metric} time`
		: `${metric} of ${count} messages: ${percentiles(window, window.count).join(", ")}`;
}

// --- internal ---

function metricOf(plan: Plan, { metric }: Tick | End) {
	return metric ?? mainMetric(plan);
}

function timeParts({ plan, which, tick, sent, followingNs, stopping }: LiveRun): string[] {
	const { kind, warmupNs, durationNs, messages } = plan.schedule;
	// Who has stopped it waits neither for the end of the schedule nor for a whole drain.
	if (stopping) return ["stopping: waiting for the last results"];
	const atNs = tick.at * 1e9;
	const leftNs = warmupNs + durationNs - atNs;
	const phase = phaseText(plan, tick);
	const time =
		kind === "closed"
			? `${phase}, ${waitText(atNs)}: ${formatCount(sent)} of ${formatCount(messages)} messages sent${sent > 0 && sent < messages ? `, about ${waitText((atNs * (messages - sent)) / sent)} left` : ""}`
			: leftNs < 0
				? drainText(plan, -leftNs)
				: `${waitText(leftNs)} left of ${waitText(atNs + leftNs)} (${phase})`;
	const inAll =
		followingNs && kind !== "closed"
			? [`about ${waitText(Math.max(0, leftNs) + followingNs)} in all`]
			: [];
	return [time, ...(which === "" ? [] : [which]), ...inAll];
}

/** "warm-up", "measuring", the name of a step, "drain". */
function phaseText(plan: Plan, tick: Tick): string {
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

/** Messages a second, each with its name; what failed since the start, if anything did. */
function rateParts({ plan, tick }: LiveRun, where: "rows" | "plain" = "rows"): string[] {
	const scheduled = where === "rows" ? scheduledPerSecond(plan, tick) : null;
	const acks = plan.pattern === "publish" || plan.pattern === "backlog";
	const received = plan.pattern === "fan-out" ? "copies received" : "received";
	const rates = [
		["scheduled", scheduled],
		["sent", tick.sent],
		["acked", acks ? (tick.acked ?? null) : null],
		[received, plan.pattern === "publish" ? null : tick.received],
	] as const;
	return [
		...rates.flatMap(([name, n]) => (n === null ? [] : [`${name} ${formatCount(n)}/s`])),
		...(tick.failed > 0 ? [`failed ${formatCount(tick.failed)}`] : []),
	];
}

/** Messages that were due in the last second; null: a closed load has none due, or all have been. */
function scheduledPerSecond({ schedule }: Plan, { at }: Tick): number | null {
	const { kind, rate, warmupNs, durationNs } = schedule;
	if (kind === "closed" || rate === null || at * 1e9 > warmupNs + durationNs) return null;
	return kind === "stages"
		? messagesBefore(schedule, at * 1e9) - messagesBefore(schedule, (at - 1) * 1e9)
		: ratePerSecond(rate);
}

/** "p50 61us", "p99 1.4ms", "max 12ms" of the messages of the window that are back; of several clients the worst client's. */
function soFar({ window, merged }: Tick): string[] {
	if (!window) return ["nothing of the window yet"];
	const texts = percentiles(window, merged?.fewest ?? window.count);
	return merged ? [...texts, `worst of ${merged.clients} clients`] : texts;
}

/** "~": few samples; "n/a": too few. `count`: what carries the percentiles. */
function percentiles({ p50, p99, max }: WindowSoFar, count: number): string[] {
	const marked = (p: number, ns: number) => {
		const support = supportOf(count, p);
		if (support === "none") return `p${p} n/a`;
		return `p${p} ${support === "ok" ? "" : "~"}${formatDuration(ns)}`;
	};
	return [marked(50, p50), marked(99, p99), `max ${formatDuration(max)}`];
}

/** For each latency line of the SLA how many messages may still take longer than its limit, nearest to its limit first. */
function budgets(
	plan: Plan,
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
			const budget = broken
				? `${formatCount(count)} over, ${formatCount(allowed)} allowed: TOO MANY`
				: allowed === 0
					? "none may take longer"
					: `${formatCount(allowed - count)} of ${formatCount(allowed)} may still take longer`;
			return [
				{
					share: count / Math.max(0.5, allowed),
					broken,
					text: `${plainText(sla.text)}: ${budget}`,
				},
			];
		})
		.sort((a, b) => b.share - a.share);
}

function trouble({ error }: Tick): string[] {
	return error ? [`CANNOT WRITE RESULTS: ${plainText(error)}`] : [];
}

/** "drain 3s of at most 30s"; once it is over, what is waited for then. */
function drainText({ drainNs }: Plan, ns: number): string {
	return ns > drainNs
		? `the drain (${waitText(drainNs)}) is over, waiting for the last results`
		: `drain ${waitText(ns)} of at most ${waitText(drainNs)}`;
}

/** "8s", "3min 40s", "1h 5min": as long as a person has to wait. */
function waitText(ns: number): string {
	const seconds = Math.max(0, Math.round(ns / 1e9));
	if (seconds < 60) return `${seconds}s`;
	const minutes = Math.floor(seconds / 60);
	if (minutes < 60) return `${minutes}min${seconds % 60 === 0 ? "" : ` ${seconds % 60}s`}`;
	return `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? "" : ` ${minutes % 60}min`}`;
}
