import { formatCount } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";
import { distributionOf } from "./facts.ts";
import { intendedInWindow } from "./intervals.ts";

/**
 * Messages that did not complete, and that no SLA line looks at: `lost == 0` alone would pass a broker that refuses every
 * message, as nothing was accepted and so nothing lost. Such a run is INCONCLUSIVE at best. A latency counts all of them as
 * slower than its limit.
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
	const latency = plan.sla.some((s) => s.kind !== "tally");
	const counts = (name: (typeof KINDS)[number]) =>
		latency || plan.sla.some((s) => s.kind === "tally" && s.tally === name);
	const missing = KINDS.map(
		(name) => [name, warmup[name] + window[name]] as const,
	).filter(([name, n]) => n > 0 && !counts(name));
	const intended = warmup.intended + window.intended;
	const n = missing.reduce((sum, [, count]) => sum + count, 0);
	if (n > 0) {
		const lines = missing.map(([name]) => `${name} == 0`).join(" and ");
		const said = missing
			.map(
				([name, count], i) =>
					`${formatCount(count)}${i === 0 ? ` of ${formatCount(intended)} messages` : ""} ${WORDS[name]}`,
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
	return !latency &&
		intendedInWindow(plan) > 0 &&
		distributionOf(facts, "response").count === 0
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

// --- internal ---

const KINDS = ["failed", "unknown", "lost"] as const;
const WORDS = {
	failed: "failed",
	unknown: "were never answered",
	lost: "were lost",
};
