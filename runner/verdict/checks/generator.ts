import { noBroker } from "../../brokers/index.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import { percentile, rank, type Sample } from "../../histogram/percentiles.ts";
import { type Sla, subjectOf } from "../../model/plan.ts";
import { mainMetric } from "../../plan/samples.ts";
import { formatCount, formatDuration, formatDurationExact, plural } from "../../units.ts";
import { bufferedIn, bufferedText } from "../buffered.ts";
import {
	clientName,
	containsLag,
	type Facts,
	type Floor,
	hasMetric,
	lagByClient,
	mainSampleOf,
	RECEIVES,
	sampleOf,
	tightestLimitNs,
} from "../facts.ts";
import { achievedText, ratesOf } from "../rates.ts";
import {
	AGAIN,
	type Check,
	compared,
	type Finding,
	NOT_COUNTED,
	ok,
	SEE_COMPLETIONS,
	threshold,
	unknown,
} from "./check.ts";

/** Did the load generator follow the schedule, and does the number describe the system? */

/** Without a latency SLA: brokers take less than 1 ms in the median. */
const LAG_P50_NS = 1_000_000;

/** Judges the latest client: pooled with the others, it would not show. */
export const lag: Check = {
	name: "lag",
	comesTo: "invalid",
	when: "lag, the burst after it, or stops decided an SLA line. Without a latency SLA: lag p50 > 1 ms, or lag p99 > half of response p99 (too few samples for a p99, or messages above the size limit on purpose: warning). Warning: lag p99 > 10 % of the tightest limit",
	/** Nothing is late without a schedule. */
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
				"free the machine from other work, lower the rate, or give the load generator more cores or a machine of its own; npx mqbench doctor shows how punctually it wakes",
		});
		const decided = judgements.filter((j) => j.check === "lag");
		if (decided.length > 0) {
			const lines = decided.map((j) => j.sla).join(", ");
			return finding("invalid", null, `the generator's lateness decided ${lines}; ${shown}`);
		}
		const tightest = tightestLimitNs(facts);
		if (tightest !== null) {
			const limitNs = tightest * 0.1;
			return p99Ns > limitNs
				? finding("warn", limitNs, `${shown}: more than 10 % of the tightest limit`)
				: finding("ok", limitNs);
		}
		const late = (p50Ns ?? p99Ns) > LAG_P50_NS;
		// For example, a backlog without acknowledgements.
		if (!hasMetric(facts, mainMetric(facts.collected.plan)))
			return finding(late ? "invalid" : "ok", LAG_P50_NS);
		const response = mainSampleOf(facts);
		// A percentile among incomplete messages exceeds any lag, and is no evidence about the rest.
		const beyond = rank(response.n, 99) > response.distribution.count;
		const half = beyond ? null : (percentile(response, 99, 1).value ?? response.max ?? 0) / 2;
		const large = half !== null && p99Ns > half;
		const most = `${shown}: a large part of what was measured`;
		// Compared values contain both sides' lag; compare/with-baseline.ts decides over all runs.
		if (isCompared(facts))
			return large
				? finding("warn", half, `${most}; comparisons are judged without it too`)
				: finding("ok", half);
		// One late message in a few hundred is no p99. Above limitBytes on purpose, lateness does not change the outcome.
		const bad =
			facts.collected.plan.message.limitBytes === null && (late || (large && at99 !== null));
		return late || large ? finding(bad ? "invalid" : "warn", half, most) : finding("ok", half);
	},
};

const OFFER_LESS = "lower the rate, give the generator more cores, or use more clients";

/** If half of the load is later than the SLA's limit, it is not the requested load, and a FAIL means nothing. */
export const offered: Check = {
	name: "offered",
	comesTo: "invalid",
	when: "messages of the schedule were never tried (closed loop: inconclusive); or an SLA line FAILs, and lag p50 exceeds the tightest limit and 1 ms: half of the load came too late. Invalidates every line",
	judge(facts, judgements) {
		const { plan, state, totals, counters } = facts.collected;
		const achieved = achievedText(facts.collected);
		const p50Ns = percentile(sampleOf(facts, "lag"), 50, 1).value ?? 0;
		const limitNs = Math.max(tightestLimitNs(facts) ?? Number.POSITIVE_INFINITY, LAG_P50_NS);
		if (p50Ns > limitNs && judgements.some((j) => j.verdict === "fail")) {
			const limit = formatDurationExact(limitNs);
			return {
				status: "invalid",
				text: `the generator could not offer this load${achieved}: it sent half of the messages at least ${formatDuration(p50Ns)} late, more than the limit of ${limit}`,
				values: { p50Ns, limitNs },
				figure: formatDuration(p50Ns),
				limit,
				remedy: OFFER_LESS,
			};
		}
		const { warmup, window } = counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		const messages = warmup.notOffered + window.notOffered;
		const figure = formatCount(messages);
		// A stop keeps messages from being offered; that is not the generator's fault.
		if (state === "aborted") return ok("all messages due until the stop were sent", { figure });
		if (messages === 0) return ok("every intended message was sent", { figure, limit: "0" });
		const intended = warmup.intended + window.intended;
		const found = (status: Finding["status"], why: string, remedy: string): Finding => ({
			status,
			text: `${figure} of ${plural(intended, "message")} ${messages === 1 ? "was" : "were"} not offered: ${why}`,
			values: { messages, intended },
			figure,
			limit: "0",
			remedy,
		});
		if (state === "interrupted") return found("warn", "the run was stopped", AGAIN);
		if (plan.schedule.kind !== "closed")
			return found("invalid", `the generator could not keep up${achieved}`, OFFER_LESS);
		// Lost messages stay in flight, so a load that waits for them stands still and ends early.
		return (totals?.endNs ?? 0) < plan.schedule.durationNs
			? found(
					"inconclusive",
					`nothing completed for ${formatDuration(plan.drainNs)}, so the load waited in vain`,
					"see what became of those in flight: lost, failed, unknown, errors",
				)
			: found(
					"inconclusive",
					"the load was not through when its time was over",
					"give it more time (duration), or fewer messages",
				);
	},
};

export const clientDropped = threshold({
	name: "clientDropped",
	when: "the client library threw messages away",
	above: "invalid",
	limit: 0,
	show: formatCount,
	remedy:
		"lower the rate, use more connections, or raise the library's buffers in the system's options",
	read({ collected: { totals, plan } }) {
		if (totals === null) return NOT_COUNTED;
		const messages = totals.clientDropped;
		if (messages === null)
			return {
				status: "unknown",
				text: "this driver does not count what its client library drops",
			};
		const text =
			plan.pattern === "connect"
				? `this machine had no port or open file for ${plural(messages, "connection")}`
				: `the client library itself dropped ${plural(messages, "message")}`;
		return { value: messages, text, values: { messages } };
	},
});

/** Not judged where consumers work or pause on purpose. */
export const held: Check = {
	name: "held",
	comesTo: "invalid",
	when: "messages waiting in the client library decided an SLA line. Warning: more waited than the tightest limit explains. Not for closed loops, backlogs and consumers with work",
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
		const limits = [...RECEIVES].flatMap((m) => tightestLimitNs(facts, m) ?? []);
		const limitNs = smallestOf(limits);
		const queue = limits.length > 0 ? bufferedIn(facts.collected, limitNs) : null;
		const most = queue?.most ?? Math.max(0, largestOf(ticks.map((t) => largestOf(t.held ?? []))));
		const figure = formatCount(most);
		const limit = queue && formatCount(queue.explained);
		if (!queue?.intervals.size)
			return ok(`at most ${plural(most, "message")} waited in the client library`, {
				values: { held: most },
				figure,
				limit,
			});
		const lines = judgements.filter((j) => j.check === "held").map((j) => j.sla);
		return {
			status: lines.length > 0 ? "invalid" : "warn",
			text: `${bufferedText(queue, limitNs)}: that decided ${lines.join(", ") || "no line of the SLA"}`,
			values: { held: most, explained: queue.explained, limitNs, lines },
			figure,
			limit,
			remedy:
				"give the machine that receives more cores, use more connections or clients, or lower the rate",
		};
	},
};

/** More samples cannot help. */
export const ABOVE_FLOOR =
	"set a limit above that, or give the load generator a machine of its own (clients)";
const LARGER_DIFFERENCES = "compare systems by larger differences only, or use a faster machine";

/** Compares with a run of the same case without a system. */
export const floor: Check = {
	name: "floor",
	comesTo: "warn",
	when: "without a broker, p99 (of the best second) is > 1/3 of the reported p99, or above the limit of a line: its FAIL is then INCONCLUSIVE, unless messages that never completed break it alone. Unknown: above the reported p99, so other work disturbed the machine. Closed loop: throughput > half of that without a broker",
	judge(facts) {
		const { floor: measured, collected } = facts;
		if (collected.plan.schedule.kind === "closed") return ceiling(facts);
		if (measured === null)
			return unknown(
				"not measured",
				`measure the floor of the generator as well, with ${noBroker} at the same rate`,
			);
		const floorNs = measured.p99 ?? measured.max;
		const response = mainSampleOf(facts);
		const atP99 = percentile(response, 99, 1);
		// A percentile among incomplete messages exceeds any floor. With too few samples only the overall maximum can be compared.
		if (atP99.beyondTimeout)
			return ok("p99 lies among messages that never completed", {
				figure: floorNs === null ? null : formatDuration(floorNs),
			});
		const all = response.distribution.count === response.n;
		const p99Ns = atP99.value ?? (all ? response.max : null);
		if (measured.problem !== null) return unknown(measured.problem, SEE_COMPLETIONS);
		if (floorNs === null || p99Ns === null)
			return {
				...unknown("nothing to compare the generator's floor with", SEE_COMPLETIONS),
				code: "floor-not-comparable",
			};
		const text = `without any broker p99 is ${formatDuration(floorNs)} at best`;
		const p99 = `the ${formatDuration(p99Ns)} with one`;
		const near = compared(
			{ above: "warn", limit: p99Ns / 3, show: formatDuration, remedy: LARGER_DIFFERENCES },
			{ value: floorNs, text, values: { floorNs, p99Ns } },
		);
		const lines = collected.plan.sla.filter((sla) => floorOver(sla, facts) !== null);
		if (lines.length > 0)
			return {
				...near,
				status: "warn",
				text: `${text}: no system can keep ${lines.map((line) => line.text).join(" and ")} here`,
				remedy: ABOVE_FLOOR,
			};
		// No broker is the fastest: the machine was busier while the floor was measured.
		if (floorNs > p99Ns)
			return {
				...near,
				status: "unknown",
				text: `${text}, more than ${p99}: other work disturbed the machine`,
				remedy: "stop what else runs on the machine",
			};
		return near.status === "ok" ? near : { ...near, text: `${text}, a large part of ${p99}` };
	},
};

/** The floor, if measured and above this response line's limit. */
export function floorOver(sla: Sla, { floor: measured }: Facts): number | null {
	if (sla.kind === "tally" || sla.metric !== "response") return null;
	const low = sla.kind === "percentile" && sla.percentile < 99;
	const ns = (low ? measured?.p50 : measured?.p99) ?? 0;
	return measured?.problem === null && ns > sla.limitNs ? ns : null;
}

/** The floor from its run. p99 is the best second's: one hiccup would be the p99 of a whole 3 s run. */
export function floorOf(facts: Facts): Floor {
	const { state, problem, folder, plan } = facts.collected;
	const sample = mainSampleOf(facts);
	const value = (p: number) => percentile(sample, p, 1).value;
	const seconds = [...(facts.merged.get(mainMetric(plan))?.seconds ?? [])];
	const known = seconds.flatMap(([second, { p99 }]) => (second < 0 ? [] : (p99 ?? [])));
	return {
		folder: `floors/${folder}`,
		problem:
			state === "complete"
				? facts.unreadable
				: `the floor of the generator was not measured: ${problem ?? state}`,
		count: sample.distribution.count,
		p50: value(50),
		p99: known.length > 0 ? smallestOf(known) : value(99),
		max: sample.max,
		perSecond: plan.schedule.kind === "closed" ? ratesOf(facts.collected).received : null,
	};
}

// --- internal ---

/** The client with the largest p99, with too few messages the largest lag; for a single client, the run. */
function latest(facts: Facts): { sample: Sample; client: string | null } {
	const p99 = ({ sample }: { sample: Sample }) =>
		percentile(sample, 99, 1).value ?? sample.max ?? 0;
	const [worst] = lagByClient(facts).sort((a, b) => p99(b) - p99(a));
	return worst === undefined
		? { sample: sampleOf(facts, "lag"), client: null }
		: { sample: worst.sample, client: clientName(worst.part) };
}

function isCompared({ compared, collected }: Facts): boolean {
	const { baselineSla } = collected.plan;
	// Without baseline lines latencies are compared anyway.
	if (baselineSla.length === 0) return compared;
	return baselineSla.map(subjectOf).some((s) => s.kind !== "tally" && containsLag(s.metric));
}

/** A closed load cannot be faster than the generator without a system. */
function ceiling({ floor: measured, collected }: Facts): Finding {
	const { received, sent } = ratesOf(collected);
	const perSecond = received ?? sent;
	const ceilingPerSecond = measured?.perSecond ?? null;
	if (perSecond === null || ceilingPerSecond === null)
		return unknown(
			measured?.problem ?? "not measured",
			`measure the ceiling of the generator as well, with ${noBroker} and as many messages`,
		);
	const show = (n: number) => `${formatCount(n)}/s`;
	// Above half, the generator takes as much time as the system.
	const limit = ceilingPerSecond / 2;
	const found = compared(
		{ above: "warn", limit, show, remedy: LARGER_DIFFERENCES },
		{
			value: perSecond,
			text: `without any broker the generator carries ${show(ceilingPerSecond)}`,
			values: { perSecond, ceilingPerSecond },
		},
	);
	return found.status === "ok" ? found : { ...found, code: "ceiling-near" };
}
