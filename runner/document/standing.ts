import { smallestOf } from "../extremes.ts";
import type { Percentile, Run } from "../model/result.ts";
import { saturatedBy } from "../result/saturated.ts";
import { medianRepeat } from "../result/select.ts";
import { isClosed } from "../result/words.ts";

/** What one system did in one case, and whether it is ranked with others there. */
export interface Standing {
	/** Of several repeats the one that decides. */
	readonly run: Run;
	readonly repeats: readonly Run[];
	readonly p50: Spread;
	readonly p99: Spread;
	/** In one of its repeats: machine or generator was at its end, so that its figures are not the system's alone. */
	readonly saturated: boolean;
	/** Its figures count and are its own, and the load was not a closed loop, whose latency knows no queueing. */
	readonly ranked: boolean;
}

/** A percentile of the repeat that decides. */
interface Spread {
	/** undefined: it was not measured. */
	readonly of: Percentile | undefined;
	/**
	 * Its 95 % interval, widened to those of the other repeats: what differs from run to run is in no interval of one. Both null: it has none; `high`
	 * null: without an upper end.
	 */
	readonly interval: Pick<Percentile, "low" | "high">;
}

/** null: there is no run. */
export function standingOf(repeats: readonly Run[]): Standing | null {
	const run = medianRepeat(repeats);
	if (run === undefined) return null;
	const p99 = spreadOf(run, repeats, 99);
	const saturated = repeats.some((one) => saturatedBy(one).length > 0);
	return {
		run,
		repeats,
		p99,
		saturated,
		p50: spreadOf(run, repeats, 50),
		ranked: !saturated && !isClosed(run) && COUNT.has(run.verdict) && p99.of?.value != null,
	};
}

/** The lowest p99 of those that are ranked; null: there is nothing to compare. */
export function lowestOf(all: readonly Standing[]): Standing | null {
	const ranked = all.filter((one) => one.ranked);
	const metrics = new Set(all.map(({ run }) => run.main));
	return ranked.length < 2 || metrics.size > 1
		? null
		: ranked.reduce((a, b) => (valueIn(b) < valueIn(a) ? b : a));
}

/** "lowest", "1.9x", "1.1x, overlaps", "14x, no interval"; null: it is not ranked. */
export function ratioText(one: Standing, lowest: Standing): string | null {
	if (one === lowest) return "lowest";
	const low = valueIn(lowest);
	if (!one.ranked || low === 0) return null;
	const times = valueIn(one) / low;
	const ratio = `${Number(times.toPrecision(times >= 10 ? 2 : 3))}x`;
	// Some values have no interval; some intervals have no upper end.
	const [own, other] = [one.p99.interval, lowest.p99.interval];
	if (own.low === null || other.low === null) return `${ratio}, no interval`;
	return (other.high ?? Number.POSITIVE_INFINITY) >= own.low ? `${ratio}, overlaps` : ratio;
}

// --- internal ---

const COUNT: ReadonlySet<Run["verdict"]> = new Set(["pass", "fail", "inconclusive"]);

function percentileOf(run: Run, p: number): Percentile | undefined {
	return run.metrics[run.main]?.percentiles.find((x) => x.p === p);
}

function valueIn({ p99 }: Standing): number {
	return p99.of?.value ?? Number.POSITIVE_INFINITY;
}

function spreadOf(run: Run, repeats: readonly Run[], p: number): Spread {
	const of = percentileOf(run, p);
	if (of === undefined || of.low === null) return { of, interval: { low: null, high: null } };
	const all = repeats.flatMap((one) => percentileOf(one, p) ?? []);
	const low = smallestOf(all.flatMap((one) => one.low ?? one.value ?? []));
	// Without an interval its value has to do; what lies beyond all that was waited for has no upper end.
	const ends = all.map((one) => (one.low === null ? one.value : one.high));
	const high = ends.reduce<number | null>(
		(most, end) => (most === null || end === null ? null : Math.max(most, end)),
		0,
	);
	return { of, interval: { low, high } };
}
