import type { Second } from "../model/client-file.ts";
import { formatCount } from "../units.ts";
import { type LimitInterval, PER_SECOND } from "./intervals.ts";

/**
 * A generator that stood still catches up: what it sends then, at once, loads the system as the schedule never meant to. The
 * messages of such a burst wait in the system, so taking their own lag off does not undo it. Tainted are therefore the
 * seconds of intended time in which the generator was later than the limit, and the one after each.
 */
interface Burst {
	/** Seconds with a lag above the limit; those after them not counted. */
	readonly lateSeconds: number;
	/** The intervals with the tainted ones emptied: their times stay. */
	readonly without: readonly LimitInterval[];
}

/** null: the generator was never later than the limit, or for so long that less than half of the measured window would be left. */
export function burstOf(
	intervals: readonly LimitInterval[],
	seconds: readonly Second[],
	limitNs: number,
): Burst | null {
	// Of a run that was stopped the seconds that it came to: the planned rest would look like a window without late ones.
	const whole = seconds.reduce(
		(all, s) => (s.metrics.lag ? Math.max(all, s.second + 1) : all),
		0,
	);
	const late = seconds
		.filter((s) => (s.metrics.lag?.max ?? 0) > limitNs)
		.map((s) => s.second);
	const tainted = new Set(
		late.flatMap((s) => [s, s + 1]).filter((s) => s >= 0 && s < whole),
	);
	if (tainted.size === 0 || whole - tainted.size < whole / 2) return null;
	return {
		lateSeconds: late.filter((s) => s >= -1).length,
		without: intervals.map((interval, i) =>
			tainted.has(Math.floor(i / PER_SECOND)) ? NOTHING : interval,
		),
	};
}

/** "the generator was late for 1s and caused a burst: 11 121 of 200 000 over 10ms, budget 2 000; 40 of 160 000 without it" */
export function burstWhy(burst: Burst, counted: string): string {
	const { n, over } = burst.without.reduce((a, b) => ({
		...b,
		n: a.n + b.n,
		over: a.over + b.over,
	}));
	return `the generator was late for ${burst.lateSeconds}s and caused a burst: ${counted}; ${formatCount(over)} of ${formatCount(n)} without those seconds and the one after each`;
}

/** Did this decide the gate? It did not pass, and without it would have passed, or would not have failed. */
export function decided(
	verdict: "pass" | "fail" | "inconclusive",
	without: "pass" | "fail" | "inconclusive",
): boolean {
	return (
		(verdict !== "pass" && without === "pass") ||
		(verdict === "fail" && without !== "fail")
	);
}

// --- internal ---

const NOTHING: LimitInterval = {
	n: 0,
	over: 0,
	overWithoutLag: 0,
	censored: 0,
};
