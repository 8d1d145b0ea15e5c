import { largestOf, smallestOf } from "../extremes.ts";
import type { Plan } from "../model/plan.ts";
import { mainMetric } from "../plan/samples.ts";
import { displayWidth, plainText } from "../terminal/columns.ts";
import { sparkline } from "../terminal/sparkline.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration } from "../units.ts";
import {
	drainText,
	lastSecond,
	limits,
	phaseText,
	rates,
	silentText,
	soFar,
	type Tick,
	waitText,
	worstOf,
} from "./live-figures.ts";
import { coresInUse, type Use } from "./resource-use.ts";

/** A run that is under way. */
export interface LiveRun {
	readonly plan: Plan;
	/** The command has other systems as well. */
	readonly several: boolean;
	readonly tick: Tick;
	/** p99 of each second so far, ns; null: nothing came back. */
	readonly p99s: readonly (number | null)[];
	/** Messages sent so far, warm-up included. */
	readonly sent: number;
	/** Runs that follow, and how long they will take, ns; null: nobody knows. */
	readonly following: { readonly runs: number; readonly ns: number | null };
	readonly stopping: boolean;
	/** What processes of this machine used between the last two samples; null: not known. */
	readonly use: Use | null;
}

/** A label and what stands behind it, part by part. */
export type LiveRow = readonly [label: string, parts: readonly string[]];

/** What a person sees of it on a terminal: a few lines, none wider than `width` columns. */
export function liveLines(
	live: LiveRun,
	{ width, unicode }: { width: number; unicode: boolean },
): string[] {
	const whose = live.tick.merged ? " (worst)" : "";
	const rows = [...figures(live), ...spark(live.p99s, width, unicode, whose), ...trouble(live)];
	const labels = largestOf(rows.map(([label]) => label.length));
	return rows.flatMap(([label, parts]) => flow(label.padEnd(labels), parts, width));
}

/** The same for who draws p99 by second otherwise. A row without a label goes on with the one above. */
export function liveRows(live: LiveRun): LiveRow[] {
	return [...figures(live), ...trouble(live)];
}

// --- internal ---

const MOST_LIMITS = 3;

function figures(live: LiveRun): LiveRow[] {
	const { plan, tick } = live;
	const { window } = tick;
	const metric = tick.metric ?? mainMetric(plan);
	const lag = [
		...(typeof tick.windowLagP99 === "number"
			? [`p99 ${formatDuration(tick.windowLagP99)} so far`]
			: []),
		...(typeof tick.lagP99 === "number" ? [`${formatDuration(tick.lagP99)} last second`] : []),
	];
	const silent = silentText(tick);
	return [
		["time", [timeText(live), ...followingText(live)]],
		[
			"rate",
			[
				...rates(plan, tick).map(([name, n]) => `${name} ${formatCount(n)}/s`),
				...(silent === null ? [] : [silent]),
			],
		],
		[
			metric,
			window
				? [
						...together(soFar(window, [50, 99, 99.9], tick.merged?.fewest), worstOf(tick)),
						`max ${formatDuration(window.max)}`,
						`of ${formatCount(window.count)} so far`,
					]
				: [tell("window-not-yet")],
		],
		[
			"",
			["last second:", ...together(lastSecond(plan, tick), tick.p99 === null ? "" : worstOf(tick))],
		],
		...(lag.length === 0 ? [] : [["lag", [`${lag.join(", ")}${worstOf(tick)}`]] as const]),
		[
			plan.backlog === null ? "in flight" : "waiting",
			[
				formatCount(tick.inFlight),
				...(tick.held ? [`held by the library ${formatCount(tick.held)}`] : []),
				`failed ${formatCount(tick.failed)}`,
				`duplicated ${formatCount(tick.duplicated)}`,
			],
		],
		...cores(live.use),
		...limits(live, tick)
			.slice(0, MOST_LIMITS)
			.map(({ text }, i): LiveRow => [i === 0 ? "SLA" : "", [text]]),
	];
}

function cores(use: Use | null): LiveRow[] {
	const parts = coresInUse(use).map(([name, n]) => `${name} ${n.toFixed(2)}`);
	return parts.length === 0 ? [] : [["cores", parts]];
}

function trouble({ tick }: LiveRun): LiveRow[] {
	return tick.error ? [["", [`CANNOT WRITE RESULTS: ${plainText(tick.error)}`]]] : [];
}

function timeText({ plan, tick, sent, stopping }: LiveRun): string {
	const { kind, warmupNs, durationNs, messages } = plan.schedule;
	const atNs = tick.at * 1e9;
	// Who has stopped it waits neither for the end of the schedule nor for a whole drain.
	if (stopping) return tell("stopping-live");
	const phase = phaseText(plan, tick);
	if (kind === "closed") {
		const left =
			sent > 0 && sent < messages
				? `, about ${waitText((atNs * (messages - sent)) / sent)} left`
				: "";
		return `${phase}, ${waitText(atNs)}: ${formatCount(sent)} of ${formatCount(messages)} messages sent${left}`;
	}
	const endNs = warmupNs + durationNs;
	return atNs > endNs
		? drainText(plan, atNs - endNs)
		: `${phase}, ${waitText(atNs)} of ${waitText(endNs)}, ${waitText(endNs - atNs)} left`;
}

function followingText({ plan, tick, following, stopping }: LiveRun): string[] {
	const { runs, ns } = following;
	if (stopping) return [];
	if (plan.search) return ["a search: more runs follow"];
	if (runs === 0) return [];
	const { kind, warmupNs, durationNs } = plan.schedule;
	const more = `${runs} more ${runs === 1 ? "run" : "runs"}`;
	if (ns === null || kind === "closed") return [`then ${more}`];
	const ownNs = Math.max(0, warmupNs + durationNs - tick.at * 1e9);
	return [`then ${more}: about ${waitText(ownNs + ns)} in all`];
}

function spark(
	p99s: readonly (number | null)[],
	width: number,
	unicode: boolean,
	whose: string,
): LiveRow[] {
	// A minute at most: older seconds are in the figures above.
	const last = p99s.slice(-60);
	const known = last.filter((v) => v !== null);
	if (!unicode || known.length < 2) return [];
	const scale = `${formatDuration(smallestOf(known))} to ${formatDuration(largestOf(known))}${whose}`;
	const room = Math.min(60, width - scale.length - 16);
	return [["p99 by s", [sparkline(last, room), scale]]];
}

/** The last of some parts with a few words more. */
function together(parts: readonly string[], words: string): string[] {
	return parts.map((part, i) => (i === parts.length - 1 ? `${part}${words}` : part));
}

/** Parts beside each other after their label, on as many lines as it takes. */
function flow(label: string, parts: readonly string[], width: number): string[] {
	const lines: string[] = [];
	let line = `  ${label}`;
	let empty = true;
	for (const part of parts) {
		if (!empty && displayWidth(line) + 2 + displayWidth(part) > width) {
			lines.push(line);
			line = `  ${" ".repeat(label.length)}`;
			empty = true;
		}
		line = `${line}  ${part}`;
		empty = false;
	}
	return [...lines, line].map((one) => one.trimEnd());
}
