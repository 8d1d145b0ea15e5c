import type { Collected } from "../evidence/collect.ts";
import type { Second } from "../model/client-file.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Plan, Sla } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";
import type { Values } from "../text/say.ts";
import { containsLag } from "./facts.ts";
import { heldIn, RECEIVES } from "./held.ts";
import { intervalNs, type LimitInterval, secondOf, without } from "./intervals.ts";
import type { OverTest } from "./statistics.ts";
import { stopsIn } from "./stops.ts";

/** What other than the system may have made messages late. The first of them that decided a line says so: INVALID. */
interface Excuse {
	readonly by: "lag" | "burst" | "stops" | "held";
	/** It overturns whatever did not pass, if the line passes without it; else FAIL alone. */
	readonly openToo: boolean;
	readonly rest: readonly LimitInterval[];
	/** What its sentence names beside what is `left` without it. */
	values(left: { nWithout: number; overWithout: number }): Values;
}

type Tested = OverTest["verdict"];

/** The excuses of a line, in their order: lag, the burst after it, stops of the generator, what the client library held. */
export function excusesOf(
	{ kind, limitNs, metric }: Exclude<Sla, { kind: "tally" }>,
	intervals: readonly LimitInterval[],
	collected: Collected,
): Excuse[] {
	const late = containsLag(metric);
	const onTime = intervals.map((i) => (late ? { ...i, over: i.overWithoutLag } : i));
	const burst = burstOf(collected.plan, intervals, collected.seconds, limitNs);
	const { intervals: near, ...stops } = stopsIn(collected, limitNs);
	const library = RECEIVES.has(metric) ? heldIn(collected, limitNs) : null;
	const all: (Excuse | false | null)[] = [
		late && {
			by: "lag",
			openToo: true,
			rest: onTime,
			values: (left) => (kind === "max" ? {} : { overWithoutLag: left.overWithout }),
		},
		burst && {
			by: "burst",
			openToo: true,
			rest: burst.without,
			values: (left) => ({ lateSeconds: burst.lateSeconds, ...left }),
		},
		near.size > 0 && {
			by: "stops",
			openToo: false,
			rest: without(onTime, near),
			values: (left) => ({ ...left, ...stops }),
		},
		library !== null &&
			library.intervals.size > 0 && {
				by: "held",
				openToo: false,
				rest: without(intervals, library.intervals),
				values: (left) => ({
					...left,
					held: library.most,
					explained: library.explained,
					heldNs: library.intervals.size * intervalNs(collected.plan),
				}),
			},
	];
	return all.filter((excuse) => !!excuse);
}

/** The excuse that decided a line, how that would have come out, and what its sentence names; null: none did. */
export function excuseFor(
	verdict: Tested,
	excuses: () => readonly Excuse[],
	test: (rest: readonly LimitInterval[]) => Tested,
): {
	by: Excuse["by"];
	without: Tested;
	values: Values;
	lagDecided: boolean;
	heldDecided: boolean;
} | null {
	if (verdict === "pass") return null;
	for (const { by, openToo, rest, values } of excuses()) {
		const without = test(rest);
		if (verdict === "fail" ? without === "fail" : !openToo || without !== "pass") continue;
		const left = { nWithout: sum(rest.map((i) => i.n)), overWithout: sum(rest.map((i) => i.over)) };
		return { by, without, values: values(left), ...decidedBy(by) };
	}
	return null;
}

/** Which check tells of it. */
export function decidedBy(by: Excuse["by"]) {
	return { lagDecided: by !== "held", heldDecided: by === "held" };
}

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
	plan: Pick<Plan, "intervalSeconds">,
	intervals: readonly LimitInterval[],
	seconds: readonly Second[],
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
