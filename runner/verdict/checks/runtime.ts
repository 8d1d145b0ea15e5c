import { secondsOf } from "../../model/line-seconds.ts";
import type { ClientPart } from "../../run/collect.ts";
import { sum } from "../../stats/sum.ts";
import { say } from "../../text/say.ts";
import { formatDuration } from "../../units.ts";
import { type Facts, ticksOfWindow } from "../facts.ts";
import { type Check, unknown } from "./check.ts";
import { clientName } from "./clients.ts";
import { GC_SHARE } from "./limits.ts";

/** Did garbage collection keep the generator waiting? */
export const gcPause: Check = {
	name: "gcPause",
	judge(facts) {
		const pauses = (part: ClientPart) => {
			const ticks = ticksOfWindow(facts, part.ticks);
			const paused = ticks.reduce((sum, t) => sum + t.gcPauseNs, 0);
			return { paused, windowNs: sum(ticks.map(secondsOf)) * 1e9 };
		};
		const worst = worstPart(facts, (part) => {
			const { paused, windowNs } = pauses(part);
			return windowNs === 0 ? null : paused / windowNs;
		});
		if (worst === null) return unknown(say("gc-unknown"), say("a-second-at-least"));
		const { paused, windowNs } = pauses(worst);
		const figure = formatDuration(paused);
		return {
			status: paused > windowNs * GC_SHARE ? "warn" : "ok",
			said: say("gc", { pausedNs: paused, client: nameOf(facts, worst) }),
			figure,
			limit: formatDuration(windowNs * GC_SHARE),
			remedy: say("smaller-messages"),
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
		const value = figure(part);
		if (value !== null && (worst === null || value > worst.figure)) worst = { part, figure: value };
	}
	return worst?.part ?? null;
}

/** null: a single client. */
function nameOf({ collected }: Facts, part: ClientPart | null): string | null {
	return part === null || collected.parts.length === 1 ? null : clientName(part);
}
