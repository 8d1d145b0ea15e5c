import type { Collected } from "../evidence/collect.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { TrendPoint } from "../stats/trend.ts";
import { type Said, said } from "../text/say.ts";
import { formatCount, plural } from "../units.ts";
import { neverCompleted } from "./never-completed.ts";

/** How a backlog that was built while consumers paused was worked off, with producers going on. */
interface Drain {
	/** Most messages that waited at once; null: no sample was taken. */
	readonly peak: number | null;
	/** Drained: at most so many wait. As in OpenMessaging Benchmark 1000 messages; of a large backlog 1 % of the peak. */
	readonly drainedAt: number;
	/** From the end of the pause until then, ns, to a tenth of a second; null: see `problem`. */
	readonly drainNs: number | null;
	/** Distinct receipts per second of that time: at least, as it may have been shorter by the distance of two samples. */
	readonly perSecond: number | null;
	/** The same at most; null: no bound, as the first sample found it drained. */
	readonly mostPerSecond: number | null;
	/** Why there is no drain time; null when there is one. */
	readonly open: Said | null;
	/** How long it was not drained, to the end of the window, ns; null when it was, or when that says nothing. */
	readonly undrainedNs: number | null;
}

/** null: the run builds no backlog, or nothing was counted. */
export function drainOf(collected: Collected): Drain | null {
	const { plan, ticks, counters } = collected;
	const { backlog, schedule } = plan;
	if (backlog === null || ticks.length === 0) return null;
	const { pauseNs, resumeNs } = backlog;
	const samples = waiting({ ticks });
	// Those that never came do not wait: they are lost, which is judged elsewhere.
	const missing = neverCompleted(collected);
	const failed = counters.window?.failed ?? 0;
	const endS = (schedule.warmupNs + schedule.durationNs) / 1e9;
	const inPause = samples.filter(({ x }) => x > pauseNs / 1e9 && x <= resumeNs / 1e9 + EDGE_S);
	const after = samples.filter(({ x }) => x > resumeNs / 1e9 + EDGE_S && x <= endS + EDGE_S);
	const top = inPause.at(-1);
	const peak = [...inPause, ...after].reduce<number | null>(
		(most, { y }) => Math.max(most ?? 0, y),
		null,
	);
	const drainedAt = Math.max(DRAINED_MESSAGES, DRAINED_SHARE * (peak ?? 0));
	const times = { drainNs: null, perSecond: null, mostPerSecond: null, undrainedNs: null };
	const none = { peak, drainedAt, ...times };
	if (peak === null || top === undefined) {
		const text = "the run broke off before its consumers went on";
		return { ...none, open: said("backlog-broken-off", text) };
	}
	if (top.y <= drainedAt) {
		const text = `the backlog was ${plural(top.y, "message")} when consumers went on, and up to ${formatCount(drainedAt)} count as drained: build a larger one`;
		return { ...none, open: said("backlog-too-small", text, { waiting: top.y, drainedAt }) };
	}
	const done = after.find(({ y }) => y - missing <= drainedAt);
	if (done === undefined) {
		const left = Math.max(0, (after.at(-1)?.y ?? top.y) - missing);
		const text = `the backlog was not drained by the end of the window: ${formatCount(left)} of ${plural(peak, "message")} still waited`;
		const open = said("backlog-not-drained", text, { waiting: left, peak });
		return { ...none, open, undrainedNs: Math.round(endS * 1e9) - resumeNs };
	}
	const seconds = done.x - resumeNs / 1e9;
	// What waited at first and no longer does, and what was sent meanwhile. Refused messages never waited.
	const sent = sentBy(ticks, done.x) - sentBy(ticks, top.x);
	const all = sentBy(ticks, Number.POSITIVE_INFINITY);
	const accepted = failed > 0 && all > 0 ? sent * (1 - failed / all) : sent;
	const received = top.y - done.y + accepted;
	const least = seconds - 1 / SAMPLES_PER_SECOND;
	return {
		...none,
		drainNs: Math.round(seconds * 1e9),
		perSecond: received / seconds,
		mostPerSecond: least > EDGE_S ? received / least : null,
		open: null,
	};
}

/** Messages in flight, ten times a tick. x: seconds since T0. */
export function waiting({ ticks }: Pick<Collected, "ticks">): TrendPoint[] {
	return ticks.flatMap((tick) =>
		tick.backlog.map((y, i) => ({
			x: tick.at - secondsOf(tick) + secondsOf(tick) * Math.min(1, (i + 1) / SAMPLES_PER_SECOND),
			y,
		})),
	);
}

/** Samples of the queue are taken so often. */
export const SAMPLES_PER_SECOND = 10;

/** A sample belongs to the tenth of a second that ends with it. */
export const EDGE_S = 0.001;

// --- internal ---

/** As OpenMessaging Benchmark has it: max(1000, (1 - drainRatio) * B), with a drainRatio of 0.99 and the peak for B. */
const DRAINED_MESSAGES = 1000;
const DRAINED_SHARE = 0.01;

/** Send calls until `atS`; within a second they are taken to be spread evenly. */
function sentBy(ticks: Collected["ticks"], atS: number): number {
	return ticks.reduce((sum, t) => sum + t.sent * Math.min(1, Math.max(0, atS - (t.at - 1))), 0);
}
