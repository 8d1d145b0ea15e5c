import { percentile } from "../../histogram/percentiles.ts";
import { Metric, type Plan } from "../../model/plan.ts";
import { intendedInWindow } from "../../plan/samples.ts";
import { sum } from "../../stats/sum.ts";
import { formatCount, formatDuration, formatDurationExact, plural } from "../../units.ts";
import {
	distributionOf,
	type Facts,
	hasMetric,
	RECEIVES,
	sampleOf,
	sumsOf,
	tightestLimitNs,
} from "../facts.ts";
import type { Judgement } from "../judgement.ts";
import { AGAIN, type Check, compared, type Finding, NOT_COUNTED, unknown } from "./check.ts";
import { hasClocks } from "./clock.ts";
import { LAG_P50_NS } from "./limits.ts";

/**
 * Was every message that the schedule intended sent, and most of them not later than the SLA allows an answer? A load that comes so late is
 * another one than was asked for: what fails then, losses too, says nothing about the system.
 */
export const offered: Check = {
	name: "offered",
	judge(facts, judgements) {
		const late = offeredLate(facts, judgements);
		if (late !== null) return late;
		const { collected } = facts;
		const { warmup, window } = collected.counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		const messages = warmup.notOffered + window.notOffered;
		const figure = formatCount(messages);
		// Whoever stops a run keeps messages from being offered: that is no fault of the generator.
		if (collected.state === "aborted")
			return { status: "ok", text: "what was due until the stop was sent", figure };
		if (messages === 0)
			return { status: "ok", text: "every intended message was sent", figure, limit: "0" };
		const intended = warmup.intended + window.intended;
		const found = (status: Finding["status"], why: string, remedy: string): Finding => ({
			status,
			text: `${formatCount(messages)} of ${plural(intended, "message")} ${wasWere(messages)} not offered: ${why}`,
			values: { messages, intended },
			figure,
			limit: "0",
			remedy,
		});
		const { plan, state, totals } = collected;
		if (state === "interrupted") return found("warn", "the run was stopped", AGAIN);
		if (plan.schedule.kind !== "closed")
			return found("invalid", "the generator could not keep up", OFFER_LESS);
		// What is lost stays in flight: a load that waits for it stands still, and is ended before its time.
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

/** Did the client library throw messages away? */
export const clientDropped: Check = {
	name: "clientDropped",
	judge({ collected: { totals } }) {
		if (totals === null) return NOT_COUNTED;
		const messages = totals.clientDropped;
		if (messages === null)
			return {
				status: "unknown",
				text: "this driver does not count what its client library drops",
			};
		return compared(messages, {
			limit: 0,
			above: "invalid",
			show: formatCount,
			text: `the client library itself dropped ${plural(messages, "message")}`,
			values: { messages },
			remedy:
				"lower the rate, use more connections, or raise the library's buffers in the system's options",
		});
	},
};

/** Did every connection hold? */
export const reconnects: Check = {
	name: "reconnects",
	judge({ collected: { plan, run, totals } }) {
		if (totals === null) return NOT_COUNTED;
		const times = totals.reconnects;
		if (times === null) return { status: "unknown", text: "this driver does not count reconnects" };
		const figure = formatCount(times);
		if (times === 0) return { status: "ok", text: "every connection held", figure, limit: "0" };
		const text = `clients reconnected ${times === 1 ? "once" : `${figure} times`}`;
		const values = { times };
		return plan.faults.length > 0 && run && run.faults.length > 0
			? { status: "ok", text: `${text}, in a run with faults`, values, figure }
			: {
					status: "warn",
					text: `${text}: messages under way then were delayed, or lost`,
					values,
					figure,
					limit: "0",
					remedy: "see in the broker's log why it lost connections",
				};
	},
};

/** Did the broker hold its clients back on purpose? */
export const throttled: Check = {
	name: "throttled",
	applies: ({ totals }) => totals !== null && totals.throttledNs !== null,
	judge({ collected: { totals } }) {
		const throttledNs = totals?.throttledNs ?? 0;
		if (throttledNs === 0) return { status: "ok", text: "the broker did not throttle its clients" };
		return {
			status: "warn",
			text: `throttled by the broker for ${formatDuration(throttledNs)}`,
			values: { throttledNs },
			figure: formatDuration(throttledNs),
			limit: "0",
			remedy:
				"raise the broker's quota for this client, clear its memory or disk alarm, or lower the rate",
		};
	},
};

/** Was anything outstanding when the drain was over, and does an SLA line count it? */
export const drain: Check = {
	name: "drain",
	judge({ collected: { plan, counters, state, run } }, judgements) {
		const { warmup, window } = counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		if (state === "aborted")
			return unknown(
				"the run was stopped before its drain",
				"take abort off the SLA line to see a whole run",
			);
		const before = (warmup.lost ?? 0) + warmup.unknown;
		const lost = (warmup.lost ?? 0) + (window.lost ?? 0);
		const unanswered = warmup.unknown + window.unknown;
		const missing = lost + unanswered;
		const figure = formatCount(missing);
		if (missing === 0)
			return { status: "ok", text: "nothing was outstanding at the end", figure, limit: "0" };
		// Where nothing is received nothing is lost.
		const lines = [...(lost > 0 ? ["lost == 0"] : []), ...(unanswered > 0 ? ["unknown == 0"] : [])];
		const counted =
			judgements.length > 0 && (countedBySla(plan, "lost") || countedBySla(plan, "unknown"));
		// Without a broker the drain is cut short, and a longer one brings nothing back.
		const cut = state === "interrupted" || run?.error != null;
		const what = `${figure} ${nounOf(plan, missing)}`;
		const warmed = before === 0 ? "" : ` (${formatCount(before)} of the warm-up)`;
		const then = cut
			? "the run was stopped"
			: `the drain (${formatDuration(plan.drainNs)}) was over`;
		const text = `${what}${warmed} ${wasWere(missing)} still missing when ${then}`;
		const longer = "see whether they are lost or late: measure with a longer drain";
		const gone = "see why the run broke: a longer drain brings nothing back";
		return {
			status: counted ? "warn" : "invalid",
			text: `${text}; ${counted ? "the SLA counts them" : "no SLA line counts them"}`,
			values: { missing, warmup: before },
			figure,
			limit: "0",
			remedy: !counted ? add(lines) : run?.error == null ? longer : gone,
		};
	},
};

/**
 * Messages that did not complete, and that no SLA line looks at: `lost == 0` alone would pass a broker that refuses every message. A latency
 * counts those that it never gets as slower than its limit; ack all but the lost, which were acknowledged.
 */
export const missingMessages: Check = {
	name: "uncounted",
	judge(facts) {
		const { plan, counters, state } = facts.collected;
		const { warmup, window } = counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		// Of a run that was stopped, failed holds those that the stop kept from leaving.
		if (state !== "complete") return unknown("the run was not completed");
		const missing = KINDS.map((kind) => ({
			kind,
			n: (warmup[kind] ?? 0) + (window[kind] ?? 0),
		})).filter(({ kind, n }) => n > 0 && !countedBySla(plan, kind));
		if (missing.length > 0) {
			const lines = missing.map(({ kind }) => `${kind} == 0`);
			const intended = warmup.intended + window.intended;
			const kinds = missing.map(({ kind, n }) => `${formatCount(n)} ${kind}`).join(", ");
			return {
				status: "inconclusive",
				text: `${kinds} of ${plural(intended, "message")}; no SLA line counts them`,
				values: { intended, ...Object.fromEntries(missing.map(({ kind, n }) => [kind, n])) },
				figure: formatCount(sum(missing.map(({ n }) => n))),
				limit: "0",
				remedy: add(lines, ", or a latency,"),
			};
		}
		// It is what the SLA asks for.
		const asked = plan.sla.some((s) => s.kind === "tally" && s.all);
		// With a latency that is a FAIL.
		const latency = plan.sla.some(
			(s) => s.kind !== "tally" && (RECEIVES.has(s.metric) || s.metric === "ack"),
		);
		return !asked && !latency && intendedInWindow(plan) > 0 && nothingCompleted(facts)
			? {
					status: "inconclusive",
					text: `none of the ${formatCount(window.intended)} messages of the window completed`,
					values: { intended: window.intended },
					figure: "0",
					remedy: SEE_COMPLETIONS,
				}
			: {
					status: "ok",
					text: "the SLA counts every kind of missing message",
					figure: "0",
					limit: "0",
				};
	},
};

export const SEE_COMPLETIONS = "see why nothing completed";

/** Does an SLA line of this plan count messages that ended so? */
export function countedBySla({ sla }: Pick<Plan, "sla">, kind: Kind): boolean {
	return sla.some((s) =>
		s.kind === "tally"
			? s.tally === kind
			: RECEIVES.has(s.metric) || (s.metric === "ack" && kind !== "lost"),
	);
}

/** Was every value one that a histogram can hold? */
export const range: Check = {
	name: "range",
	judge(facts) {
		const sums = Metric.options.map((m) => sumsOf(facts, m));
		const clamped = sum(sums.map((s) => s.clamped));
		// Of clocks on several machines `clock` says what they mean.
		const negative = hasClocks(facts.collected) ? 0 : sum(sums.map((s) => s.negative));
		return compared(clamped + negative, {
			limit: 0,
			above: "warn",
			show: formatCount,
			text: `${plural(clamped, "value")} above 1h and ${formatCount(negative)} below 0 were recorded as 1h and as 0`,
			values: { clamped, negative },
			remedy: "see whether the machine's clock was set back meanwhile",
		});
	},
};

// --- internal ---

const OFFER_LESS = "lower the rate, give the generator more cores, or use more clients";

/** null: it was not, or nothing failed, and what passes under a late load passes. */
function offeredLate(facts: Facts, judgements: readonly Judgement[]): Finding | null {
	const tightest = tightestLimitNs(facts);
	const p50Ns = percentile(sampleOf(facts, "lag"), 50, 1).value;
	if (tightest === null || p50Ns === null) return null;
	const limitNs = Math.max(tightest, LAG_P50_NS);
	if (p50Ns <= limitNs || judgements.every((j) => j.verdict !== "fail")) return null;
	const limit = formatDurationExact(limitNs);
	return {
		status: "invalid",
		text: `the generator could not offer this load: it sent half of the messages at least ${formatDuration(p50Ns)} late, more than the limit of ${limit}`,
		values: { p50Ns, limitNs },
		figure: formatDuration(p50Ns),
		limit,
		remedy: OFFER_LESS,
	};
}

function add(lines: readonly string[], or = ""): string {
	return `add ${lines.join(" and ")}${or} to the SLA`;
}

function nounOf({ pattern }: Plan, n: number): string {
	if (pattern === "fan-out") return n === 1 ? "copy" : "copies";
	return n === 1 ? "message" : "messages";
}

function wasWere(n: number): string {
	return n === 1 ? "was" : "were";
}

const KINDS = ["failed", "unknown", "lost"] as const;
type Kind = (typeof KINDS)[number];

function nothingCompleted(facts: Facts): boolean {
	const { counters } = facts.collected;
	// A backlog is received, but without latency.
	return hasMetric(facts, "service")
		? distributionOf(facts, "service").count === 0
		: counters.window?.received === 0;
}
