import type { Collected } from "../evidence/collect.ts";
import { formatCount, formatDuration } from "../units.ts";
import { allReceivedTwice } from "./received-twice.ts";

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
