import type { Collected } from "../../run/collect.ts";
import { formatCount, formatDuration, plural } from "../../units.ts";
import {
	AGAIN,
	type Check,
	type Finding,
	NOT_COUNTED,
	unknown,
} from "./check.ts";
import { countedBySla } from "./missing-messages.ts";

/** Was every message that the schedule intended sent? */
export const offered: Check = {
	name: "offered",
	judge({ collected }) {
		const { warmup, window } = collected.counters;
		if (warmup === null || window === null) return NOT_COUNTED;
		const missing = warmup.notOffered + window.notOffered;
		const all = formatCount(warmup.intended + window.intended);
		const figure = formatCount(missing);
		// Whoever stops a run keeps messages from being offered: that is no fault of the generator.
		if (collected.state === "aborted")
			return {
				status: "ok",
				detail: "what was due until the stop was sent",
				figure,
			};
		const limit = "0";
		if (missing === 0)
			return {
				status: "ok",
				detail: "every intended message was sent",
				...{ figure, limit },
			};
		if (collected.state === "interrupted")
			return {
				status: "warn",
				detail: `${plural(missing, "message")} ${missing === 1 ? "was" : "were"} not offered: the run was stopped`,
				...{ figure, limit, remedy: AGAIN },
			};
		if (collected.plan.schedule.kind === "closed")
			return {
				status: "inconclusive",
				...closedNotOffered(collected, `${figure} of ${all}`),
				...{ figure, limit },
			};
		return {
			status: "invalid",
			detail: `${figure} of ${all} messages were not offered: the generator could not keep up`,
			...{ figure, limit },
			remedy:
				"lower the rate, give the generator more cores, or use more clients",
		};
	},
};

/** Did the client library throw messages away? */
export const clientDropped: Check = {
	name: "clientDropped",
	judge({ collected: { totals } }) {
		if (totals === null) return NOT_COUNTED;
		if (totals.clientDropped === null)
			return {
				status: "unknown",
				detail: "this driver does not count what its client library drops",
			};
		const figure = formatCount(totals.clientDropped);
		return {
			...(totals.clientDropped > 0
				? {
						status: "invalid",
						detail: `the client library itself dropped ${plural(totals.clientDropped, "message")}: that is not the broker's loss`,
					}
				: { status: "ok", detail: "the client library dropped nothing" }),
			...{ figure, limit: "0" },
			remedy:
				"lower the rate, use more connections, or raise the library's buffers in the system's options",
		};
	},
};

/** Did every connection hold? */
export const reconnects: Check = {
	name: "reconnects",
	judge({ collected: { plan, run, totals } }) {
		if (totals === null) return NOT_COUNTED;
		const times = totals.reconnects;
		if (times === null)
			return {
				status: "unknown",
				detail: "this driver does not count connections that are made anew",
			};
		const figure = formatCount(times);
		if (times === 0)
			return {
				status: "ok",
				detail: "every connection held",
				...{ figure, limit: "0" },
			};
		const made = `connections were made anew ${times === 1 ? "once" : `${figure} times`}`;
		if (plan.faults.length > 0 && run && run.faults.length > 0)
			return { status: "ok", detail: `${made}, in a run with faults`, figure };
		return {
			status: "warn",
			detail: `${made}: what was under way then was delayed, or lost`,
			...{ figure, limit: "0" },
			remedy: "see in the broker's log why it lost connections",
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
		const missing =
			(warmup.lost ?? 0) + warmup.unknown + (window.lost ?? 0) + window.unknown;
		const figure = formatCount(missing);
		const limit = "0";
		if (missing === 0)
			return {
				status: "ok",
				detail: "nothing was outstanding at the end",
				...{ figure, limit },
			};
		const judged = countedBySla(plan, "lost") || countedBySla(plan, "unknown");
		const still = `${figure} ${plan.pattern === "fan-out" ? "copies" : "messages"} were still missing when the drain (${formatDuration(plan.drainNs)}) was over`;
		return judged && judgements.length > 0
			? {
					status: "warn",
					detail: `${still}; the SLA counts them`,
					...{ figure, limit },
					// A broker that was gone has taken them with it.
					remedy:
						run?.error == null
							? "see whether they are lost or late: measure with a longer drain"
							: "see why the run broke (its broker.log): a longer drain brings nothing back",
				}
			: {
					status: "invalid",
					detail: `${still}, and no SLA line counts them: add lost == 0`,
					...{ figure, limit, remedy: "add lost == 0 to the SLA" },
				};
	},
};

// --- internal ---

/** What is lost stays in flight: a load that waits for it stands still, and is ended before its time. */
function closedNotOffered(
	{ plan, totals }: Collected,
	missing: string,
): Pick<Finding, "detail" | "remedy"> {
	const { schedule, drainNs } = plan;
	return (totals?.endNs ?? 0) < schedule.durationNs
		? {
				detail: `${missing} messages were not sent: nothing completed any more for ${formatDuration(drainNs)}`,
				remedy:
					"see what became of those in flight: lost, failed, unknown, errors",
			}
		: {
				detail: `${missing} messages were not sent: the load was not through when its time was over`,
				remedy: "give it more time (duration), or fewer messages",
			};
}
