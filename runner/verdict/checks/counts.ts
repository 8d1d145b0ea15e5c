import { percentile } from "../../histogram/percentiles.ts";
import type { Collected } from "../../run/collect.ts";
import { say } from "../../text/say.ts";
import { formatCount, formatDuration, formatDurationExact } from "../../units.ts";
import { type Facts, sampleOf, tightestLimitNs } from "../facts.ts";
import type { Judgement } from "../judgement.ts";
import { type Check, type Finding, NOT_COUNTED, unknown } from "./check.ts";
import { LAG_P50_NS } from "./limits.ts";
import { countedBySla } from "./missing-messages.ts";

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
