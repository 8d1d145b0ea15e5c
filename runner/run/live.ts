import { largestOf } from "../extremes.ts";
import type { Plan } from "../model/plan.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, limitIndex, samplesPerMessage } from "../plan/samples.ts";
import { supportOf, tail } from "../stats/support.ts";
import { plainText } from "../terminal/columns.ts";
import { wrap } from "../terminal/wrap.ts";
import { formatCount, formatDuration } from "../units.ts";
import type { End, Tick, WindowSoFar } from "./progress-line.ts";

export interface LiveRun {
	readonly plan: Plan;
	readonly tick: Tick;
	/** Messages so far, warm-up included. */
	readonly sent: number;
	/** The last second of each load beside it. */
	readonly beside?: ReadonlyMap<string, Tick>;
	readonly stopping: boolean;
}

export type LiveRow = readonly [label: string, parts: readonly string[]];

export function liveRows(live: LiveRun): LiveRow[] {
	const { plan, tick } = live;
	const budget = budgetText(plan, tick);
	return [
		["time", timeParts(live)],
		["rate", rateParts(plan, tick)],
		[tick.metric, soFar(tick)],
		...(budget === null ? [] : [["SLA", [budget]] as const]),
		...[...(live.beside ?? [])].map(([load, own]) => [load, besideParts(own)] as const),
		...(tick.error ? [["ERROR", errorParts(tick)] as const] : []),
	];
}

export function liveLines(live: LiveRun, width: number): string[] {
	const rows = liveRows(live);
	const labels = largestOf(rows.map(([label]) => label.length));
	return rows.flatMap(([label, parts]) =>
		wrap(parts.join(", "), width, " ".repeat(labels + 4), `  ${label.padEnd(labels)}  `),
	);
}

/** One line for logs: "  7s/15s measuring, 8s left; sent 3 000/s, received 3 000/s; response p50 60us, p99 1.5ms, max 9ms". */
export function plainLine(live: LiveRun): string {
	const texts = liveRows(live).map(
		([label, parts], i) => `${i < 2 ? "" : `${label} `}${parts.join(", ")}`,
	);
	return `  ${texts.join("; ")}`;
}

/** Seconds between two such lines, to keep the log of an hour readable. */
export function plainEvery({ schedule }: Plan): number {
	const seconds = (schedule.warmupNs + schedule.durationNs) / 1e9;
	if (seconds <= 60 || schedule.kind === "closed") return 1;
	return seconds <= 600 ? 5 : 30;
}

/** The result of a complete window: "response of 45 000 messages: p50 60us, ...". */
export function endText(plan: Plan, { window, metric, state }: End): string | null {
	if (!window || state !== "complete") return null;
	const count = formatCount(window.count);
	const due = intendedInWindow(plan) * samplesPerMessage(plan, metric);
	// If some messages are missing, percentiles would flatter the run. The report has them.
	return window.count < due
		? `${count} of ${formatCount(due)} messages have a ${metric} time`
		: `${metric} of ${count} messages: ${percentiles(window, window.count).join(", ")}`;
}

// --- internal ---

function timeParts({ plan, tick, sent, stopping }: LiveRun): string[] {
	const { kind, warmupNs, durationNs, messages } = plan.schedule;
	const atNs = tick.at * 1e9;
	const endNs = warmupNs + durationNs;
	const at = formatDuration(atNs);
	// Stopping waits neither for the end of the schedule nor for the whole drain.
	if (stopping) return [`${at} stopping: waiting for the last results`];
	const phase = phaseText(plan, tick);
	if (kind === "closed")
		return [
			`${at} ${phase}`,
			`${formatCount(sent)} of ${formatCount(messages)} messages sent`,
			...(sent > 0 && sent < messages
				? [`about ${waitText((atNs * (messages - sent)) / sent)} left`]
				: []),
		];
	if (atNs <= endNs)
		return [`${at}/${formatDuration(endNs)} ${phase}`, `${waitText(endNs - atNs)} left`];
	if (tick.sent > 0) return [`${at} sending the last of ${formatCount(messages)} messages`];
	return atNs - endNs > plan.drainNs
		? [`the drain (${waitText(plan.drainNs)}) is over, waiting for the last results`]
		: [`drain ${waitText(atNs - endNs)} of at most ${waitText(plan.drainNs)}`];
}

function phaseText(plan: Plan, tick: Tick): string {
	const { kind, warmupNs } = plan.schedule;
	const atNs = tick.at * 1e9;
	// Closed loads open their window when the warm-up messages have completed.
	if (kind === "closed") return tick.window ? "measuring" : "warm-up";
	if (atNs <= warmupNs) return "warm-up";
	const sinceNs = atNs - warmupNs;
	const phase = plan.phases.find(({ fromNs, toNs }) => sinceNs > fromNs && sinceNs <= toNs);
	return phase?.name ?? "measuring";
}

function rateParts({ pattern, schedule }: Plan, tick: Tick): string[] {
	const atNs = tick.at * 1e9;
	const due =
		schedule.kind === "closed" || atNs > schedule.warmupNs + schedule.durationNs
			? null
			: messagesBefore(schedule, atNs) - messagesBefore(schedule, atNs - 1e9);
	const acks = pattern === "publish" || pattern === "backlog";
	const rates = [
		["scheduled", due],
		["sent", tick.sent],
		["acked", acks ? tick.acked : null],
		[
			pattern === "fan-out" ? "copies received" : "received",
			pattern === "publish" ? null : tick.received,
		],
	] as const;
	return [
		...rates.flatMap(([name, n]) => (n === null ? [] : [`${name} ${formatCount(n)}/s`])),
		...(tick.failed > 0 ? [`failed ${formatCount(tick.failed)}`] : []),
	];
}

function besideParts(tick: Tick): string[] {
	const rates = [`sent ${formatCount(tick.sent)}/s`, `received ${formatCount(tick.received)}/s`];
	const times = tick.window ? [`${tick.metric} ${soFar(tick).join(", ")}`] : [];
	return [...rates, ...times, ...errorParts(tick)];
}

function errorParts({ error }: Tick): string[] {
	return error ? [`CANNOT WRITE RESULTS: ${plainText(error)}`] : [];
}

/** "p50 61us", "p99 1.4ms", "max 12ms" of the window so far; with several clients, the worst client's. */
function soFar({ window, merged }: Tick): string[] {
	if (!window) return ["nothing of the window yet"];
	const texts = percentiles(window, merged?.fewest ?? window.count);
	return merged ? [...texts, `worst of ${merged.clients} clients`] : texts;
}

/** "~" marks few samples, "n/a" too few. `count`: the number of samples behind the percentiles. */
function percentiles({ p50, p99, max }: WindowSoFar, count: number): string[] {
	const marked = (p: number, ns: number) => {
		const support = supportOf(count, p);
		if (support === "none") return `p${p} n/a`;
		return `p${p} ${support === "ok" ? "" : "~"}${formatDuration(ns)}`;
	};
	return [marked(50, p50), marked(99, p99), `max ${formatDuration(max)}`];
}

/** How many messages exceed the SLA's latency limit that is nearest to breaking. */
function budgetText(plan: Plan, { over }: Tick): string | null {
	const lines = plan.sla.flatMap((sla) => {
		const k = limitIndex(plan, sla);
		if (sla.kind === "tally" || k < 0) return [];
		const n = intendedInWindow(plan) * samplesPerMessage(plan, sla.metric);
		const allowed = sla.kind === "max" ? 0 : Math.floor(n * tail(sla.percentile) + 1e-9);
		return [{ text: plainText(sla.text), count: over[k] ?? 0, allowed }];
	});
	const share = ({ count, allowed }: (typeof lines)[number]) => count / Math.max(0.5, allowed);
	const [nearest] = lines.sort((a, b) => share(b) - share(a));
	if (nearest === undefined) return null;
	const { text, count, allowed } = nearest;
	return `${text}: ${formatCount(count)} over, ${formatCount(allowed)} allowed`;
}

function waitText(ns: number): string {
	return formatDuration(Math.max(0, Math.round(ns / 1e9)) * 1e9);
}
