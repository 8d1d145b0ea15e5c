import type { Collected } from "../evidence/collect.ts";
import { largestOf } from "../extremes.ts";
import { tail } from "../histogram/percentiles.ts";
import { isOfAnswer, type LatencySla, type Plan } from "../model/plan.ts";
import type { Failover } from "../model/result.ts";
import { type FaultDone, faultZeroNs } from "../model/run-file.ts";
import { needs, type Tally } from "../model/tallies.ts";
import { messagesBefore, offsetNs } from "../plan/offset.ts";
import { limitIndex } from "../plan/samples.ts";
import { formatDuration } from "../units.ts";
import { intervalNs, limitIntervals } from "./intervals.ts";
import { drainedOf, type FaultSpan, SAMPLES_PER_SECOND } from "./queue.ts";
import { meanRate } from "./rates.ts";

/**
 * What each fault did to the run, of those that were done. `line`: the latency that has to be met again; by default that of the first line
 * about `recovered`, else the first latency line.
 */
export function failoverOf(
	collected: Collected,
	line: LatencySla | undefined = lineOf(collected.plan),
): Failover[] {
	const faults = collected.run?.faults ?? [];
	const { warmupNs, durationNs } = collected.plan.schedule;
	const windowNs = warmupNs + durationNs;
	return faults.map(({ runOver: _, ...fault }, i) => {
		// Of a run that was stopped nobody knows what the rest would have been.
		if (fault.error !== null || collected.state !== "complete") return { ...fault, ...NOTHING };
		const next = faults[i + 1];
		const untilNs = Math.min(next ? faultZeroNs(next) : windowNs, windowNs);
		const span = { beganNs: faultZeroNs(fault), untilNs };
		const gap = { ...NOTHING, ...unavailable(collected, span, i) };
		const servedNs = (gap.unavailableFromNs ?? span.beganNs) + (gap.unavailableNs ?? 0);
		return {
			...fault,
			...gap,
			...recovered(collected, span, line),
			...drainedOf(collected, { ...span, servedNs }),
		};
	});
}

/** "kill of node 2 (the leader)", "pause", "latency of 50ms of node 1" */
export function faultName({
	action,
	node,
	leader,
	delayNs,
}: Pick<FaultDone, "action" | "node" | "leader" | "delayNs">): string {
	const one = leader ? " of the leader" : "";
	const who = node === null ? one : ` of node ${node}${leader ? " (the leader)" : ""}`;
	return `${action}${delayNs === null ? "" : ` of ${formatDuration(delayNs)}`}${who}`;
}

/** Completions are counted in pieces of so many ns: no stretch without them is known more exactly. */
export const BIN_NS = 10_000_000;

/** What an SLA line may ask of a fault. */
export type FaultFigure = Extract<Tally, "unavailable" | "recovered" | "drained">;

export function isFaultFigure(tally: Tally): tally is FaultFigure {
	return needs(tally, "faults");
}

/** A run whose broker was disturbed; a result has it, and so has a run that is judged. */
interface Disturbed {
	readonly failover: readonly Failover[];
	/** The end of the window, since T0. */
	readonly endNs: number;
}

/** One figure of one fault, ns. The true time lies between `leastNs` and `mostNs`, as it is counted in pieces. */
export interface FaultTime {
	readonly fault: Failover;
	readonly ns: number;
	readonly leastNs: number;
	/** Infinite: it had not ended when the window did, or the next fault began. */
	readonly mostNs: number;
	/** The next fault began before it had ended. */
	readonly cut: boolean;
}

/** The figure of each fault of a run that is complete, in their order; null: it is not known of all of them, or there are none. */
export function faultTimes(
	figure: FaultFigure,
	{ failover, endNs }: Disturbed,
): FaultTime[] | null {
	const times = failover.flatMap((fault, i) => {
		const next = failover[i + 1];
		const untilNs = next ? Math.min(faultZeroNs(next), endNs) : endNs;
		const restNs = Math.max(0, untilNs - faultZeroNs(fault));
		const time = TIMES[figure](fault, restNs);
		return time === null ? [] : [{ fault, ...time, cut: next !== undefined }];
	});
	return times.length === failover.length && times.length > 0 ? times : null;
}

/** Of a run the worst `unavailable` and `drained`, ns, where they are known of all its faults. `open`: of one of them it had not ended, so the true value is larger. */
export function worstOfFaults(
	disturbed: Disturbed,
): { figure: FaultFigure; ns: number; open: boolean }[] {
	return (["unavailable", "drained"] as const).flatMap((figure) => {
		const times = faultTimes(figure, disturbed);
		const open = times?.some((t) => t.mostNs === Infinity) ?? false;
		return times === null ? [] : [{ figure, ns: largestOf(times.map(({ ns }) => ns)), open }];
	});
}

// --- internal ---

/** What is not known, or was not. */
const NOTHING = {
	noticedNs: null,
	unavailableNs: null,
	unavailableFromNs: null,
	unavailableStill: false,
	sla: null,
	recoveredNs: null,
	drainedNs: null,
	drainedStill: false,
};

/**
 * The longest run of empty pieces of 10 ms after a fault, if longer than the load explains. Where it is known when the broker was told, what
 * comes after that has to be. It is cut where the next fault begins, and then known to be at least as long; in the last span it goes on until
 * something completes, in the drain too, if messages were still due when it began.
 */
function unavailable(
	{ plan, completions, run }: Collected,
	{ beganNs, untilNs }: FaultSpan,
	index: number,
): Partial<Failover> {
	const { schedule } = plan;
	if (completions === null || schedule.kind === "closed") return {};
	const last = untilNs >= schedule.warmupNs + schedule.durationNs;
	const began = Math.floor(beganNs / BIN_NS);
	const until = Math.ceil(untilNs / BIN_NS);
	const faults = run?.faults ?? [];
	const firstNs = faults[0] ? faultZeroNs(faults[0]) : beganNs;
	const gap = emptyInSchedule(plan, began, until);
	const explained = explainedBins(plan, completions, Math.floor(firstNs / BIN_NS), gap);
	const lastDue = Math.floor(offsetNs(schedule, schedule.messages - 1) / BIN_NS);
	const runs = emptyRuns(completions, until)
		.filter(({ from, to }) => to > began && from < until)
		.map(({ from, to }) => {
			// What an earlier fault has begun is told there.
			const start = index === 0 ? from : Math.max(from, began);
			const open = to >= completions.length;
			const on = last && !open && lastDue - start > explained;
			const end = on ? to : Math.min(to, until);
			const counts = faults[index]?.calledNs == null ? start : Math.max(start, began);
			const cut = last ? open : open || to > until;
			return { start, length: end - start, own: end - counts, cut };
		})
		.filter(({ own }) => own > explained);
	const noticedNs = (explained + 1) * BIN_NS;
	const [longest] = runs.toSorted((a, b) => b.length - a.length);
	if (longest === undefined) return { unavailableNs: 0, noticedNs };
	return {
		noticedNs,
		unavailableNs: longest.length * BIN_NS,
		unavailableFromNs: longest.start * BIN_NS,
		unavailableStill: last ? longest.cut : runs.some(({ cut }) => cut),
	};
}

/** Runs of empty pieces say nothing up to five times the longest before the first fault, or that the schedule leaves empty (`gap`); at least 40 ms. */
const SHORTEST_BINS = 4;
const FACTOR = 5;
/** With less window before the first fault, ten messages' distance. */
const KNOWN_NS = 1_000_000_000;
const MESSAGES = 10;

function explainedBins(
	plan: Plan,
	completions: ArrayLike<number>,
	first: number,
	gap: number,
): number {
	const opens = Math.ceil(plan.schedule.warmupNs / BIN_NS);
	const runs = emptyRuns(completions, first);
	const into = runs.find(({ to }) => to > first);
	if (((into?.from ?? first) - opens) * BIN_NS < KNOWN_NS) {
		const distanceNs = 1e9 / (meanRate(plan) ?? Number.POSITIVE_INFINITY);
		const far = Math.ceil((MESSAGES * distanceNs) / BIN_NS) - 1;
		return Math.max(SHORTEST_BINS, far, FACTOR * gap);
	}
	const before = runs
		.filter((one) => one !== into)
		.map(({ from, to }) => to - Math.max(from, opens));
	return Math.max(SHORTEST_BINS, FACTOR * Math.max(largestOf(before), gap));
}

/** The longest run of pieces in which a load of several rates means to send nothing; other loads are known by the part before. */
function emptyInSchedule(plan: Plan, from: number, to: number): number {
	if (plan.schedule.kind !== "stages") return 0;
	let [longest, current] = [0, 0];
	let before = messagesBefore(plan.schedule, from * BIN_NS);
	for (let i = from; i < to; i++) {
		const upTo = messagesBefore(plan.schedule, (i + 1) * BIN_NS);
		current = upTo === before ? current + 1 : 0;
		longest = Math.max(longest, current);
		before = upTo;
	}
	return longest;
}

/** Runs of empty pieces [from, to) that begin before `end`. What lies behind the last completion is empty, too, as far as `end`. */
function emptyRuns(completions: ArrayLike<number>, end: number): { from: number; to: number }[] {
	const runs: { from: number; to: number }[] = [];
	let from: number | null = null;
	const length = Math.max(completions.length, end);
	for (let i = 0; i < length; i++) {
		if ((completions[i] ?? 0) === 0) {
			if (from === null && i >= end) break;
			from ??= i;
		} else if (from !== null) {
			runs.push({ from, to: i });
			from = null;
		}
	}
	return from === null ? runs : [...runs, { from, to: length }];
}

function lineOf({ sla }: Plan): LatencySla | undefined {
	const asked = sla.flatMap((one) => (one.kind === "tally" && one.until ? [one.until] : []));
	return asked[0] ?? sla.find(isOfAnswer);
}

/**
 * Until the last piece of 100 ms of intended time in which more messages were over the limit of a latency line than it allows. null: there
 * is no such line, or the last piece of the span was still one of them.
 */
function recovered(
	collected: Collected,
	{ beganNs, untilNs }: FaultSpan,
	line: LatencySla | undefined,
): Partial<Failover> {
	const { plan } = collected;
	const { kind, warmupNs, durationNs } = plan.schedule;
	const k = line === undefined ? -1 : limitIndex(plan, line);
	if (line === undefined || k < 0 || kind === "closed") return {};
	const allowed = line.kind === "max" ? 0 : tail(line.percentile);
	const pieces = limitIntervals(collected, k)
		.map(({ n, over }, i) => {
			const endNs = warmupNs + Math.min((i + 1) * intervalNs(plan), durationNs);
			return { endNs, n, bad: over > n * allowed };
		})
		// The piece in which the next fault begins is that one's.
		.filter(({ endNs, n }) => endNs > beganNs && endNs <= untilNs && n > 0);
	const last = pieces.findLastIndex(({ bad }) => bad);
	const open = last === pieces.length - 1;
	const overNs = pieces[last]?.endNs ?? beganNs;
	return { sla: line.text, recoveredNs: open ? null : overNs - beganNs };
}

type Time = Pick<FaultTime, "ns" | "leastNs" | "mostNs">;

/** `restNs`: from the fault until the next one, or the end of the window. null: not known. */
const TIMES: Readonly<Record<FaultFigure, (fault: Failover, restNs: number) => Time | null>> = {
	unavailable: ({ unavailableNs: ns, unavailableStill, noticedNs }) => {
		if (ns === null || noticedNs === null) return null;
		// Completions around empty pieces lie anywhere in the piece before and the one behind.
		const mostNs = ns === 0 ? noticedNs + BIN_NS : ns + 2 * BIN_NS;
		return { ns, leastNs: ns, mostNs: unavailableStill ? Infinity : mostNs };
	},
	recovered: ({ sla, recoveredNs }, restNs) =>
		sla === null ? null : within(recoveredNs, intervalNs({}), restNs),
	drained: ({ drainedNs, drainedStill }, restNs) =>
		drainedNs === null && !drainedStill
			? null
			: within(drainedNs, 1e9 / SAMPLES_PER_SECOND, restNs),
};

/** What ends with a piece of time has ended somewhere within it; null: it has not by then. */
function within(ns: number | null, pieceNs: number, restNs: number): Time {
	return ns === null
		? { ns: restNs, leastNs: restNs, mostNs: Infinity }
		: { ns, leastNs: Math.max(0, ns - pieceNs), mostNs: ns };
}
