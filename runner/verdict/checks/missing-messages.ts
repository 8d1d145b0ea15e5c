import type { Plan } from "../../model/plan.ts";
import { intendedInWindow } from "../../plan/samples.ts";
import { say } from "../../text/say.ts";
import { formatCount } from "../../units.ts";
import { distributionOf, type Facts, hasMetric } from "../facts.ts";
import { type Check, NOT_COUNTED, unknown } from "./check.ts";

/**
 * Messages that did not complete, and that no SLA line looks at: `lost == 0` alone would pass a broker that refuses every
 * message, as nothing was accepted and so nothing lost. Such a run is INCONCLUSIVE at best. A latency counts those that it never
 * gets as slower than its limit: response, service and last all of them, ack all but the lost, which were acknowledged.
 */
export const missingMessages: Check = {
	name: "uncounted",
	judge(facts) {
		const { plan, counters, state } = facts.collected;
		const { warmup, window } = counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		// Of a run that was stopped, failed holds those that the stop kept from leaving.
		if (state !== "complete") return unknown(say("run-unfinished-counts"), say("again"));
		const missing = KINDS.map((kind) => ({
			kind,
			n: (warmup[kind] ?? 0) + (window[kind] ?? 0),
		})).filter(({ kind, n }) => n > 0 && !countedBySla(plan, kind));
		if (missing.length > 0) {
			const lines = missing.map(({ kind }) => `${kind} == 0`);
			const of = (kind: Kind) => missing.find((m) => m.kind === kind)?.n ?? 0;
			return {
				status: "inconclusive",
				said: say("nobody-counts", {
					intended: warmup.intended + window.intended,
					failed: of("failed"),
					unknown: of("unknown"),
					lost: of("lost"),
					copies: plan.pattern === "fan-out",
					lines,
				}),
				figure: formatCount(missing.reduce((sum, { n }) => sum + n, 0)),
				limit: "0",
				remedy: say("add-lines", { lines }),
			};
		}
		// It is what the SLA asks for.
		const asked = plan.sla.some((s) => s.kind === "tally" && s.all);
		// With a latency that is a FAIL.
		const latency = plan.sla.some(
			(s) => s.kind !== "tally" && (COMPLETE.has(s.metric) || s.metric === "ack"),
		);
		return !asked && !latency && intendedInWindow(plan) > 0 && nothingCompleted(facts)
			? {
					status: "inconclusive",
					said: say("nothing-completed", { intended: window.intended }),
					figure: "0",
					remedy: say("see-completions"),
				}
			: { status: "ok", said: say("sla-counts-all"), figure: "0", limit: "0" };
	},
};

/** Does an SLA line of this plan count messages that ended so? */
export function countedBySla({ sla }: Pick<Plan, "sla">, kind: Kind): boolean {
	return sla.some((s) =>
		s.kind === "tally"
			? s.tally === kind
			: COMPLETE.has(s.metric) || (s.metric === "ack" && kind !== "lost"),
	);
}

// --- internal ---

const KINDS = ["failed", "unknown", "lost"] as const;
type Kind = (typeof KINDS)[number];

/** Latencies that end at the receipt. */
const COMPLETE: ReadonlySet<string> = new Set(["response", "service", "last"]);

function nothingCompleted(facts: Facts): boolean {
	const { counters } = facts.collected;
	// A backlog is received, but without latency.
	return hasMetric(facts, "service")
		? distributionOf(facts, "service").count === 0
		: counters.window?.received === 0;
}
