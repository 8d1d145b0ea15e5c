import type { Sla } from "../model/plan.ts";
import type { Collected } from "../run/collect.ts";
import type { Decided, Late, Slow, Without } from "../text/gates.ts";
import { type Said, say } from "../text/say.ts";
import { containsLag } from "./facts.ts";
import { heldIn, RECEIVES } from "./held.ts";
import {
	INTERVAL_NS,
	type LimitInterval,
	type Shares,
	without,
} from "./intervals.ts";
import type { Judgement } from "./judgement.ts";

/** Stops of the generator that may have made messages late. */
export interface Stops {
	/** How many, and how long they were together. */
	readonly stops: number;
	readonly stoppedNs: number;
	/** How much of the window's 100 ms intervals is near them: what was due there may be late because of them. */
	readonly intervals: Shares;
}

/**
 * A generator that is stopped for d takes what is under way d later, and then sends at once what became due; a system that can do twice the
 * rate has worked that off after another d. So what is due from the limit before a stop (what is older was late already) until d after
 * it may be late because of it.
 *
 * A stop that is no longer than the limit breaks no limit. So a stop explains at most what is due in three times its length.
 */
export function stopsIn(
	{ plan: { schedule }, stops }: Pick<Collected, "plan" | "stops">,
	limitNs: number,
): Stops {
	const intervals = new Map<number, number>();
	const all = { stops: 0, stoppedNs: 0, intervals };
	for (const [from, until] of stops) {
		const ns = until - from;
		const begin = Math.max(0, from - limitNs - schedule.warmupNs);
		const end = Math.min(until + ns - schedule.warmupNs, schedule.durationNs);
		if (ns <= limitNs || begin >= end) continue;
		all.stops++;
		all.stoppedNs += ns;
		for (let i = Math.floor(begin / INTERVAL_NS); i * INTERVAL_NS < end; i++) {
			const near =
				Math.min(end, (i + 1) * INTERVAL_NS) - Math.max(begin, i * INTERVAL_NS);
			const before = intervals.get(i) ?? 0;
			intervals.set(i, Math.min(1, before + near / INTERVAL_NS));
		}
	}
	return all;
}

/** A latency's intervals without what something other than the system may have made late, and how a line says that this decided it. */
interface Rest {
	readonly by: "stops" | "held";
	readonly mark: Partial<Judgement>;
	readonly rest: readonly LimitInterval[];
	late(d: Late & Decided & Without): Said;
	max(d: Slow & Without): Said;
}

/** By stops of the generator, whose lag is taken off as well; by what the client library held. */
export function restsOf(
	sla: Exclude<Sla, { kind: "tally" }>,
	intervals: readonly LimitInterval[],
	collected: Collected,
): Rest[] {
	const { limitNs, metric } = sla;
	const rests: Rest[] = [];
	const { intervals: near, ...stops } = stopsIn(collected, limitNs);
	const onTime = intervals.map((i) =>
		containsLag(metric) ? { ...i, over: i.overWithoutLag } : i,
	);
	if (near.size > 0)
		rests.push({
			...{ by: "stops", mark: { lagDecided: true } },
			rest: without(onTime, near),
			late: (d) => say("late-by-stops", { ...d, ...stops }),
			max: (d) => say("max-by-stops", { ...d, ...stops }),
		});
	const library = RECEIVES.has(metric) ? heldIn(collected, limitNs) : null;
	if (library === null || library.intervals.size === 0) return rests;
	const { most, explained, intervals: waited } = library;
	const heldNs = waited.size * INTERVAL_NS;
	const held = { held: most, explained, heldNs };
	rests.push({
		...{ by: "held", mark: { heldDecided: true } },
		rest: without(intervals, waited),
		late: (d) => say("late-by-held", { ...d, ...held }),
		max: (d) => say("max-by-held", { ...d, ...held }),
	});
	return rests;
}
