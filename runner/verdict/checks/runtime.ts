import { percentile } from "../../histogram/percentiles.ts";
import type { ClientPart } from "../../run/collect.ts";
import { formatDuration } from "../../units.ts";
import {
	type Facts,
	mainSampleOf,
	ticksOfWindow,
	tightestLimitNs,
} from "../facts.ts";
import { type Check, unknown } from "./check.ts";
import { clientName } from "./clients.ts";
import { GC_SHARE, SCHEDULER_SHARE } from "./limits.ts";

/** Did the generator's own runtime keep it waiting: for a core, or for its garbage collection? */

export const schedLatency: Check = {
	name: "schedLatency",
	judge(facts) {
		const latency = facts.collected.totals?.schedLatencyP999Ns;
		const response = mainSampleOf(facts);
		const reference =
			tightestLimitNs(facts) ??
			percentile(response, 99, 1).value ??
			response.max;
		if (latency === undefined || reference === null)
			return unknown(
				"no client has measured it",
				"see why the run did not end",
			);
		const figure = formatDuration(latency);
		const worst = worstPart(
			facts,
			(part) => part.totals?.schedLatencyP999Ns ?? null,
		);
		return {
			...(latency > reference * SCHEDULER_SHARE
				? {
						status: "warn",
						detail: `one in 1000 of the generator's goroutines waited longer than ${figure} for a core${nameOf(facts, worst)}`,
					}
				: {
						status: "ok",
						detail: `the generator's goroutines waited at most ${figure} for a core, 999 in 1000`,
					}),
			...{ figure, limit: formatDuration(reference * SCHEDULER_SHARE) },
			remedy:
				"give it more cores, or run the broker on another machine: they compete for CPU",
		};
	},
};

export const gcPause: Check = {
	name: "gcPause",
	judge(facts) {
		const pauses = (part: ClientPart) => {
			const ticks = ticksOfWindow(facts, part.ticks);
			const paused = ticks.reduce((sum, t) => sum + t.gcPauseNs, 0);
			return { paused, windowNs: ticks.length * 1e9 };
		};
		const worst = worstPart(facts, (part) => {
			const { paused, windowNs } = pauses(part);
			return windowNs === 0 ? null : paused / windowNs;
		});
		if (worst === null)
			return unknown(
				"no second of the window was counted",
				"measure for a second at least",
			);
		const { paused, windowNs } = pauses(worst);
		const figure = formatDuration(paused);
		return {
			status: paused > windowNs * GC_SHARE ? "warn" : "ok",
			detail: `garbage collection stopped the generator for ${figure} of the window${nameOf(facts, worst)}`,
			...{ figure, limit: formatDuration(windowNs * GC_SHARE) },
			remedy: "send smaller messages, or fewer of them",
		};
	},
};

// --- internal ---

/** The client with the largest figure; null: none has told. */
function worstPart(
	{ collected }: Facts,
	figure: (part: ClientPart) => number | null,
): ClientPart | null {
	let worst: { part: ClientPart; figure: number } | null = null;
	for (const part of collected.parts) {
		const found = figure(part);
		if (found !== null && (worst === null || found > worst.figure))
			worst = { part, figure: found };
	}
	return worst?.part ?? null;
}

/** ", on client 1 (bench@10.0.0.11)"; of a single client nothing. */
function nameOf({ collected }: Facts, part: ClientPart | null): string {
	return part === null || collected.parts.length === 1
		? ""
		: `, on ${clientName(part)}`;
}
