import { largestOf, smallestOf } from "../extremes.ts";
import { grouped } from "../grouped.ts";
import type { Run } from "../model/result.ts";
import { medianRepeat, percentile, saturatedBy, sizeOf } from "../result/select.ts";
import type { Amount } from "../result/show.ts";
import { isClosed } from "../result/words.ts";

export type Standing = NonNullable<ReturnType<typeof standingOf>>;

export type CaseStandings = ReturnType<typeof standingsOf>[number];

/** Systems in the order of their first run; null if not run in a case. */
export function standingsOf(runs: readonly Run[]) {
	const systems = [...new Set(runs.map(({ system }) => system))];
	return [...grouped(runs, (run) => run.case)].map(([name, own]) => {
		const standings = systems.map((system) =>
			standingOf(own.filter((run) => run.system === system)),
		);
		const all = standings.filter((one) => one !== null);
		return { name, standings, all, lowest: lowestOf(all) };
	});
}

export function standingOf(repeats: readonly Run[]) {
	const run = medianRepeat(repeats);
	if (run === undefined) return null;
	const p99 = widened(run, repeats);
	const saturated = repeats.some((one) => saturatedBy(one).length > 0);
	return {
		/** The repeat that decides. */
		run,
		/** Its interval is widened to the other repeats': one run's interval does not show differences from run to run. */
		p99,
		/** In a repeat the machine or generator was at its limit, so the figures are not only the system's. */
		saturated,
		/** Its figures count and are only its own, and the load was not a closed loop, whose latency shows no queueing. */
		ranked: !saturated && !isClosed(run) && COUNT.has(run.verdict) && Number.isFinite(sizeOf(p99)),
	};
}

export function lowestOf(all: readonly Standing[]): Standing | null {
	const ranked = all.filter((one) => one.ranked);
	return ranked.length < 2 || new Set(all.map(({ run }) => run.main)).size > 1
		? null
		: ranked.reduce((a, b) => (sizeOf(b.p99) < sizeOf(a.p99) ? b : a));
}

/** "lowest", "1.9x", "1.1x, overlaps", "14x, no interval"; null if not ranked. */
export function ratioText(one: Standing, lowest: Standing): string | null {
	if (one === lowest) return "lowest";
	const low = sizeOf(lowest.p99);
	if (!one.ranked || low === 0) return null;
	const times = sizeOf(one.p99) / low;
	const ratio = `${Number(times.toPrecision(times >= 10 ? 2 : 3))}x`;
	const overlaps = overlap(one, lowest);
	return overlaps === null ? `${ratio}, no interval` : overlaps ? `${ratio}, overlaps` : ratio;
}

/** Whether chance may have ordered them; null if one has no interval. */
export function overlap(one: Standing, lowest: Standing): boolean | null {
	const [own, other] = [one.p99, lowest.p99];
	if (own.low == null || other.low == null) return null;
	// Some intervals have no upper end.
	return (other.high ?? Number.POSITIVE_INFINITY) >= own.low;
}

// --- internal ---

const COUNT: ReadonlySet<Run["verdict"]> = new Set(["pass", "fail", "inconclusive"]);

function widened(run: Run, repeats: readonly Run[]): Amount {
	const own = percentile(run, run.main, 99);
	if (own.low == null) return own;
	const all = repeats.map((one) => percentile(one, one.main, 99));
	const ends = all.map((one) =>
		// Without an interval its value has to do; beyond the timeout there is no upper end.
		one.atLeast ? null : one.low == null ? one.value : (one.high ?? null),
	);
	const low = smallestOf(all.flatMap((one) => one.low ?? (one.atLeast ? [] : (one.value ?? []))));
	return { ...own, low, high: ends.includes(null) ? null : largestOf(ends as number[]) };
}
