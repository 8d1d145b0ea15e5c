import { largestOf, smallestOf } from "../../extremes.ts";
import { percentile, rank, type Sample } from "../../histogram/percentiles.ts";
import { subjectOf } from "../../model/baseline-sla.ts";
import type { Sla } from "../../model/plan.ts";
import { mainMetric } from "../../plan/samples.ts";
import { formatCount, formatDuration, plural } from "../../units.ts";
import {
	containsLag,
	type Facts,
	hasMetric,
	lagByClient,
	mainSampleOf,
	RECEIVES,
	sampleOf,
	tightestLimitNs,
} from "../facts.ts";
import { heldIn, heldText } from "../held.ts";
import { LATENESS } from "../judgement.ts";
import { type Check, type Finding, unknown } from "./check.ts";
import { SEE_COMPLETIONS } from "./counts.ts";
import { LAG_P50_NS, LAG_SHARE } from "./limits.ts";
import { clientName } from "./run.ts";

/**
 * The generator's own lateness: INVALID when it decided a gate, or without any latency SLA when it is a large part of what was measured. Of
 * several clients the latest is judged: among the messages of all the others it would not show.
 */
export const lag: Check = {
	name: "lag",
	/** Without a schedule nothing is late. */
	applies: ({ plan }) => plan.schedule.kind !== "closed",
	judge(facts, judgements) {
		const { sample, client } = latest(facts);
		if (sample.n === 0) return unknown("no message completed", SEE_COMPLETIONS);
		const p50Ns = percentile(sample, 50, 1).value;
		const at99 = percentile(sample, 99, 1).value;
		const p99Ns = at99 ?? sample.max ?? 0;
		const shown = `${client === null ? "" : `${client}: `}lag p50 ${p50Ns === null ? "n/a" : formatDuration(p50Ns)}, p99 ${formatDuration(p99Ns)}`;
		const finding = (status: Finding["status"], limitNs: number | null, text = shown): Finding => ({
			status,
			text,
			values: { client, p50Ns, p99Ns },
			figure: formatDuration(p99Ns),
			limit: limitNs === null ? null : formatDuration(limitNs),
			remedy:
				"free the machine from other work, lower the rate, give it more cores, or run the broker elsewhere; mqbench doctor shows how punctually it wakes",
		});
		const decided = judgements.filter((j) => j.excuse !== null && LATENESS.includes(j.excuse));
		if (decided.length > 0) {
			const lines = decided.map((j) => j.sla).join(", ");
			return finding("invalid", null, `the generator's lateness decided ${lines}; ${shown}`);
		}
		const tightest = tightestLimitNs(facts);
		if (tightest !== null) {
			const limitNs = tightest * LAG_SHARE;
			return p99Ns > limitNs
				? finding("warn", limitNs, `${shown}: more than 10 % of the tightest limit`)
				: finding("ok", limitNs);
		}
		const late = (p50Ns ?? p99Ns) > LAG_P50_NS;
		// Nothing to compare with: a backlog without acknowledgements.
		if (!hasMetric(facts, mainMetric(facts.collected.plan)))
			return finding(late ? "invalid" : "ok", LAG_P50_NS);
		const response = mainSampleOf(facts);
		// Among those that never completed it is longer than any lag, and nothing about the survivors.
		const beyond = rank(response.n, 99) > response.distribution.count;
		const half = beyond ? null : (percentile(response, 99, 1).value ?? response.max ?? 0) / 2;
		const large = half !== null && p99Ns > half;
		const most = `${shown}: a large part of what was measured`;
		// What is compared has the lag of both sides in it: whether it decided is told over all runs (baseline.ts), not here.
		if (isCompared(facts))
			return large
				? finding("warn", half, `${most}; comparisons are judged without it too`)
				: finding("ok", half);
		// One late message of a few hundred is no p99: it is told, and decides nothing.
		// Whoever exceeds a limit on purpose asks what becomes of messages: late ones are refused, or lost, all the same.
		const bad =
			facts.collected.plan.message.limitBytes === null && (late || (large && at99 !== null));
		return late || large ? finding(bad ? "invalid" : "warn", half, most) : finding("ok", half);
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
		const { ticks } = facts.collected;
		if (ticks.some((t) => t.held === null))
			return {
				status: "unknown",
				text: "messages waiting in the client library could not be counted",
			};
		const limits = [...RECEIVES].map((m) => tightestLimitNs(facts, m));
		const limitNs = smallestOf(limits.filter((ns) => ns !== null));
		const queue = Number.isFinite(limitNs) ? heldIn(facts.collected, limitNs) : null;
		const most = queue?.most ?? Math.max(0, largestOf(ticks.map((t) => largestOf(t.held ?? []))));
		const figure = formatCount(most);
		const fine: Finding = {
			status: "ok",
			text: `at most ${plural(most, "message")} waited in the client library`,
			values: { held: most },
			figure,
		};
		if (queue === null) return fine;
		const limit = formatCount(queue.explained);
		if (queue.intervals.size === 0) return { ...fine, limit };
		const lines = judgements.filter((j) => j.excuse === "held").map((j) => j.sla);
		return {
			status: lines.length > 0 ? "invalid" : "warn",
			text: `${heldText(queue, limitNs)}: that decided ${lines.length > 0 ? lines.join(", ") : "no line of the SLA"}`,
			values: { held: most, explained: queue.explained, limitNs, lines },
			figure,
			limit,
			remedy:
				"give the machine that receives more cores, use more connections or clients, or lower the rate",
		};
	},
};

// --- internal ---

/** The client with the largest p99, of too few messages the largest lag. Of a single client the run itself. */
function latest(facts: Facts): { sample: Sample; client: string | null } {
	const p99 = ({ sample }: { sample: Sample }) =>
		percentile(sample, 99, 1).value ?? sample.max ?? 0;
	const [worst] = lagByClient(facts)
		.map(({ part, sample }) => ({ sample, client: clientName(part) }))
		.sort((a, b) => p99(b) - p99(a));
	return worst ?? { sample: sampleOf(facts, "lag"), client: null };
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
