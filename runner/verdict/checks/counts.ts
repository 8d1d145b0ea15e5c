import type { Collected } from "../../evidence/collect.ts";
import { percentile } from "../../histogram/percentiles.ts";
import type { Plan } from "../../model/plan.ts";
import { intendedInWindow } from "../../plan/samples.ts";
import { say } from "../../text/say.ts";
import { formatCount, formatDuration, formatDurationExact } from "../../units.ts";
import { distributionOf, type Facts, hasMetric, sampleOf, tightestLimitNs } from "../facts.ts";
import type { Judgement } from "../judgement.ts";
import { type Check, type Finding, NOT_COUNTED, unknown } from "./check.ts";
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
		const missing = warmup.notOffered + window.notOffered;
		const intended = warmup.intended + window.intended;
		const figure = formatCount(missing);
		// Whoever stops a run keeps messages from being offered: that is no fault of the generator.
		if (collected.state === "aborted")
			return { status: "ok", said: say("offered-until-stop"), figure };
		const limit = "0";
		if (missing === 0) return { status: "ok", said: say("all-offered"), figure, limit };
		if (collected.state === "interrupted")
			return {
				status: "warn",
				said: say("not-offered-stopped", { messages: missing }),
				figure,
				limit,
				remedy: say("again"),
			};
		if (collected.plan.schedule.kind === "closed")
			return {
				status: "inconclusive",
				...closedNotOffered(collected, { messages: missing, intended }),
				figure,
				limit,
			};
		return {
			status: "invalid",
			said: say("not-offered", { messages: missing, intended }),
			figure,
			limit,
			remedy: say("offer-less"),
		};
	},
};

/** Did the client library throw messages away? */
export const clientDropped: Check = {
	name: "clientDropped",
	judge({ collected: { totals } }) {
		if (totals === null) return NOT_COUNTED;
		if (totals.clientDropped === null)
			return { status: "unknown", said: say("client-drops-not-counted") };
		const figure = formatCount(totals.clientDropped);
		return {
			...(totals.clientDropped > 0
				? { status: "invalid", said: say("client-dropped", { messages: totals.clientDropped }) }
				: { status: "ok", said: say("client-dropped-none") }),
			figure,
			limit: "0",
			remedy: say("larger-buffers"),
		};
	},
};

/** Did every connection hold? */
export const reconnects: Check = {
	name: "reconnects",
	judge({ collected: { plan, run, totals } }) {
		if (totals === null) return NOT_COUNTED;
		const times = totals.reconnects;
		if (times === null) return { status: "unknown", said: say("reconnects-not-counted") };
		const figure = formatCount(times);
		if (times === 0) return { status: "ok", said: say("reconnects-none"), figure, limit: "0" };
		if (plan.faults.length > 0 && run && run.faults.length > 0)
			return { status: "ok", said: say("reconnects-by-fault", { times }), figure };
		return {
			status: "warn",
			said: say("reconnects", { times }),
			figure,
			limit: "0",
			remedy: say("see-disconnects"),
		};
	},
};

/** Did the broker hold its clients back on purpose? */
export const throttled: Check = {
	name: "throttled",
	applies: ({ totals }) => totals !== null && totals.throttledNs !== null,
	judge({ collected: { totals } }) {
		const throttledNs = totals?.throttledNs ?? 0;
		if (throttledNs === 0) return { status: "ok", said: say("throttled-none") };
		return {
			status: "warn",
			said: say("throttled", { throttledNs }),
			figure: formatDuration(throttledNs),
			limit: "0",
			remedy: say("raise-quota"),
		};
	},
};

/** Was anything outstanding when the drain was over, and does an SLA line count it? */
export const drain: Check = {
	name: "drain",
	judge({ collected: { plan, counters, state, run } }, judgements) {
		const { warmup, window } = counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		if (state === "aborted") return unknown(say("drain-stopped"), say("without-abort"));
		const before = (warmup.lost ?? 0) + warmup.unknown;
		const lost = (warmup.lost ?? 0) + (window.lost ?? 0);
		const unanswered = warmup.unknown + window.unknown;
		const missing = lost + unanswered;
		// Where nothing is received nothing is lost.
		const lines = [...(lost > 0 ? ["lost == 0"] : []), ...(unanswered > 0 ? ["unknown == 0"] : [])];
		const figure = formatCount(missing);
		const limit = "0";
		if (missing === 0) return { status: "ok", said: say("drain-empty"), figure, limit };
		const judged = countedBySla(plan, "lost") || countedBySla(plan, "unknown");
		const values = {
			missing,
			warmup: before,
			copies: plan.pattern === "fan-out",
			// Without a broker it is cut short.
			drainNs: state === "interrupted" || run?.error != null ? null : plan.drainNs,
		};
		return judged && judgements.length > 0
			? {
					status: "warn",
					said: say("drain-missing", values),
					figure,
					limit,
					// A broker that was gone has taken them with it.
					remedy: say(run?.error == null ? "longer-drain" : "see-broker"),
				}
			: {
					status: "invalid",
					said: say("drain-missing-uncounted", { ...values, lines }),
					figure,
					limit,
					remedy: say("add-lines", { lines }),
				};
	},
};

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

/** null: it was not, or nothing failed, and what passes under a late load passes. */
function offeredLate(facts: Facts, judgements: readonly Judgement[]): Finding | null {
	const tightest = tightestLimitNs(facts);
	const p50Ns = percentile(sampleOf(facts, "lag"), 50, 1).value;
	if (tightest === null || p50Ns === null) return null;
	const limitNs = Math.max(tightest, LAG_P50_NS);
	if (p50Ns <= limitNs || judgements.every((j) => j.verdict !== "fail")) return null;
	return {
		status: "invalid",
		said: say("offered-late", { p50Ns, limitNs }),
		figure: formatDuration(p50Ns),
		limit: formatDurationExact(limitNs),
		remedy: say("offer-less"),
	};
}

/** What is lost stays in flight: a load that waits for it stands still, and is ended before its time. */
function closedNotOffered(
	{ plan, totals }: Collected,
	missing: { readonly messages: number; readonly intended: number },
): Pick<Finding, "said" | "remedy"> {
	const { schedule, drainNs } = plan;
	return (totals?.endNs ?? 0) < schedule.durationNs
		? {
				said: say("not-sent-stalled", { ...missing, stalledNs: drainNs }),
				remedy: say("see-in-flight"),
			}
		: { said: say("not-sent-in-time", missing), remedy: say("more-time") };
}

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
