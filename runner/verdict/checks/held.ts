import { largestOf, smallestOf } from "../../extremes.ts";
import { say } from "../../text/say.ts";
import { formatCount } from "../../units.ts";
import { tightestLimitNs } from "../facts.ts";
import { heldIn, RECEIVES } from "../held.ts";
import type { Check } from "./check.ts";

/**
 * Did messages wait in the client library for longer than the rate and the tightest limit explain? INVALID when that decided a gate: then the
 * receiving side was slow, not the system. Consumers that work or pause as the scenario says are not asked.
 */
export const held: Check = {
	name: "held",
	applies: ({ plan, ticks }) =>
		plan.schedule.kind !== "closed" &&
		!plan.work &&
		!plan.backlog &&
		ticks.some((t) => t.held !== undefined),
	judge(facts, judgements) {
		if (facts.collected.ticks.some((t) => t.held === null))
			return { status: "unknown", said: say("held-not-counted") };
		const limits = [...RECEIVES].map((m) => tightestLimitNs(facts, m));
		const limitNs = smallestOf(limits.filter((ns) => ns !== null));
		const queue = heldIn(facts.collected, limitNs);
		if (queue === null || !Number.isFinite(limitNs)) {
			const most = Math.max(
				0,
				largestOf(facts.collected.ticks.map((t) => largestOf(t.held ?? []))),
			);
			return { status: "ok", said: say("held-most", { held: most }), figure: formatCount(most) };
		}
		const { most, explained, intervals } = queue;
		const values = { held: most, explained, limitNs };
		const lines = judgements.filter((j) => j.heldDecided).map((j) => j.sla);
		return {
			...(lines.length > 0
				? { status: "invalid", said: say("held-decided", { ...values, lines }) }
				: intervals.size > 0
					? { status: "warn", said: say("held-long", values) }
					: { status: "ok", said: say("held-most", { held: most }) }),
			figure: formatCount(most),
			limit: formatCount(explained),
			remedy: say("faster-receivers"),
		};
	},
};
