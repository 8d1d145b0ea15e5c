import { largestOf, smallestOf } from "../../extremes.ts";
import { percentile, rank, type Sample } from "../../histogram/percentiles.ts";
import { subjectOf } from "../../model/baseline-sla.ts";
import type { Sla } from "../../model/plan.ts";
import { mainMetric } from "../../plan/samples.ts";
import { type Said, say } from "../../text/say.ts";
import { formatCount, formatDuration } from "../../units.ts";
import {
	containsLag,
	type Facts,
	hasMetric,
	lagByClient,
	mainSampleOf,
	sampleOf,
	tightestLimitNs,
} from "../facts.ts";
import { heldIn, RECEIVES } from "../held.ts";
import { LATENESS } from "../judgement.ts";
import { type Check, type Finding, unknown } from "./check.ts";
import { LAG_P50_NS, LAG_SHARE } from "./limits.ts";
import { clientName } from "./run.ts";

/**
 * The generator's own lateness. INVALID when it decided a gate; without any latency SLA when it is a large part of
 * what was measured. More than a tenth of the tightest limit is a warning. Of several clients the one that was latest is judged: among the
 * messages of all the others it would not show.
 */
export const lag: Check = {
	name: "lag",
	/** Without a schedule nothing is late. */
	applies: ({ plan }) => plan.schedule.kind !== "closed",
	judge(facts, judgements) {
		const { sample, client } = latest(facts);
		if (sample.n === 0) return unknown(say("lag-unknown"), say("see-completions"));
		const p50 = percentile(sample, 50, 1).value;
		const at99 = percentile(sample, 99, 1).value;
		const p99 = at99 ?? sample.max ?? 0;
		const figures = { client, p50Ns: p50, p99Ns: p99 };
		const finding = (status: Finding["status"], said: Said, limitNs: number | null): Finding => ({
			status,
			said,
			figure: formatDuration(p99),
			limit: limitNs === null ? null : formatDuration(limitNs),
			remedy: say("free-machine"),
		});
		const fine = (limitNs: number | null) => finding("ok", say("lag", figures), limitNs);
		const decided = judgements.filter((j) => j.excuse !== null && LATENESS.includes(j.excuse));
		if (decided.length > 0)
			return finding(
				"invalid",
				say("lag-decided", { ...figures, lines: decided.map((j) => j.sla) }),
				null,
			);
		const tightest = tightestLimitNs(facts);
		if (tightest !== null)
			return p99 > tightest * LAG_SHARE
				? finding("warn", say("lag-near-limit", figures), tightest * LAG_SHARE)
				: fine(tightest * LAG_SHARE);
		const late = (p50 ?? p99) > LAG_P50_NS;
		// Nothing to compare with: a backlog without acknowledgements.
		if (!hasMetric(facts, mainMetric(facts.collected.plan)))
			return { ...fine(LAG_P50_NS), status: late ? "invalid" : "ok" };
		const response = mainSampleOf(facts);
		// Among those that never completed it is longer than any lag, and nothing about the survivors.
		const beyond = rank(response.n, 99) > response.distribution.count;
		const half = beyond ? null : (percentile(response, 99, 1).value ?? response.max ?? 0) / 2;
		const large = half !== null && p99 > half;
		// What is compared has the lag of both sides in it: whether it decided is told over all runs (baseline.ts), not here.
		if (isCompared(facts))
			return large ? finding("warn", say("lag-large-compared", figures), half) : fine(half);
		// One late message of a few hundred is no p99: it is told, and decides nothing.
		// Whoever exceeds a limit on purpose asks what becomes of messages: late ones are refused, or lost, all the same.
		const bad =
			facts.collected.plan.message.limitBytes === null && (late || (large && at99 !== null));
		return bad || late || large
			? finding(bad ? "invalid" : "warn", say("lag-large", figures), half)
			: fine(half);
	},
};

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
		const lines = judgements.filter((j) => j.excuse === "held").map((j) => j.sla);
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

// --- internal ---

/** The client with the largest p99, of too few messages the largest lag. Of a single client the run itself. */
function latest(facts: Facts): { sample: Sample; client: string | null } {
	const whole = { sample: sampleOf(facts, "lag"), client: null };
	const p99 = (sample: Sample) => percentile(sample, 99, 1).value ?? sample.max ?? 0;
	return (
		lagByClient(facts)
			.map(({ part, sample }) => ({ sample, client: clientName(part) }))
			.reduce<{ sample: Sample; client: string } | null>(
				(worst, one) => (worst === null || p99(one.sample) > p99(worst.sample) ? one : worst),
				null,
			) ?? whole
	);
}

/** Is a latency with lag in it all that its SLA compares? */
function isCompared({ compared, collected }: Facts): boolean {
	const { baselineSla } = collected.plan;
	// Without a line of its own its latencies are compared all the same.
	return baselineSla.length === 0 ? compared : baselineSla.map(subjectOf).some(hasLag);
}

function hasLag(subject: Sla): boolean {
	return subject.kind !== "tally" && containsLag(subject.metric);
}
