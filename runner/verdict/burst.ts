import type { Collected } from "../evidence/collect.ts";
import { secondsOf } from "../model/line-seconds.ts";
import { sum } from "../stats/sum.ts";
import { type LimitInterval, secondOf } from "./intervals.ts";

/**
 * A generator that stood still sends at once what became due, and that waits in the system: taking its own lag off does not undo it. Tainted
 * are therefore the seconds in which it was later than the limit, and the one after each.
 */
interface Burst {
	/** Seconds with a lag above the limit; those after them not counted. */
	readonly lateSeconds: number;
	/** The intervals with the tainted ones emptied: their times stay. */
	readonly without: readonly LimitInterval[];
}

/** null: the generator was never later than the limit, or for so long that less than half of the measured window would be left. */
export function burstOf(
	{ plan, seconds }: Pick<Collected, "plan" | "seconds">,
	intervals: readonly LimitInterval[],
	limitNs: number,
): Burst | null {
	// Of a run that was stopped the seconds that it came to: the planned rest would look like a window without late ones.
	const whole = seconds.reduce(
		(all, s) => (s.metrics.lag ? Math.max(all, s.second + secondsOf(s)) : all),
		0,
	);
	const late = seconds.filter((s) => (s.metrics.lag?.max ?? 0) > limitNs);
	const tainted = new Set(
		late.flatMap((s) => [s.second, s.second + secondsOf(s)]).filter((s) => s >= 0 && s < whole),
	);
	const { intervalSeconds = 1 } = plan;
	const left = whole - tainted.size * intervalSeconds;
	if (tainted.size === 0 || left < whole / 2) return null;
	return {
		lateSeconds: sum(late.filter((s) => s.second >= -1).map(secondsOf)),
		without: intervals.map((interval, i) => (tainted.has(secondOf(plan, i)) ? NOTHING : interval)),
	};
}

// --- internal ---

const NOTHING: LimitInterval = { n: 0, over: 0, overWithoutLag: 0, censored: 0 };
