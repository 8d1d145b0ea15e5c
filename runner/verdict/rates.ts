import type { Collected } from "../evidence/collect.ts";
import { CATCH_UP } from "../model/load.ts";
import type { Metric, Plan } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { type Measured, samplesPerMessage } from "../plan/samples.ts";
import { formatCount, formatDuration, ratePerSecond } from "../units.ts";
import { allReceivedTwice } from "./intervals.ts";

type Rates = Run["throughput"];

/** Open: events in the window over its duration. Closed: acknowledged since the first send, received since the first receipt. */
export function ratesOf(collected: Collected): Rates {
	return collected.plan.schedule.kind === "closed" ? closed(collected) : open(collected);
}

/** " (it achieved 9 500/s of 10 000/s)"; empty if it sent all that was due, if only late, or if the run was cut short. */
export function achievedText(collected: Collected): string {
	const { state, totals, plan } = collected;
	const rate = meanRate(plan);
	if (state !== "complete" || totals === null || rate === null || plan.pattern === CATCH_UP)
		return "";
	const sent = (totals.sentInWindow * 1e9) / plan.schedule.durationNs;
	// A window's count is off by its edges.
	if (sent >= 0.99 * rate) return "";
	return ` (it achieved ${formatCount(sent)}/s of ${formatCount(rate)}/s)`;
}

/** In less time, the first batch or the first answer dominates a closed load's rate. */
export const SHORTEST_CLOSED_NS = 1e9;

/** Sample rate of a plan, or of the load of a result. */
interface Sending extends Measured {
	readonly schedule: Pick<
		Plan["schedule"],
		"kind" | "rate" | "durationNs" | "warmupMessages" | "messages"
	>;
}

/** Mean scheduled rate in the window; null for a closed load. */
export function meanRate({ schedule }: Pick<Sending, "schedule">): number | null {
	const { kind, rate, messages, warmupMessages, durationNs } = schedule;
	if (kind === "closed" || rate === null || durationNs === 0) return null;
	// Exact, whereas a window's count is off by its edges.
	return kind === "stages" ? ((messages - warmupMessages) * 1e9) / durationNs : ratePerSecond(rate);
}

/** "34s at this rate", "34s at this mean rate", "100 000 messages" */
export function windowFor(samples: number, of: Sending, metric: Metric): string {
	const messages = Math.ceil(samples / Math.max(1, samplesPerMessage(of, metric)));
	const perSecond = meanRate(of);
	if (perSecond === null || perSecond === 0) return `${formatCount(messages)} messages`;
	const seconds = Math.ceil(messages / perSecond);
	const mean = of.schedule.kind === "stages" ? "mean " : "";
	return `${formatDuration(seconds * 1e9)} at this ${mean}rate`;
}

// --- internal ---

/** Its rates need no explanation. */
const IN_WINDOW = { sentHow: null, receivedHow: null };
const NOTHING: Rates = { sent: null, received: null, achieved: null, ...IN_WINDOW };

function open(collected: Collected): Rates {
	const { counters, totals, plan } = collected;
	const { window } = counters;
	const seconds = plan.schedule.durationNs / 1e9;
	if (totals === null) return NOTHING;
	const sends = plan.pattern !== CATCH_UP;
	const acked = sends ? totals.ackedInWindow : null;
	const sent = acked === null ? null : acked / seconds;
	// The counter means nothing if nothing consumes.
	const again = allReceivedTwice(collected);
	const received =
		plan.pattern === "publish" ? null : Math.max(0, totals.receivedInWindow - again) / seconds;
	return {
		sent,
		received,
		achieved: sends ? window && Math.max(0, totals.sentInWindow - window.failed) / seconds : null,
		...IN_WINDOW,
	};
}

function closed({ counters, totals }: Collected): Rates {
	const { window } = counters;
	if (totals === null || window === null) return NOTHING;
	const { firstSendNs, lastAckNs, firstReceiveNs, lastReceiveNs } = totals;
	const acks = window.acked !== null;
	const leftWell = window.sent - window.failed - window.unknown;
	const sent = acks
		? perSecond(window.acked, firstSendNs, lastAckNs)
		: perSecond(leftWell, firstSendNs, lastReceiveNs);
	const received = perSecond(window.received, firstReceiveNs, lastReceiveNs);
	const spanNs = (lastReceiveNs ?? lastAckNs ?? 0) - (firstSendNs ?? 0);
	const short =
		spanNs < SHORTEST_CLOSED_NS
			? `; all within ${formatDuration(Math.max(0, spanNs))}, too short to tell a rate`
			: "";
	return {
		sent,
		received,
		achieved: null,
		sentHow:
			sent === null
				? null
				: `${acks ? "acknowledged / (last acknowledgement - first send call)" : "sent / (last receipt - first send call), because nothing is acknowledged"}${short}`,
		receivedHow: received === null ? null : `distinct receipts / (last - first receipt)${short}`,
	};
}

function perSecond(count: number | null, fromNs: number | null, toNs: number | null) {
	return count === null || fromNs === null || toNs === null || toNs <= fromNs
		? null
		: (count * 1e9) / (toNs - fromNs);
}
