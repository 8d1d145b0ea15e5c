import { percentile } from "../histogram/percentiles.ts";
import type { Plan } from "../plan/plan.ts";
import { formatDuration } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";
import { sampleOf } from "./facts.ts";

/**
 * The generator's own lateness. INVALID when it decided a gate; without a latency SLA when it is a large part of
 * what was measured. More than a tenth of the tightest limit is a warning.
 */
export const lag: CheckFunction = (facts, judgements) => {
	const { plan } = facts.collected;
	const sample = sampleOf(facts, "lag");
	if (sample.n === 0) return result("lag", "unknown", "no message completed");
	const p50 = percentile(sample, 50, 1).value;
	const p99 = percentile(sample, 99, 1).value ?? sample.max ?? 0;
	const figures = `lag p50 ${p50 === null ? "n/a" : formatDuration(p50)}, p99 ${formatDuration(p99)}`;
	const decided = judgements.filter((j) => j.lagDecided);
	if (decided.length > 0)
		return result(
			"lag",
			"invalid",
			`the generator's lateness decided ${decided.map((j) => j.sla).join(", ")}; ${figures}`,
			formatDuration(p99),
		);
	const tightest = tightestLimitNs(plan);
	if (tightest !== null)
		return p99 > tightest / 10
			? result(
					"lag",
					"warn",
					`${figures}: more than 10 % of the tightest limit`,
					formatDuration(p99),
					formatDuration(tightest / 10),
				)
			: result(
					"lag",
					"ok",
					figures,
					formatDuration(p99),
					formatDuration(tightest / 10),
				);
	const response = sampleOf(facts, "response");
	const half = (percentile(response, 99, 1).value ?? response.max ?? 0) / 2;
	const bad = (p50 ?? p99) > MAX_LAG_P50_NS || p99 > half;
	return result(
		"lag",
		bad ? "invalid" : "ok",
		bad
			? `${figures}: the generator is a large part of what was measured`
			: figures,
		formatDuration(p99),
		formatDuration(half),
	);
};

// --- internal ---

/** Without a latency SLA: 1 ms in the median is more than brokers take. */
const MAX_LAG_P50_NS = 1_000_000;

function tightestLimitNs(plan: Plan): number | null {
	const limits = plan.sla.flatMap((s) =>
		s.kind === "tally" ? [] : [s.limitNs],
	);
	return limits.length === 0 ? null : Math.min(...limits);
}
