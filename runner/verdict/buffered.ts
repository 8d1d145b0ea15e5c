import type { Collected } from "../evidence/collect.ts";
import { spread } from "../model/line-seconds.ts";
import { samplesPerMessage } from "../plan/samples.ts";
import { formatCount, formatDuration, plural } from "../units.ts";
import { intendedPerInterval, intervalNs } from "./intervals.ts";

/** Fewer messages cannot be distinguished from those always on their way to a handler. */
export const BUFFERED_MESSAGES = 10;

/**
 * Messages that the client library held beyond those due within the limit: the receiving side was slow, not the system. Null without
 * samples, or with a closed load, work or backlog.
 */
export function bufferedIn({ plan, ticks }: Collected, limitNs: number) {
	if (plan.schedule.kind === "closed" || plan.work || plan.backlog) return null;
	const due = intendedPerInterval(plan);
	const [first] = samplesOf(ticks, plan);
	if (first === undefined || due.length === 0) return null;
	const perMessage = samplesPerMessage(plan, "service");
	const each = intervalNs(plan);
	const before = dueBefore(
		due.map((n) => n * perMessage),
		each,
	);
	const intervals = new Map<number, number>();
	let [late, last, lastDue] = [0, 0, before(first.ns - each)];
	let worst = { most: 0, explained: 0 };
	for (const { ns, n } of samplesOf(ticks, plan)) {
		const now = before(ns);
		// A system that stalled passes on everything at once: messages that came faster than due count as the system's until they have left.
		late = Math.min(n, late + Math.max(0, n - last - (now - lastDue)));
		[last, lastDue] = [n, now];
		const own = n - late;
		const explained = Math.max(BUFFERED_MESSAGES, now - before(ns - limitNs));
		if (own > worst.most) worst = { most: own, explained };
		if (own <= explained) continue;
		for (let i = Math.ceil(ns / each) - 1; i >= 0 && before((i + 1) * each) > now - own; i--)
			if (i < due.length) intervals.set(i, 1);
	}
	return {
		/** Most that waited at once, less those counted as `late`. */
		most: Math.round(worst.most),
		/** 100 ms intervals of the window with messages that waited too long. */
		intervals,
		/** Messages due within the limit at the moment of the most. */
		explained: Math.round(worst.explained),
	};
}

export function bufferedText(
	{ most, explained }: Readonly<Record<"most" | "explained", number>>,
	limitNs: number,
): string {
	return `the receiving side was slow (up to ${plural(most, "message")} waited in the client library, and ${formatCount(explained)} are due within ${formatDuration(limitNs)})`;
}

// --- internal ---

/** Messages due before a time (ns from the window's start); outside the window at the rate of its edge. */
function dueBefore(perInterval: readonly number[], each: number): (ns: number) => number {
	let sum = 0;
	const starts = [0, ...perInterval.map((n) => (sum += n))];
	return (ns) => {
		const at = ns / each;
		const i = Math.max(0, Math.min(perInterval.length - 1, Math.floor(at)));
		return (starts[i] ?? 0) + (at - i) * (perInterval[i] ?? 0);
	};
}

/** A generator, because a long run has millions of samples. */
function* samplesOf(
	ticks: Collected["ticks"],
	{ schedule }: Collected["plan"],
): Generator<{ readonly ns: number; readonly n: number }> {
	for (const tick of ticks)
		for (const { n, at } of spread(tick, tick.held ?? []))
			yield { ns: at * 1e9 - schedule.warmupNs, n };
}
