import { grouped } from "../grouped.ts";
import type { Metric } from "../model/plan.ts";
import type { MetricSummary, Percentile, Result, Run } from "../model/result.ts";
import { type Amount, amount } from "./show.ts";

/** One system in one case: what repeats are repeats of. */
export interface Place {
	readonly system: string;
	readonly case: string;
}

export interface Group<T> extends Place {
	readonly all: readonly T[];
}

/** All of one system and case together, in the order of their first. */
export function bySystemAndCase<T extends Place>(all: readonly T[]): Group<T>[] {
	const groups = grouped(all, (one) => JSON.stringify([one.system, one.case]));
	return [...groups.values()].map((group) => {
		const [{ system, case: name }] = group as [T];
		return { system, case: name, all: group };
	});
}

/** The runs of a case, systems in the order of their first and repeats below each other. */
export interface Case {
	readonly case: string;
	readonly rows: readonly {
		readonly run: Run;
		/** "nats"; of several repeats "nats (2)". */
		readonly name: string;
	}[];
}

export function byCase({ runs }: Pick<Result, "runs">): Case[] {
	return [...grouped(runs, (run) => run.case)].map(([name, own]) => ({
		case: name,
		rows: bySystemAndCase(own).flatMap(({ system, all }) =>
			all.map((run) => ({ run, name: all.length > 1 ? `${system} (${run.repeat})` : system })),
		),
	}));
}

/** Those of a system and case. */
export function at<T extends Place>(place: Place, all: readonly T[]): T[] {
	return all.filter((one) => one.system === place.system && one.case === place.case);
}

/** The result without the runs of searches, which reports show as one table each. */
export function withoutSearches(result: Result): Result {
	return { ...result, runs: result.runs.filter((run) => run.search === null) };
}

/** What must be known of a run to say how long its messages may take. */
type Ended = Pick<Run, "state"> & { readonly load: Pick<Run["load"], "timeoutNs"> };
type Summary =
	| (Pick<MetricSummary, "percentiles"> & Partial<Pick<MetricSummary, "n" | "censored">>)
	| null
	| undefined;

interface Measured extends Ended {
	readonly metrics: Readonly<Partial<Record<Metric, Summary>>>;
}

/** A percentile of a metric of the whole window; among those that never completed it is at least the timeout. */
export function percentile(run: Measured, metric: Metric, p: number): Amount {
	return percentileIn(run.metrics[metric], p, run);
}

/** The same of a part of the window, which has a summary of its own. */
export function percentileIn(summary: Summary, p: number, run: Ended): Amount {
	const found = summary?.percentiles.find((one) => one.p === p);
	if (found === undefined) return amount(null, "ns");
	const { n = 0, censored = 0 } = summary ?? {};
	// Too few samples to tell where it is, but for one among those that never completed.
	const isBeyond = found.support === "none" && (n * (100 - p)) / 100 < censored;
	return isBeyond ? unended(run) : percentileAmount(found, run);
}

export function percentileAmount({ value, low, high, support }: Percentile, run: Ended): Amount {
	if (support === "none") return { ...amount(null, "ns"), why: "few-samples" };
	const rest = { weak: support === "weak", low, high };
	return value === null ? { ...unended(run), ...rest } : { value, unit: "ns", ...rest };
}

/** The maximum of those that completed; at least the timeout when some did not. */
export function maximum(
	summary: Pick<MetricSummary, "censored" | "max"> | null | undefined,
	run: Ended,
): Amount {
	return (summary?.censored ?? 0) > 0 ? unended(run) : amount(summary?.max, "ns");
}

/** For an order by size: nothing is larger than what never completed, or was not measured. */
export function sizeOf({ value, atLeast }: Amount): number {
	return value === null || atLeast ? Number.POSITIVE_INFINITY : value;
}

/** Messages per second that came through: received, where nobody consumes acknowledged; null: not known. */
export function carried({ throughput }: Pick<Run, "throughput">): number | null {
	return throughput.received ?? throughput.sent;
}

/**
 * Of several repeats the one with the median p99 of its main metric, of an even number the higher of the two: a run that was measured so,
 * never an average. One without a p99 is slower than any.
 */
export function medianRepeat<T extends Measured & Pick<Run, "main">>(
	runs: readonly T[],
): T | undefined {
	const p99 = (run: T) => Math.min(Number.MAX_VALUE, sizeOf(percentile(run, run.main, 99)));
	return runs.toSorted((a, b) => p99(a) - p99(b))[Math.floor(runs.length / 2)];
}

/**
 * The checks that found machine or load generator at its end: the figures of such a run are theirs as much as the system's, so no order of
 * systems follows from them.
 */
export function saturatedBy({ validity }: Run): string[] {
	return validity
		.filter(
			({ check, status, code }) =>
				// A closed load that carries half of what it carries without any system.
				code === "ceiling-near" || AT_ITS_END[status]?.includes(check),
		)
		.map(({ check }) => check);
}

// --- internal ---

/** What a message took that never completed. Of a run that was stopped, nobody knows whether it would have. */
function unended({ state, load }: Ended): Amount {
	return state === "complete"
		? { value: load.timeoutNs, unit: "ns", atLeast: true }
		: { value: null, unit: "ns", why: "stopped" };
}

/** By status: the checks that say so. Lag and messages that wait in the client library do only where they decided something. */
const AT_ITS_END: Readonly<Record<string, readonly string[]>> = {
	warn: ["cores", "cpuQuota", "ownCpu"],
	invalid: ["cores", "lag", "offered", "held"],
};
