import type { ClientPart, Collected } from "../../evidence/collect.ts";
import { faultsDone } from "../../evidence/members.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import { acrossClients } from "../../model/plan.ts";
import { formatDuration, formatDurationExact, formatUtc, plural, plusMinus } from "../../units.ts";
import { clientName, type Facts, RECEIVES, stoppedAfterNs, sumsOf } from "../facts.ts";
import { faultName } from "../faults.ts";
import { AGAIN, type Check, type Finding, NOT_COUNTED, ok, threshold, unknown } from "./check.ts";

/** Is the run complete: files, clients and their clocks, faults, warm-up? */

export const complete: Check = {
	name: "complete",
	comesTo: "invalid",
	when: "a file is missing, or does not match its checksum",
	judge(facts) {
		const { state, problem, run, closed } = facts.collected;
		// Unreadable bytes with a matching checksum were written wrongly: a bug in mqbench.
		if (facts.unreadable !== null)
			return {
				status: closed ? "error" : "invalid",
				text: facts.unreadable,
				remedy: closed ? "report it, with this folder" : AGAIN,
			};
		if (state === "aborted") {
			const [afterNs, sla] = [stoppedAfterNs(facts), run?.abortedBy ?? ""];
			return {
				status: "warn",
				text: `stopped after ${formatDuration(afterNs)}: ${sla} could not pass any more`,
				values: { afterNs, sla },
				remedy: "take abort off the SLA line to see a whole run",
			};
		}
		if (state !== "complete") {
			const text = onlySome(facts.collected)
				? "not every client's result is whole: see clients"
				: (problem ?? state);
			return { status: "invalid", text, remedy: AGAIN };
		}
		return ok("every file is closed and matches its sum");
	},
};

/** What a segment sent after its last checkpoint is sent again, so all counts add up; what became of it the first time is not known. */
export const continued: Check = {
	name: "continued",
	comesTo: "warn",
	when: "the run was cut (a client rebooted, k6 or mqbench was killed) and resumed: messages sent between the last checkpoint and the cut were sent again, and their first fate is not known",
	applies: ({ gaps }) => gaps.length > 0,
	judge({ collected: { gaps, plan } }) {
		const time = (ms: number) =>
			Number.isNaN(ms) ? "an unknown time" : `${formatUtc(ms, "second")} UTC`;
		const since = (ns: number) => formatDuration(Math.max(0, ns - plan.schedule.warmupNs));
		const texts = gaps.map(
			({ cutNs, untilNs, cutMs, resumedMs, messages }) =>
				`cut ${since(cutNs)} into the window (${time(cutMs)}), resumed at ${time(resumedMs)} from ${since(untilNs)} on; ${plural(messages, "message")} sent in between ${messages === 1 ? "was" : "were"} sent again, and what became of the first ones is not known`,
		);
		const again = plan.server ? "; if mqbench started the broker, it started it again" : "";
		return {
			status: "warn",
			text: `${texts.join("; ")}${again}`,
			values: {
				resumedFromNs: gaps.map(({ untilNs }) => untilNs),
				cutNs: gaps.map(({ cutNs }) => cutNs),
				messages: gaps.map(({ messages }) => messages),
			},
			figure: plural(gaps.length, "gap"),
			remedy: "keep the client up for the whole run if the time around the cut matters",
		};
	},
};

/** Some clients are missing or broke off: results of the rest are shown, but are not the requested load. */
export function onlySome({ state, parts, run }: Collected): boolean {
	const broken = parts.filter((part) => part.problem !== null).length;
	return state === "crashed" && run?.error == null && broken > 0 && broken < parts.length;
}

export const clients: Check = {
	name: "clients",
	comesTo: "invalid",
	when: "one of several clients is missing, broke off, or left incomplete files (error: none left any)",
	applies: ({ plan }) => plan.client.count > 1,
	judge({ collected: { parts } }) {
		const problems = parts.flatMap(({ problem }) => problem ?? []);
		const clients = parts.length;
		const missing = problems.length;
		return {
			status: missing > 0 ? "invalid" : "ok",
			text:
				missing > 0
					? `${missing} of ${clients} clients did not finish: ${problems.join("; ")}`
					: `all ${clients} clients finished`,
			values: { clients, problems },
			figure: `${clients - missing} of ${clients}`,
			limit: `${clients}`,
			remedy:
				"see why it broke off, and make the run again: its messages are missing from the load",
		};
	},
};

/** Time between the first and the last client's first claim, ns. Null for one client, or if one never began. */
export function startSkewNs({ parts }: Collected): number | null {
	const times = parts.flatMap(({ totals, end }) => totals?.firstClaimNs ?? end?.firstClaimNs ?? []);
	const unknown = times.length < Math.max(2, parts.length);
	return unknown ? null : largestOf(times) - smallestOf(times);
}

/** Suspensions are longer; two clocks read one after the other differ by less. */
const SUSPENDED_NS = 100_000_000;

/** The clock that times messages stops while the world goes on. */
export const suspended = threshold({
	name: "suspended",
	when: "a machine that makes load was suspended: its boot clock advanced by > 100 ms while the clock that times messages stood still. Linux only",
	applies: ({ parts }) => parts.some(({ totals }) => totals?.suspendedNs !== undefined),
	above: "invalid",
	limit: SUSPENDED_NS,
	show: formatDuration,
	remedy: "keep the machine awake (systemd-inhibit npx mqbench ...), and measure again",
	read({ collected: { parts } }) {
		const slept = ({ totals }: ClientPart) => Math.max(0, totals?.suspendedNs ?? 0);
		const [longest] = parts.toSorted((a, b) => slept(b) - slept(a)) as [ClientPart];
		const ns = slept(longest);
		const text =
			ns > SUSPENDED_NS
				? `${longest.name} was suspended for ${formatDuration(ns)} during the run, as when a laptop's lid is closed; in that time nothing was sent or timed`
				: "no load generator was suspended";
		return { value: ns, text, values: { ns } };
	},
});

/** Error bound of a latency across clients, ns: the two largest clock bounds. Null if nothing crosses, or a bound is unknown. */
export function clockBoundNs({ plan, parts }: Collected): number | null {
	if (!acrossClients(plan)) return null;
	const bounds = parts.map(boundOf);
	if (bounds.some((ns) => ns === null)) return null;
	const [a = 0, b = 0] = bounds.map((ns) => ns ?? 0).sort((x, y) => y - x);
	return a + b;
}

/** Do any clients use another clock than this machine's? */
export function hasClocks({ parts }: Collected): boolean {
	return parts.some((p) => p.end !== null && p.end.clock !== null);
}

/** A receipt before its send by more than the bound disproves the bound. */
export const clock: Check = {
	name: "clock",
	comesTo: "invalid",
	when: "a clock was not compared after the run (no messages cross hosts: warning), or a message arrived before it was sent by more than the clock bound",
	applies: hasClocks,
	judge(facts) {
		const { plan, parts } = facts.collected;
		const crossing = acrossClients(plan);
		const unread = parts.find((p) => boundOf(p) === null);
		if (unread)
			return {
				status: crossing ? "invalid" : "warn",
				text: `the clock of ${clientName(unread)} was not compared again after the run, so how far it moved is not known${crossing ? ", and messages cross from client to client" : ""}`,
				remedy: "see why it could not be reached at the end, and measure again",
			};
		const boundNs = clockBoundNs(facts.collected) ?? largestOf(parts.map((p) => boundOf(p) ?? 0));
		const figure = plusMinus(boundNs);
		const early = crossing ? earlyOf(facts, boundNs) : null;
		if (early !== null) return { ...early, figure };
		const exact = crossing ? "times across clients are exact to" : "clients share their start to";
		return ok(`${exact} ${figure}`, { values: { boundNs }, figure });
	},
};

export const faults: Check = {
	name: "faults",
	comesTo: "invalid",
	when: "a fault could not be done or undone, or never happened (unless the run was stopped)",
	applies: ({ plan }) => plan.faults.length > 0,
	judge({ collected }) {
		const { plan, run, state } = collected;
		const done = faultsDone(collected);
		const limit = `${plan.faults.length}`;
		if (run === null) return { ...unknown("the faults were not written down"), limit };
		const planned = plan.faults.length;
		const carriedOut = done.filter((f) => f.error === null).map(faultName);
		// A stop keeps faults from happening.
		const stopped = state !== "complete";
		const missing = stopped ? 0 : planned - done.length;
		const failed = done.filter((f) => f.error !== null && !(stopped && f.runOver));
		const wrong = [
			...(missing > 0 ? [`${missing} of ${plural(planned, "fault")} did not happen`] : []),
			...failed.map((f) => `${faultName(f)} was not carried out as planned: ${f.error}`),
		].join("; ");
		const did =
			carriedOut.length === 0
				? "the run was stopped before the first fault"
				: `${carriedOut.join(", ")}: carried out`;
		return {
			status: wrong === "" ? "ok" : "invalid",
			text: wrong || did,
			figure: `${carriedOut.length} of ${planned}`,
			limit,
			remedy: failed.length > 0 ? "fix what it names, and measure again" : AGAIN,
		};
	},
};

export const warmUp: Check = {
	name: "warm-up",
	comesTo: "warn",
	when: "`warmup: steady` reached its latest time (invalid under `strict: true`)",
	applies: ({ plan }) => plan.schedule.steady !== null,
	judge({ collected: { plan, totals } }) {
		const { steady, warmupNs } = plan.schedule;
		if (totals === null || steady === null) return NOT_COUNTED;
		const level = warmupNs < steady.toNs;
		const after = `after ${formatDuration(warmupNs)} of warm-up`;
		return {
			status: level ? "ok" : plan.strict ? "invalid" : "warn",
			text: level
				? `p50 was level ${after}`
				: `p50 was not level ${after}, the longest that warmup: steady waits`,
			values: { warmupNs },
			figure: formatDurationExact(warmupNs),
			limit: formatDurationExact(steady.toNs),
			remedy: "see why latency does not settle, or write a fixed warmup, e.g. 2min",
		};
	},
};

// --- internal ---

/** In ns, 0 for this machine's clock. Null if not measured after the run. */
function boundOf({ end }: ClientPart): number | null {
	const clock = end?.clock ?? null;
	if (clock === null) return 0;
	return clock.afterNs === null ? null : clock.boundNs;
}

function earlyOf({ collected }: Facts, boundNs: number): Finding | null {
	const all = [...RECEIVES].map((metric) =>
		sumsOf({ collected }, metric, { from: Number.NEGATIVE_INFINITY }),
	);
	const messages = largestOf(all.map((s) => s.negative));
	const earliestNs = messages === 0 ? 0 : -smallestOf(all.map((s) => s.lowest));
	if (earliestNs <= boundNs) return null;
	return {
		status: "invalid",
		text: `${plural(messages, "message")} arrived up to ${formatDuration(earliestNs)} before being sent: the clocks are further apart than ${plusMinus(boundNs)}`,
		values: { messages, earliestNs, boundNs },
		remedy: "keep the clocks of all clients in step (chrony, or PTP), and measure again",
	};
}
