import { grouped } from "../grouped.ts";
import type { Metric } from "../model/plan.ts";
import type { MetricSummary, Percentile, Result, Run } from "../model/result.ts";
import { type Amount, amount } from "./show.ts";

/** Repeats have these in common. */
export interface Place {
	readonly system: string;
	readonly case: string;
}

export function bySystemAndCase<T extends Place>(all: readonly T[]) {
	const groups = grouped(all, (one) => JSON.stringify([one.system, one.case]));
	return [...groups.values()].map((group) => {
		const [{ system, case: name }] = group as [T];
		return { system, case: name, all: group as readonly T[] };
	});
}

export type Case = ReturnType<typeof byCase>[number];

/** The name of a row is "nats"; of several repeats "nats (2)". */
export function byCase({ runs }: Pick<Result, "runs">) {
	return [...grouped(runs, (run) => run.case)].map(([name, own]) => ({
		case: name,
		rows: bySystemAndCase(own).flatMap(({ system, all }) =>
			all.map((run) => ({ run, name: all.length > 1 ? `${system} (${run.repeat})` : system })),
		),
	}));
}

export function at<T extends Place>(place: Place, all: readonly T[]): T[] {
	return all.filter((one) => one.system === place.system && one.case === place.case);
}

/** Reports show each search as one table. */
export function withoutSearches(result: Result): Result {
	return { ...result, runs: result.runs.filter((run) => run.search === null) };
}

type Ended = Pick<Run, "state"> & { readonly load: Pick<Run["load"], "timeoutNs"> };
type Summary =
	| (Pick<MetricSummary, "percentiles"> & Partial<Pick<MetricSummary, "n" | "censored">>)
	| null
	| undefined;

interface Measured extends Ended {
	readonly metrics: Readonly<Partial<Record<Metric, Summary>>>;
}

/** Over the whole window; at least the timeout if it lies among messages that never completed. */
export function percentile(run: Measured, metric: Metric, p: number): Amount {
	return percentileIn(run.metrics[metric], p, run);
}

/** For a part of the window, which has its own summary. */
export function percentileIn(summary: Summary, p: number, run: Ended): Amount {
	const found = summary?.percentiles.find((one) => one.p === p);
	if (found === undefined) return amount(null, "ns");
	const { n = 0, censored = 0 } = summary ?? {};
	// Too few samples to locate it, unless it lies among those that never completed.
	const isBeyond = found.support === "none" && (n * (100 - p)) / 100 < censored;
	return isBeyond ? unended(run) : percentileAmount(found, run);
}

export function percentileAmount({ value, low, high, support }: Percentile, run: Ended): Amount {
	if (support === "none") return { ...amount(null, "ns"), why: "few-samples" };
	const rest = { weak: support === "weak", low, high };
	return value === null ? { ...unended(run), ...rest } : { value, unit: "ns", ...rest };
}

/** At least the timeout if some messages did not complete. */
export function maximum(
	summary: Pick<MetricSummary, "censored" | "max"> | null | undefined,
	run: Ended,
): Amount {
	return (summary?.censored ?? 0) > 0 ? unended(run) : amount(summary?.max, "ns");
}

/** For sorting: values that are not measured or never completed are largest. */
export function sizeOf({ value, atLeast }: Amount): number {
	return value === null || atLeast ? Number.POSITIVE_INFINITY : value;
}

/** Messages per second that were received, or without consumers acknowledged. */
export function carried({ throughput }: Pick<Run, "throughput">): number | null {
	return throughput.received ?? throughput.sent;
}

/** The repeat with the median p99 (the higher of two), never an average. A run without a p99 is the slowest. */
export function medianRepeat<T extends Measured & Pick<Run, "main">>(
	runs: readonly T[],
): T | undefined {
	const p99 = (run: T) => Math.min(Number.MAX_VALUE, sizeOf(percentile(run, run.main, 99)));
	return runs.toSorted((a, b) => p99(a) - p99(b))[Math.floor(runs.length / 2)];
}

/** Checks that found the machine or load generator at its limit: the figures are not only the system's, so they rank nothing. */
export function saturatedBy({ validity }: Run): string[] {
	return validity
		.filter(
			({ check, status, code }) =>
				// A closed load reaches half of its rate without any system.
				code === "ceiling-near" || AT_ITS_END[status]?.includes(check),
		)
		.map(({ check }) => check);
}

// --- internal ---

/** It is unknown whether messages of a stopped run would have completed. */
function unended({ state, load }: Ended): Amount {
	return state === "complete"
		? { value: load.timeoutNs, unit: "ns", atLeast: true }
		: { value: null, unit: "ns", why: "stopped" };
}

/** By status. Lag and messages held in the client library count only where they decided something. */
const AT_ITS_END: Readonly<Record<string, readonly string[]>> = {
	warn: ["cores", "cpuQuota", "ownCpu"],
	invalid: ["cores", "lag", "offered", "held"],
};
