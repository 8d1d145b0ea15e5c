import { messagesBefore } from "../plan/offset.ts";
import { formatCount, formatDuration, ratePerSecond } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";
import { type Facts, sumsOf, tightestLimitNs } from "./facts.ts";
import { BACKLOG_MESSAGES, BACKLOG_SAMPLES, BACKLOG_SHARE } from "./limits.ts";
import { median, type TrendPoint, trend } from "./trend.ts";

/** What a queue that grows means, whatever the percentiles say. */
export const GREW =
	"the queue grew for the whole run: percentiles depend on the duration";

/**
 * Does the system carry the rate? FAIL when the messages that wait became more and more over the window: by the trend of ten
 * samples a second, or by their last third against their first. Quartiles and Theil-Sen: neither a stall that has been worked off
 * by the end moves them, nor a queue that wanders.
 */
export const backlog: CheckFunction = (facts) => {
	const { plan, state } = facts.collected;
	const points = queue(facts);
	if (state !== "complete" || points.length < BACKLOG_SAMPLES)
		return result(
			"backlog",
			"unknown",
			state === "complete"
				? `${points.length} samples of the queue are too few for a trend`
				: "the run was not made to its end",
			{ limit: `${BACKLOG_SAMPLES} samples`, remedy: "measure for longer" },
		);
	const found = growth(facts, points);
	const rate = ratePerSecond(plan.schedule.rate);
	const limitNs = tightestLimitNs(facts, "response");
	const figure = `${formatCount(Math.max(0, found.first))} to ${formatCount(Math.max(0, found.last))} waiting`;
	const remedy =
		"find the rate that it carries: lower the rate until the queue stays level";
	const steadily =
		found.low > 0 &&
		found.perSecond > BACKLOG_SHARE * rate &&
		found.total >= BACKLOG_MESSAGES;
	if (steadily)
		return result(
			"backlog",
			"fail",
			`${GREW} (by ${formatCount(found.perSecond)} messages per second, ${figure})`,
			{ figure, limit: `${formatCount(BACKLOG_SHARE * rate)}/s`, remedy },
		);
	const room =
		limitNs === null
			? Number.POSITIVE_INFINITY
			: Math.max(BACKLOG_MESSAGES, (rate * limitNs) / 1e9);
	if (found.step > room)
		return result(
			"backlog",
			"fail",
			`the queue was longer at the end than at the start (${figure}), by more than passes in ${formatDuration(limitNs ?? 0)}: percentiles depend on the duration`,
			{ figure, limit: formatCount(room), remedy },
		);
	return result("backlog", "ok", `the queue did not grow (${figure})`, {
		figure,
	});
};

/**
 * Messages that waited, ten times a second of the window: those in flight and, when sends that block explain it, those that were
 * due and could not leave. x: seconds since T0.
 */
export function queue(facts: Facts): TrendPoint[] {
	const { plan, ticks } = facts.collected;
	const { rate, messages, warmupNs, durationNs } = plan.schedule;
	const blocked = sumsOf(facts, "queued").sum > sumsOf(facts, "lag").sum;
	const points: TrendPoint[] = [];
	let sent = 0;
	let unsentBefore = 0;
	for (const tick of ticks) {
		sent += tick.sent;
		const due = Math.min(
			messages,
			messagesBefore(rate, Math.round(tick.at * 1e9)),
		);
		const unsent = blocked ? Math.max(0, due - sent) : 0;
		for (const [i, inFlight] of tick.backlog.entries()) {
			const share = Math.min(1, (i + 1) / SAMPLES_PER_SECOND);
			points.push({
				x: tick.at - 1 + share,
				y: inFlight + unsentBefore + (unsent - unsentBefore) * share,
			});
		}
		unsentBefore = unsent;
	}
	const from = warmupNs / 1e9 - 1e-9;
	const to = (warmupNs + durationNs) / 1e9 + 1e-9;
	return points.filter(({ x }) => x >= from && x <= to);
}

// --- internal ---

const SAMPLES_PER_SECOND = 10;

/**
 * How the queue grew. A message that never came is in flight for the rest of the run: all of those are taken off the growth,
 * as loss is judged elsewhere.
 */
function growth({ collected }: Facts, points: readonly TrendPoint[]) {
	const { warmup, window } = collected.counters;
	const missing =
		(warmup?.lost ?? 0) +
		(warmup?.unknown ?? 0) +
		(window?.lost ?? 0) +
		(window?.unknown ?? 0);
	const seconds = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
	const found = trend(points) ?? { slope: 0, low: 0, high: 0 };
	const third = Math.floor(points.length / 3);
	const first = points.slice(0, third).map(({ y }) => y);
	const last = points.slice(-third).map(({ y }) => y);
	const total = found.slope * seconds - missing;
	return {
		low: found.low,
		total,
		perSecond: total / seconds,
		first: median(first) ?? 0,
		last: (median(last) ?? 0) - missing,
		/** Even a short queue of the last third against a long one of the first. */
		step: quarter(last, 1) - missing - quarter(first, 3),
	};
}

/** The first or third quartile. */
function quarter(values: readonly number[], which: 1 | 3): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.floor(((sorted.length - 1) * which) / 4)] ?? 0;
}
