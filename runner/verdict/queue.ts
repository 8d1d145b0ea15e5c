import type { Collected } from "../evidence/collect.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import { CATCH_UP } from "../model/load.ts";
import { acrossClients } from "../model/plan.ts";
import type { Failover } from "../model/result.ts";
import { messagesBefore } from "../plan/offset.ts";
import { copies } from "../plan/samples.ts";
import type { TrendPoint } from "../stats/trend.ts";
import { said } from "../text/say.ts";
import { formatCount, formatDuration, plural } from "../units.ts";
import { sumsOf } from "./facts.ts";
import { allReceivedTwice } from "./intervals.ts";
import { meanRate } from "./rates.ts";

export const SAMPLES_PER_SECOND = 10;
/** A sample belongs to the tenth of a second that it ends. */
export const EDGE_S = 0.001;
/** Less growth cannot be distinguished from the few messages always in flight. */
export const BACKLOG_MESSAGES = 10;

/** Messages in flight, ten times a tick; x in seconds since T0. */
export function waiting({ ticks }: Pick<Collected, "ticks">): TrendPoint[] {
	return ticks.flatMap((tick) =>
		tick.backlog.map((y, i) => ({
			x: tick.at - secondsOf(tick) + secondsOf(tick) * Math.min(1, (i + 1) / SAMPLES_PER_SECOND),
			y,
		})),
	);
}

/** Lost or unanswered messages, in flight forever. A fan-out message counts once if any copy is; across clients, copies count. */
export function neverCompleted(collected: Collected): number {
	const { plan, counters, totals } = collected;
	const { warmup, window } = counters;
	const sum = (name: "lost" | "unknown" | "unackedReceived" | "failedReceived") =>
		(warmup?.[name] ?? 0) + (window?.[name] ?? 0);
	const unknown = sum("unknown");
	const left = Math.min(unknown, totals?.unanswered ?? unknown);
	if (acrossClients(plan)) {
		const each = copies(plan);
		const strange = sum("unackedReceived") + sum("failedReceived");
		const owed = sum("lost") + each * (unknown - left);
		return Math.ceil(Math.max(0, owed - strange - allReceivedTwice(collected)) / each);
	}
	if (plan.pattern !== "fan-out") return unknown - left + sum("lost");
	const whole = sumsOf({ collected }, "last").count;
	const open = window === null ? 0 : window.sent - window.failed - whole - left;
	return Math.min(warmup?.lost ?? 0, warmup?.sent ?? 0) + Math.max(0, open);
}

/** From a fault to the next or the window's end, ns since T0. */
export interface FaultSpan {
	readonly beganNs: number;
	readonly untilNs: number;
	/** End of the stretch without completions. */
	readonly resumedNs?: number;
}

const BEFORE_S = 2;
const LEAST_S = 0.5;

/**
 * Time from a fault until the queue is at most the maximum of the 2 s before it, for 2 s (at least 0.5 s at the span's end); ns, 10 samples
 * a second, searched from `resumedNs` and the first sample above. 0 if never above; null if still above (`drainedStill`) or not counted. The
 * calm stretch is as long as the reference, because the maximum of 300 samples nearly always exceeds one of 20. Tolerates messages due in
 * 100 ms, at most 10 messages. Messages that never come do not wait: a level that the queue never falls below (until the timeout, if given
 * up) is subtracted, up to the run's losses.
 */
export function drainedOf(
	collected: Collected,
	{ beganNs, untilNs, resumedNs = beganNs }: FaultSpan,
): Pick<Failover, "drainedNs" | "drainedStill"> {
	const { plan, totals } = collected;
	const began = beganNs / 1e9;
	const samples = waiting(collected);
	const perSecond = SAMPLES_PER_SECOND / (plan.intervalSeconds ?? 1);
	const beforeS = Math.max(BEFORE_S, 2 / perSecond);
	const before = samples.filter(({ x }) => x > began - beforeS && x <= began).map(({ y }) => y);
	const after = samples.filter(({ x }) => x > began && x <= untilNs / 1e9 + EDGE_S);
	if (before.length === 0 || after.length === 0) return { drainedNs: null, drainedStill: false };
	const dueInPiece = (meanRate(plan) ?? 0) / perSecond;
	const level = largestOf(before) + Math.max(1, Math.min(BACKLOG_MESSAGES, dueInPiece));
	const least = smallestOf(before);
	const forever = neverCompleted(collected);
	const givenUp = forever + (totals?.unanswered ?? 0);
	const timeoutS = began + plan.timeoutNs / 1e9;
	const never = neverBelow(after);
	const byTimeout = neverBelow(after.filter(({ x }) => x < timeoutS));
	const isAbove = ({ y }: TrendPoint, i: number) => {
		const gone = Math.max(
			0,
			Math.min(forever, (never[i] ?? 0) - least),
			Math.min(givenUp, (byTimeout[i] ?? 0) - least),
		);
		return y - gone > level;
	};
	const above = after.map(isAbove);
	const first = above.indexOf(true);
	if (first < 0) return { drainedNs: 0, drainedStill: false };
	const calm = after.find(({ x }, i) => {
		if (i < first || x < resumedNs / 1e9) return false;
		const stretch = above.slice(i, i + beforeS * perSecond);
		return stretch.length >= LEAST_S * perSecond && !stretch.includes(true);
	});
	return calm === undefined
		? { drainedNs: null, drainedStill: true }
		: { drainedNs: Math.round((calm.x - began) * 1e9), drainedStill: false };
}

/** OpenMessaging Benchmark: max(1000, (1 - drainRatio) * B), here with drainRatio 0.99 and the peak as B. */
const DRAINED_MESSAGES = 1000;
const DRAINED_SHARE = 0.01;

const NOT_DRAINED = { drainNs: null, perSecond: null, mostPerSecond: null, undrainedNs: null };

/**
 * How a backlog was worked off after the pause, with producers still sending. `mostPerSecond`: upper bound of `perSecond`; null if the first
 * sample was already drained.
 */
export function drainOf(collected: Collected) {
	const { plan, ticks, counters } = collected;
	const { backlog, schedule } = plan;
	if (plan.pattern === CATCH_UP) return caughtUp(collected);
	if (backlog === null || ticks.length === 0) return null;
	const { pauseNs, resumeNs } = backlog;
	const samples = waiting({ ticks });
	const endS = (schedule.warmupNs + schedule.durationNs) / 1e9;
	const between = (from: number, to: number) =>
		samples.filter(({ x }) => x > from && x <= to + EDGE_S);
	const inPause = between(pauseNs / 1e9, resumeNs / 1e9);
	const after = between(resumeNs / 1e9 + EDGE_S, endS);
	const top = inPause.at(-1);
	const all = [...inPause, ...after].map(({ y }) => y);
	const peak = all.length === 0 ? null : Math.max(0, largestOf(all));
	const drainedAt = Math.max(DRAINED_MESSAGES, DRAINED_SHARE * (peak ?? 0));
	const none = { peak, drainedAt, ...NOT_DRAINED };
	if (peak === null || top === undefined) {
		const text = "the run broke off before its consumers went on";
		return { ...none, open: said("backlog-broken-off", text) };
	}
	if (top.y <= drainedAt) {
		const text = `the backlog was ${plural(top.y, "message")} when consumers went on, and up to ${formatCount(drainedAt)} count as drained: build a larger one`;
		return { ...none, open: said("backlog-too-small", text, { waiting: top.y, drainedAt }) };
	}
	// Lost messages do not wait; loss is judged elsewhere.
	const missing = neverCompleted(collected);
	const done = after.find(({ y }) => y - missing <= drainedAt);
	if (done === undefined) {
		const left = Math.max(0, (after.at(-1)?.y ?? top.y) - missing);
		const text = `the backlog was not drained by the end of the window: ${formatCount(left)} of ${plural(peak, "message")} still waited`;
		const open = said("backlog-not-drained", text, { waiting: left, peak });
		return { ...none, open, undrainedNs: Math.round(endS * 1e9) - resumeNs };
	}
	const seconds = done.x - resumeNs / 1e9;
	// The fall of the queue plus the messages sent during the drain. Refused messages never waited.
	const sent = sentBy(ticks, done.x) - sentBy(ticks, top.x);
	const refused = (counters.window?.failed ?? 0) / (sentBy(ticks, Number.POSITIVE_INFINITY) || 1);
	const received = top.y - done.y + sent * (1 - refused);
	const least = seconds - 1 / SAMPLES_PER_SECOND;
	return {
		...none,
		drainNs: Math.round(seconds * 1e9),
		perSecond: received / seconds,
		mostPerSecond: least > EDGE_S ? received / least : null,
		open: null,
	};
}

// --- internal ---

/** From the start of reading to the last message older than 1 s, after which a whole second brought only younger ones (catchup.go). */
function caughtUp({ plan, totals }: Collected) {
	if (totals === null) return null;
	const { catchUp } = totals;
	const peak = catchUp == null ? null : messagesBefore(plan.schedule, catchUp.beganNs);
	const none = { peak, drainedAt: 0, ...NOT_DRAINED };
	if (catchUp == null) {
		const text = "the run broke off before it began to read";
		return { ...none, open: said("catch-up-not-begun", text) };
	}
	const { beganNs, untilNs, messages } = catchUp;
	const { warmupNs, durationNs } = plan.schedule;
	if (untilNs === null) {
		const undrainedNs = Math.max(0, warmupNs + durationNs - beganNs);
		const text = `it had not caught up when the main load ended, ${formatDuration(undrainedNs)} after it began to read, with ${plural(messages, "message")}`;
		return { ...none, undrainedNs, open: said("catch-up-not-done", text, { messages }) };
	}
	const drainNs = untilNs - beganNs;
	const perSecond = drainNs > 0 ? (messages * 1e9) / drainNs : null;
	return { ...none, drainNs, perSecond, mostPerSecond: perSecond, open: null };
}

function neverBelow(samples: readonly TrendPoint[]): number[] {
	let least = Number.POSITIVE_INFINITY;
	return samples
		.toReversed()
		.map(({ y }) => (least = Math.min(least, y)))
		.toReversed();
}

/** Send calls until `atS`, assumed evenly spread within a second. */
function sentBy(ticks: Collected["ticks"], atS: number): number {
	return ticks.reduce((sum, t) => sum + t.sent * Math.min(1, Math.max(0, atS - (t.at - 1))), 0);
}
