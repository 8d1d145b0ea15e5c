import { largestOf } from "../extremes.ts";
import type { Failover } from "../model/result.ts";
import { faultZeroNs } from "../model/run-file.ts";
import { needs, type Tally } from "../model/tallies.ts";
import { BIN_NS } from "./failover.ts";
import { intervalNs } from "./intervals.ts";
import { SAMPLES_PER_SECOND } from "./queue.ts";

/** What an SLA line may ask of a fault. */
export type FaultFigure = Extract<Tally, "unavailable" | "recovered" | "drained">;

export function isFaultFigure(tally: Tally): tally is FaultFigure {
	return needs(tally, "faults");
}

/** A run whose broker was disturbed; a result has it, and so has a run that is judged. */
export interface Disturbed {
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
		const times = faultTimes(figure, disturbed) ?? [];
		const ns = largestOf(times.map((time) => time.ns));
		const open = times.some((t) => t.mostNs === Number.POSITIVE_INFINITY);
		return times.length === 0 ? [] : [{ figure, ns, open }];
	});
}

// --- internal ---

type Time = Pick<FaultTime, "ns" | "leastNs" | "mostNs">;

/** `restNs`: from the fault until the next one, or the end of the window. null: not known. */
const TIMES: Readonly<Record<FaultFigure, (fault: Failover, restNs: number) => Time | null>> = {
	unavailable: ({ unavailableNs: ns, unavailableStill, noticedNs }) => {
		if (ns === null || noticedNs === null) return null;
		if (unavailableStill) return open(ns);
		// Completions around empty pieces lie anywhere in the piece before and the one behind.
		const mostNs = ns === 0 ? noticedNs + BIN_NS : ns + 2 * BIN_NS;
		return { ns, leastNs: ns, mostNs };
	},
	recovered: ({ sla, recoveredNs }, restNs) =>
		sla === null ? null : until(recoveredNs, intervalNs({}), restNs),
	drained: ({ drainedNs, drainedStill }, restNs) =>
		drainedNs === null && !drainedStill ? null : until(drainedNs, 1e9 / SAMPLES_PER_SECOND, restNs),
};

/** What ends with a piece of time has ended somewhere within it; null: it has not by then. */
function until(ns: number | null, pieceNs: number, restNs: number): Time {
	return ns === null ? open(restNs) : { ns, leastNs: Math.max(0, ns - pieceNs), mostNs: ns };
}

function open(ns: number): Time {
	return { ns, leastNs: ns, mostNs: Number.POSITIVE_INFINITY };
}
