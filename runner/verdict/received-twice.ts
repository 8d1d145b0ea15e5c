import type { Collected } from "../evidence/collect.ts";
import type { Distribution } from "../histogram/distribution.ts";
import type { Metric } from "../model/plan.ts";
import { samplesPerMessage } from "../plan/samples.ts";

/**
 * Samples of the window that are of a message's second receipt, by another client than the first: both have recorded a response, and only all
 * ledgers together tell how many there are. Whoever counts what never completed must not take them for messages.
 */
export function receivedTwice(
	{ plan, ledgers }: Pick<Collected, "plan" | "ledgers">,
	metric: Metric,
): number {
	const received = metric === "response" || metric === "service";
	return received && samplesPerMessage(plan, metric) > 0 ? (ledgers?.window.duplicated ?? 0) : 0;
}

/** The same of all receipts, warm-up included. */
export function allReceivedTwice({ ledgers }: Pick<Collected, "ledgers">): number {
	return ledgers === null ? 0 : ledgers.warmup.duplicated + ledgers.window.duplicated;
}

/** Without so many samples: the smallest, so that no percentile profits from not knowing which they are. */
export function withoutSmallest(all: Distribution, n: number): Distribution {
	if (n <= 0) return all;
	const from = all.upTo.findIndex((upTo) => upTo > n);
	if (from < 0) return { count: 0, low: [], high: [], upTo: [] };
	return {
		count: all.count - n,
		low: all.low.slice(from),
		high: all.high.slice(from),
		upTo: all.upTo.slice(from).map((upTo) => upTo - n),
	};
}
