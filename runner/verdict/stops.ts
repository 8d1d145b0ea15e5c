import type { Collected } from "../evidence/collect.ts";
import { largestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import { messagesBefore } from "../plan/offset.ts";
import { sum } from "../stats/sum.ts";
import { intervalNs } from "./intervals.ts";
import { drainedOf, waiting } from "./queue.ts";

type Stop = Collected["stops"][number];
/** A system that needs more than MOST times the stop to work it off has less than 1/MOST of its rate in reserve. */
const MOST = 20;

/** Shares of 100 ms intervals: of messages due from the limit before a stop until it is worked off, at least for its length. */
export function stopsIn(collected: Collected, limitNs: number) {
	const { schedule } = collected.plan;
	const each = intervalNs(collected.plan);
	const intervals = new Map<number, number>();
	const all = { stops: 0, stoppedNs: 0, intervals };
	for (const stop of collected.stops) {
		const [from, until] = stop;
		const ns = until - from;
		const begin = Math.max(0, from - limitNs - schedule.warmupNs);
		const over = Math.max(until + ns, workedOffNs(collected, stop));
		const end = Math.min(over - schedule.warmupNs, schedule.durationNs);
		if (ns <= limitNs || begin >= end) continue;
		all.stops++;
		all.stoppedNs += ns;
		for (let i = Math.floor(begin / each); i * each < end; i++) {
			const near = Math.min(end, (i + 1) * each) - Math.max(begin, i * each);
			intervals.set(i, Math.min(1, (intervals.get(i) ?? 0) + near / each));
		}
	}
	return all;
}

/** When the queue was back to its level before the stop, ns since T0; the stop's end if too short to see or not worked off in MOST lengths. */
export function workedOffNs(collected: Collected, [from, until]: Stop): number {
	const { plan } = collected;
	const { warmupNs, durationNs } = plan.schedule;
	const ns = until - from;
	const each = intervalNs(plan);
	if (ns < each) return until;
	const lastNs = Math.min(until + MOST * ns, warmupNs + durationNs);
	const ticks = ticksBetween(collected.ticks, Math.floor(from / 1e9) - 3, Math.ceil(lastNs / 1e9));
	const some = { ...collected, ticks };
	const span = { beganNs: from, untilNs: lastNs, resumedNs: until };
	const { drainedNs, drainedStill } = drainedOf(some, span);
	if (drainedStill && lastNs === until + MOST * ns) return until;
	const calmNs = drainedStill ? lastNs : from + (drainedNs ?? 0);
	const samples = waiting(some).map(({ x, y }) => ({ ns: x * 1e9, y }));
	const before = samples.filter(({ ns }) => ns <= from).map(({ y }) => y);
	const due = (ns: number) =>
		plan.schedule.kind === "closed" ? 0 : messagesBefore(plan.schedule, ns);
	const left = due(until + each) - due(from);
	const most = Math.max(largestOf(before), 0) + left;
	// A queue longer than the stop can have left is the system's.
	const own = samples.find(({ ns, y }) => ns > until && y > most);
	return Math.max(until, Math.min(calmNs, own?.ns ?? calmNs));
}

/** Ticks between two seconds since T0: a run may have many stops, and few ticks matter to each. */
function ticksBetween(ticks: Collected["ticks"], from: number, to: number): Collected["ticks"] {
	let [first, end] = [0, ticks.length];
	while (first < end) {
		const middle = (first + end) >> 1;
		if ((ticks[middle]?.at ?? 0) <= from) first = middle + 1;
		else end = middle;
	}
	const some: Collected["ticks"][number][] = [];
	for (const tick of ticks.slice(first, first + to - from)) {
		if (tick.at - secondsOf(tick) >= to) break;
		some.push(tick);
	}
	return some;
}

/** Stops whose messages came after the window. Others do not lower a rate: delayed messages were still sent in the window. */
export function stopsAtEnd(collected: Collected): { stops: number; stoppedNs: number } {
	const { warmupNs, durationNs } = collected.plan.schedule;
	const endNs = warmupNs + durationNs;
	const within = collected.stops
		.filter(([from, until]) => until > warmupNs && from < endNs)
		.filter((stop) => stop[1] - stop[0] >= intervalNs(collected.plan))
		.filter((stop) => workedOffNs(collected, stop) >= endNs)
		.map(([from, until]) => Math.min(until, endNs) - Math.max(from, warmupNs));
	return { stops: within.length, stoppedNs: sum(within) };
}
