import type { Collected } from "../run/collect.ts";
import type { TrendPoint } from "../stats/trend.ts";
import { EDGE_S, waiting } from "./backlog-drain.ts";
import { neverCompleted } from "./never-completed.ts";

/**
 * How long a fault has left messages waiting: from its begin until no more are in flight than at most in the 2 s before it, and it stays so until
 * the next fault, or the end of the window. Counted ten times a second, ns. 0: there were never more. null: never in this run, or not
 * counted.
 *
 * Messages that never come are in flight for ever. They do not wait: what the queue never falls below again is taken off, as far as the run
 * has lost so many (`neverCompleted`).
 */
export function drainedNs(
	collected: Collected,
	{ beganNs, untilNs }: { readonly beganNs: number; readonly untilNs: number },
): number | null {
	const began = beganNs / 1e9;
	const samples = waiting(collected);
	const before = samples
		.filter(({ x }) => x > began - BEFORE_S && x <= began)
		.map(({ y }) => y);
	const after = samples.filter(
		({ x }) => x > began && x <= untilNs / 1e9 + EDGE_S,
	);
	if (before.length === 0 || after.length === 0) return null;
	const [most, least] = [Math.max(...before), Math.min(...before)];
	const incomplete = neverCompleted(collected);
	const never = neverBelow(after);
	const waits = (i: number) => {
		const gone = Math.min(incomplete, Math.max(0, (never[i] ?? 0) - least));
		return (after[i]?.y ?? 0) - gone > most;
	};
	const last = after.findLastIndex((_, i) => waits(i));
	if (last < 0) return 0;
	const calm = after[last + 1];
	return calm === undefined ? null : Math.round((calm.x - began) * 1e9);
}

// --- internal ---

const BEFORE_S = 2;

/** Of each sample the least that there was from it on. */
function neverBelow(samples: readonly TrendPoint[]): number[] {
	const least: number[] = [];
	let most = Number.POSITIVE_INFINITY;
	for (let i = samples.length - 1; i >= 0; i--) {
		most = Math.min(most, samples[i]?.y ?? most);
		least[i] = most;
	}
	return least;
}
