import type { Collected } from "../evidence/collect.ts";
import { faultsDone } from "../evidence/members.ts";
import { largestOf } from "../extremes.ts";
import { tail } from "../histogram/percentiles.ts";
import { CATCH_UP } from "../model/load.ts";
import { isOfAnswer, type LatencySla, type Plan } from "../model/plan.ts";
import type { Failover } from "../model/result.ts";
import { type FaultDone, faultZeroNs } from "../model/run-file.ts";
import { needs, type Tally } from "../model/tallies.ts";
import { messagesBefore, offsetNs } from "../plan/offset.ts";
import { limitIndex } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import { formatDuration, plural } from "../units.ts";
import { intervalNs, limitIntervals } from "./intervals.ts";
import { drainedOf, type FaultSpan, SAMPLES_PER_SECOND } from "./queue.ts";
import { meanRate } from "./rates.ts";

/** `line`: the latency to meet again, by default from the first line about `recovered`, else the first latency line. */
export function failoverOf(
	collected: Collected,
	line: LatencySla | undefined = lineOf(collected.plan),
): Failover[] {
	// A catch-up is behind in any case.
	const faults = collected.plan.pattern === CATCH_UP ? [] : faultsDone(collected);
	const { warmupNs, durationNs } = collected.plan.schedule;
	const windowNs = warmupNs + durationNs;
	return faults.map(({ runOver: _, fault: place, ...fault }, i) => {
		// The rest of a stopped run is unknown.
		if (fault.error !== null || collected.state !== "complete") return { ...fault, ...NOTHING };
		const next = faults[i + 1];
		const untilNs = Math.min(next ? faultZeroNs(next) : windowNs, windowNs);
		const span = { beganNs: faultZeroNs(fault), untilNs };
		// The next fault may delay messages that had kept to the limit so far.
		const judgedNs = next && line ? Math.min(windowNs, faultZeroNs(next) - line.limitNs) : untilNs;
		const gap = { ...NOTHING, ...unavailable(collected, span, i) };
		const resumedNs = (gap.unavailableFromNs ?? span.beganNs) + (gap.unavailableNs ?? 0);
		return {
			...fault,
			...gap,
			...recovered(collected, { ...span, untilNs: judgedNs }, line),
			...drainedOf(collected, { ...span, resumedNs }),
			...(place === undefined ? {} : served(collected, place, span.beganNs)),
		};
	});
}

/** "kill of node 2 (the leader)", "pause", "latency of 50ms of node 1", "kill of 2 consumers" */
export function faultName({ of, action, count, node, leader, delayNs }: Named): string {
	if (of === "consumers") return `${action} of ${plural(count ?? 1, "consumer")}`;
	const one = leader ? " of the leader" : "";
	const who = node === null ? one : ` of node ${node}${leader ? " (the leader)" : ""}`;
	return `${action}${delayNs === null ? "" : ` of ${formatDuration(delayNs)}`}${who}`;
}

/** 100 ms intervals whose messages a fault may have delayed: from the limit before it until all is served and drained, or its end if the queue never drains. */
export function disturbedIn(collected: Collected, limitNs: number) {
	const { warmupNs, durationNs } = collected.plan.schedule;
	const eachNs = intervalNs(collected.plan);
	const done = failoverOf(collected).filter(({ error }) => error === null);
	const intervals = new Map<number, number>();
	for (const fault of done) {
		const beganNs = faultZeroNs(fault);
		const untilNs = Math.max(
			fault.endedNs ?? Number.POSITIVE_INFINITY,
			(fault.unavailableFromNs ?? 0) + (fault.unavailableNs ?? 0),
			beganNs + (fault.drainedNs ?? 0),
		);
		const first = Math.max(0, Math.floor((beganNs - limitNs - warmupNs) / eachNs));
		const endNs = Math.min(untilNs - warmupNs, durationNs);
		for (let i = first; i * eachNs < endNs; i++) intervals.set(i, 1);
	}
	return { faults: done.map(faultName), intervals, share: (intervals.size * eachNs) / durationNs };
}

/** Resolution of completion counts, in ns. */
export const BIN_NS = 10_000_000;
export type FaultFigure = Extract<Tally, "unavailable" | "recovered" | "drained" | "served">;

export function isFaultFigure(tally: Tally): tally is FaultFigure {
	return needs(tally, "faults");
}

/** `cut`: the next fault began first. */
export interface FaultTime extends Time {
	readonly fault: Failover;
	readonly cut: boolean;
}

/** The figure of each fault of a complete run, in order; null if one is unknown or there are none. */
export function faultTimes(
	figure: FaultFigure,
	/** `endNs`: of the window, since T0. */
	{ failover, endNs }: { readonly failover: readonly Failover[]; readonly endNs: number },
): FaultTime[] | null {
	const asked = failover.filter(({ of }) => figure !== "served" || of === "consumers");
	const times = failover.flatMap((fault, i) => {
		if (!asked.includes(fault)) return [];
		const next = failover[i + 1];
		const untilNs = next ? Math.min(faultZeroNs(next), endNs) : endNs;
		const restNs = Math.max(0, untilNs - faultZeroNs(fault));
		const time = TIMES[figure](fault, restNs);
		return time === null ? [] : [{ fault, ...time, cut: next !== undefined }];
	});
	return times.length === asked.length && times.length > 0 ? times : null;
}

/** The run's worst `unavailable` and `drained` in ns, if measured for all faults. `open`: one had not ended; the true value is larger. */
export function worstOfFaults(disturbed: Parameters<typeof faultTimes>[1]) {
	return (["unavailable", "drained"] as const).flatMap((figure) => {
		const times = faultTimes(figure, disturbed);
		const open = times?.some((t) => t.mostNs === Infinity) ?? false;
		return times === null ? [] : [{ figure, ns: largestOf(times.map(({ ns }) => ns)), open }];
	});
}

// --- internal ---

type Named = Pick<FaultDone, "of" | "action" | "count" | "node" | "leader" | "delayNs">;

const NOTHING = {
	noticedNs: null,
	unavailableNs: null,
	unavailableFromNs: null,
	unavailableStill: false,
	sla: null,
	recoveredNs: null,
	drainedNs: null,
	drainedStill: false,
	servedNs: null,
	servedStill: false,
	again: null,
};

/** The longest run of empty 10 ms pieces that the load does not explain, cut by the next fault; the last one may end in the drain. */
function unavailable(
	collected: Collected,
	{ beganNs, untilNs }: FaultSpan,
	index: number,
): Partial<Failover> {
	const { plan, completions } = collected;
	const faults = faultsDone(collected);
	const { schedule } = plan;
	if (completions === null || schedule.kind === "closed") return {};
	const last = untilNs >= schedule.warmupNs + schedule.durationNs;
	const began = Math.floor(beganNs / BIN_NS);
	const until = Math.ceil(untilNs / BIN_NS);
	const firstNs = faults[0] ? faultZeroNs(faults[0]) : beganNs;
	const gap = emptyInSchedule(plan, began, until);
	const explained = explainedBins(plan, completions, Math.floor(firstNs / BIN_NS), gap);
	const lastDue = Math.floor(offsetNs(schedule, schedule.messages - 1) / BIN_NS);
	const runs = emptyRuns(completions, until)
		.filter(({ from, to }) => to > began && from < until)
		.map(({ from, to }) => {
			// The part that began under an earlier fault belongs to that fault.
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

/** Time until the last receipt of a message that was due before. One that was lost is never received; others failed, or are unknown. */
function served(
	{ plan, members, counters }: Collected,
	fault: number,
	beganNs: number,
): Partial<Failover> {
	const atNs = plan.faults[fault]?.atNs ?? 0;
	if (members.length === 0) return {};
	const all = members.flatMap((client) => client.served.filter((one) => one.fault === fault));
	const received = sum(all.map((one) => one.received));
	const again = sum(all.map((one) => one.again));
	const lastNs = largestOf([beganNs, ...all.map((one) => one.lastNs)]);
	const lost = (counters.warmup?.lost ?? 0) + (counters.window?.lost ?? 0);
	const servedStill = lost > 0 && received < messagesBefore(plan.schedule, atNs);
	return { servedNs: servedStill ? null : lastNs - beganNs, servedStill, again };
}

/** Runs up to five times the longest before the first fault or in the schedule (`gap`) are normal; at least 40 ms. */
const SHORTEST_BINS = 4;
const FACTOR = 5;
/** With less of the window before the first fault, ten messages' distance. */
const KNOWN_NS = 1_000_000_000;
const MESSAGES = 10;

function explainedBins(plan: Plan, completions: ArrayLike<number>, first: number, gap: number) {
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

/** The longest stretch in which a `stages` schedule intends nothing; other loads show theirs before the fault. */
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

/** Runs of empty pieces [from, to) that begin before `end`; pieces after the last completion are empty too. */
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

/** Time until the last 100 ms of intended time that exceeds the line's allowance. Null without a line, or if the last piece still does. */
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
		// The piece in which the span ends belongs to the next fault.
		.filter(({ endNs, n }) => endNs > beganNs && endNs <= untilNs && n > 0);
	const last = pieces.findLastIndex(({ bad }) => bad);
	const open = last === pieces.length - 1;
	const overNs = pieces[last]?.endNs ?? beganNs;
	return { sla: line.text, recoveredNs: open ? null : overNs - beganNs };
}

/** One figure of one fault, ns. The true time lies between the others; `mostNs` is infinite if it had not ended by then (`restNs`). */
type Time = Readonly<Record<"ns" | "leastNs" | "mostNs", number>>;

/** `restNs`: from the fault to the next one, or the end of the window. */
const TIMES: Readonly<Record<FaultFigure, (fault: Failover, restNs: number) => Time | null>> = {
	unavailable: ({ unavailableNs: ns, unavailableStill, noticedNs }) => {
		if (ns === null || noticedNs === null) return null;
		// Completions may lie anywhere in the two neighbouring pieces.
		const mostNs = ns === 0 ? noticedNs + BIN_NS : ns + 2 * BIN_NS;
		return { ns, leastNs: ns, mostNs: unavailableStill ? Infinity : mostNs };
	},
	recovered: ({ sla, recoveredNs }, restNs) =>
		sla === null ? null : within(recoveredNs, intervalNs({}), restNs),
	// Exact: each receipt counts. One that never came breaks any limit.
	served: ({ servedNs: ns, servedStill }, restNs) =>
		ns === null && !servedStill
			? null
			: { ns: ns ?? restNs, leastNs: ns ?? Infinity, mostNs: ns ?? Infinity },
	drained: ({ drainedNs, drainedStill }, restNs) =>
		drainedNs === null && !drainedStill
			? null
			: within(drainedNs, 1e9 / SAMPLES_PER_SECOND, restNs),
};

/** The end lies somewhere within its piece. `ns` is null if it had not ended. */
function within(ns: number | null, pieceNs: number, restNs: number): Time {
	return ns === null
		? { ns: restNs, leastNs: restNs, mostNs: Infinity }
		: { ns, leastNs: Math.max(0, ns - pieceNs), mostNs: ns };
}
