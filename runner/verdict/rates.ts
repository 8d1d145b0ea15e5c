import type { Collected } from "../evidence/collect.ts";
import type { Metric, Plan } from "../model/plan.ts";
import { type Measured, samplesPerMessage } from "../plan/samples.ts";
import { formatCount, formatDuration, ratePerSecond } from "../units.ts";
import { allReceivedTwice } from "./intervals.ts";

/** Messages per second in the window, by real time; null: not measured, or there is no such thing. */
export interface Rates {
	/** Acknowledged ones; of a closed load that acknowledges nothing, those that were sent. */
	readonly sent: number | null;
	/** Distinct receipts: of a fan-out copies. */
	readonly received: number | null;
	/** Really sent: send calls less those that failed. */
	readonly achieved: number | null;
	/** How `sent` and `received` were reckoned, for people; null where they are. */
	readonly sentHow: string | null;
	readonly receivedHow: string | null;
}

/**
 * Of an open load what happened in the window over its duration, less second receipts. Of a closed load, of its window's messages, those
 * acknowledged over (last acknowledgement - first send call), and distinct receipts over (last - first receipt).
 */
export function ratesOf(collected: Collected): Rates {
	return collected.plan.schedule.kind === "closed" ? closed(collected) : open(collected);
}

/** Below it the first batch, or the time until the first answer, is most of what a closed load measures. */
export const SHORTEST_CLOSED_NS = 1e9;

/** What says how fast samples come: a plan, or the load of a result. */
interface Sending extends Measured {
	readonly schedule: Pick<
		Plan["schedule"],
		"kind" | "rate" | "durationNs" | "warmupMessages" | "messages"
	>;
}

/** Messages per second that the schedule means to send in the window, on average; null: a closed load means to send none. */
export function meanRate({ schedule }: Pick<Sending, "schedule">): number | null {
	const { kind, rate, messages, warmupMessages, durationNs } = schedule;
	if (kind === "closed" || rate === null || durationNs === 0) return null;
	// Exact, where the count of a window is off by its edges.
	return kind === "stages" ? ((messages - warmupMessages) * 1e9) / durationNs : ratePerSecond(rate);
}

/** "34s at this rate", "34s at this mean rate", "messages: 100000": what carries so many samples of the metric. */
export function windowFor(samples: number, of: Sending, metric: Metric): string {
	const messages = Math.ceil(samples / Math.max(1, samplesPerMessage(of, metric)));
	const perSecond = meanRate(of);
	if (perSecond === null || perSecond === 0) return `${formatCount(messages)} messages`;
	const seconds = Math.ceil(messages / perSecond);
	const mean = of.schedule.kind === "stages" ? "mean " : "";
	return `${formatDuration(seconds * 1e9)} at this ${mean}rate`;
}

// --- internal ---

const NOTHING: Rates = {
	sent: null,
	received: null,
	achieved: null,
	sentHow: null,
	receivedHow: null,
};

function open(collected: Collected): Rates {
	const { counters, totals, plan } = collected;
	const { window } = counters;
	const seconds = plan.schedule.durationNs / 1e9;
	if (totals === null) return NOTHING;
	const sent = totals.ackedInWindow === null ? null : totals.ackedInWindow / seconds;
	// Where nobody consumes nothing was counted, whatever the field says.
	const again = allReceivedTwice(collected);
	const received =
		plan.pattern === "publish" ? null : Math.max(0, totals.receivedInWindow - again) / seconds;
	return {
		sent,
		received,
		achieved: window && Math.max(0, totals.sentInWindow - window.failed) / seconds,
		sentHow: sent === null ? null : "acknowledged in the window / its duration",
		receivedHow:
			received === null
				? null
				: again === 0
					? "received in the window / its duration"
					: `(received in the window - ${formatCount(again)} that a second client received) / its duration`,
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
				: `${acks ? "acknowledged / (last acknowledgement - first send call)" : "sent / (last receipt - first send call), as nothing is acknowledged"}${short}`,
		receivedHow: received === null ? null : `distinct receipts / (last - first receipt)${short}`,
	};
}

/** null: one of the times is missing, or they leave no time between them. */
function perSecond(
	count: number | null,
	fromNs: number | null,
	toNs: number | null,
): number | null {
	return count === null || fromNs === null || toNs === null || toNs <= fromNs
		? null
		: (count * 1e9) / (toNs - fromNs);
}
