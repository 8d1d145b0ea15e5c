import type { Plan } from "../model/plan.ts";
import { intendedInWindow } from "../plan/samples.ts";
import { formatCount } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";
import { distributionOf, type Facts, hasMetric } from "./facts.ts";

/**
 * Messages that did not complete, and that no SLA line looks at: `lost == 0` alone would pass a broker that refuses every
 * message, as nothing was accepted and so nothing lost. Such a run is INCONCLUSIVE at best. A latency counts those that it never
 * gets as slower than its limit: response, service and last all of them, ack all but the lost, which were acknowledged.
 */
export const uncounted: CheckFunction = (facts) => {
	const { plan, counters, state } = facts.collected;
	const { warmup, window } = counters;
	if (warmup === null || window === null)
		return result("uncounted", "unknown", "no client has counted", {
			remedy: "make the run again",
		});
	// Of a run that was stopped, failed holds those that the stop kept from leaving.
	if (state !== "complete")
		return result("uncounted", "unknown", "the run was not made to its end", {
			remedy: "make the run again",
		});
	const missing = KINDS.map(
		(name) => [name, (warmup[name] ?? 0) + (window[name] ?? 0)] as const,
	).filter(([name, n]) => n > 0 && !countedBySla(plan, name));
	const latency = plan.sla.some(
		(s) => s.kind !== "tally" && (COMPLETE.has(s.metric) || s.metric === "ack"),
	);
	const intended = warmup.intended + window.intended;
	const n = missing.reduce((sum, [, count]) => sum + count, 0);
	if (n > 0) {
		const lines = missing.map(([name]) => `${name} == 0`).join(" and ");
		const said = missing
			.map(
				([name, count], i) =>
					`${formatCount(count)}${i === 0 && !copied(name, plan) ? ` of ${formatCount(intended)} messages` : ""} ${wordsOf(name, plan)}`,
			)
			.join(", ");
		return result(
			"uncounted",
			"inconclusive",
			`${said}, and no SLA line counts them: add ${lines}, or a latency`,
			{ figure: formatCount(n), limit: "0", remedy: `add ${lines} to the SLA` },
		);
	}
	// With a latency that is a FAIL.
	return !latency && intendedInWindow(plan) > 0 && nothingCompleted(facts)
		? result(
				"uncounted",
				"inconclusive",
				`none of the ${formatCount(window.intended)} messages of the window completed`,
				{ figure: "0", limit: null, remedy: "see why nothing completed" },
			)
		: result(
				"uncounted",
				"ok",
				"the SLA counts every kind of missing message",
				{
					figure: "0",
					limit: "0",
				},
			);
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

function wordsOf(name: Kind, plan: Plan): string {
	if (name === "failed") return "failed";
	if (name === "unknown") return "were never answered";
	return copied(name, plan) ? "copies were lost" : "were lost";
}

/** Of a fan-out each subscriber has its own copy to lose. */
function copied(kind: Kind, plan: Plan): boolean {
	return kind === "lost" && plan.pattern === "fan-out";
}
