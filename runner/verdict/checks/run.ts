import { whoIs } from "../../evidence/client-read.ts";
import type { ClientPart, Collected } from "../../evidence/collect.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import type { Plan } from "../../model/plan.ts";
import { type FaultDone, isElsewhere as isKindElsewhere } from "../../model/run-file.ts";
import { formatDuration, formatDurationExact } from "../../units.ts";
import { stoppedAfterNs } from "../facts.ts";
import { AGAIN, type Check, compared, type Finding, NOT_COUNTED, unknown } from "./check.ts";
import { SUSPENDED_NS } from "./limits.ts";

/** Was the run made to its end, and is all of it there? */
export const complete: Check = {
	name: "complete",
	judge(facts) {
		const { state, problem, run, closed } = facts.collected;
		// Bytes that match their sum and cannot be read were written wrongly: our bug.
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
			const some = onlySome(facts.collected)
				? "not every client's result is whole: see clients"
				: null;
			return { status: "invalid", text: some ?? problem ?? state, remedy: AGAIN };
		}
		const odd = oddEnd(facts.collected);
		return odd === null
			? { status: "ok", text: "every file is closed and matches its sum" }
			: { status: "warn", text: odd, remedy: "see what k6 printed" };
	},
};

/**
 * Some of several clients are missing, or broke off, and others did not: what those have measured is shown, but it is not the load that was
 * asked for.
 */
export function onlySome({ state, parts, run }: Collected): boolean {
	return (
		state === "crashed" &&
		run?.error == null &&
		parts.some((part) => part.problem !== null) &&
		parts.some((part) => part.problem === null)
	);
}

/** Did every client of several do its part? */
export const clients: Check = {
	name: "clients",
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

/** T0 is handed out to several clients: whoever claims its first slots after it has sent them late. */
export const claim: Check = {
	name: "claim",
	/** One client alone, to which no start was told, always claims its part in time. */
	applies: ({ plan, parts }) =>
		(plan.client.count > 1 || parts.some(isElsewhere)) && plan.schedule.kind !== "closed",
	judge({ collected }) {
		const claims = firstClaims(collected);
		const [last] = claims.toSorted((a, b) => b.ns - a.ns);
		if (last === undefined || claims.length < collected.parts.length)
			return unknown("not every client has told when it began");
		const { ns, part } = last;
		return compared(ns, {
			limit: 0,
			above: "invalid",
			show: formatDuration,
			text:
				ns > 0
					? `${clientName(part)} began to send ${formatDuration(ns)} after the common start`
					: `every client was ready before the common start, the last one ${formatDuration(-ns)} ahead`,
			values: { lateNs: ns },
			remedy: "measure again on a machine with less other work",
		});
	},
};

/**
 * Was a machine suspended that made load? The clock that times all messages stands still then, and the rest of the world does not: neither
 * the schedule nor any latency of that time is what it seems.
 */
export const suspended: Check = {
	name: "suspended",
	applies: ({ parts }) => parts.some(({ totals }) => totals?.suspendedNs !== undefined),
	judge({ collected: { parts } }) {
		const slept = ({ totals }: ClientPart) => Math.max(0, totals?.suspendedNs ?? 0);
		const [longest] = parts.toSorted((a, b) => slept(b) - slept(a));
		const ns = longest ? slept(longest) : 0;
		return {
			status: ns >= SUSPENDED_NS ? "invalid" : "ok",
			text:
				ns >= SUSPENDED_NS
					? `${longest?.name} was suspended for ${formatDuration(ns)} during the run, as when a laptop's lid is closed; in that time nothing was sent or timed`
					: "no load generator was suspended",
			values: { ns },
			figure: formatDuration(ns),
			limit: formatDuration(SUSPENDED_NS),
			remedy: "keep the machine awake (systemd-inhibit npx mqbench ...), and measure again",
		};
	},
};

/** How far apart the first and the last client began to claim, ns; null: one client, or one of them never began. */
export function startSkewNs(collected: Collected): number | null {
	const times = firstClaims(collected).map(({ ns }) => ns);
	return times.length < 2 || times.length < collected.parts.length
		? null
		: largestOf(times) - smallestOf(times);
}

/** "client 1 (bench@10.0.0.11)", "client 1" */
export function clientName({ index, end }: ClientPart): string {
	return whoIs(index, end?.name ?? null);
}

/** Is it on another host? A container is on this one. */
export function isElsewhere({ end }: ClientPart): boolean {
	return end != null && isKindElsewhere(end.kind);
}

/** Was done to the broker what the scenario asks for? A fault that was not carried out has measured something else. */
export const faults: Check = {
	name: "faults",
	applies: ({ plan }) => plan.faults.length > 0,
	judge({ collected: { plan, run, state } }) {
		const limit = `${plan.faults.length}`;
		if (run === null)
			return { ...unknown("what was done to the broker was not written down"), limit };
		const carriedOut = run.faults.filter((f) => f.error === null).map(faultName);
		// Whoever stops a run keeps faults from happening.
		const stopped = state !== "complete";
		const missing = stopped ? [] : neverDone(plan.faults, run.faults);
		const failed = run.faults.filter((f) => f.error !== null && !(stopped && f.runOver));
		const wrong = [
			...missing.map((name) => `${name} did not happen`),
			...failed.map((f) => `${faultName(f)} was not carried out as planned: ${f.error}`),
		];
		const found = (text: string, status: Finding["status"] = "ok"): Finding => ({
			status,
			text,
			figure: `${carriedOut.length} of ${plan.faults.length}`,
			limit,
			remedy: failed.length > 0 ? "fix what it names, and measure again" : AGAIN,
		});
		if (wrong.length > 0) return found(wrong.join("; "), "invalid");
		return carriedOut.length === 0
			? found("the run was stopped before the first fault")
			: found(`${carriedOut.join(", ")}: carried out`);
	},
};

/** "kill of node 2 (the leader)", "pause", "latency of 50ms of node 1" */
export function faultName({
	action,
	node,
	leader,
	delayNs,
}: Pick<FaultDone, "action" | "node" | "leader" | "delayNs">): string {
	const one = leader ? " of the leader" : "";
	const who = node === null ? one : ` of node ${node}${leader ? " (the leader)" : ""}`;
	return `${action}${delayNs === null ? "" : ` of ${formatDuration(delayNs)}`}${who}`;
}

/** Was latency steady when the window opened? Only a warm-up until steady has promised it. */
export const warmUp: Check = {
	name: "warm-up",
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

/** How k6 ended where it did not as it should, of several clients the first such; null: as it should. */
function oddEnd({ run, parts }: Collected): string | null {
	const ends =
		parts.length === 1 ? [] : parts.flatMap((part) => (part.end ? [{ ...part.end, part }] : []));
	const odd = ends.find(({ k6Exit }) => k6Exit !== 0) ?? (run?.k6Exit === 0 ? null : run);
	if (odd == null) return null;
	const where = "part" in odd ? ` on ${clientName(odd.part)}` : "";
	return `all results are there, but k6 ended with ${odd.k6Signal ?? `exit code ${odd.k6Exit}`}${where}`;
}

function firstClaims({ parts }: Collected): { readonly part: ClientPart; readonly ns: number }[] {
	return parts.flatMap((part) => {
		const ns = part.totals?.firstClaimNs ?? part.end?.firstClaimNs ?? null;
		return ns === null ? [] : [{ part, ns }];
	});
}

/** Names of the planned faults that nothing was written down of. */
function neverDone(expected: Plan["faults"], done: readonly FaultDone[]): string[] {
	// Which node the leader was is known only of those that were done.
	const left = done.map((fault) => faultName({ ...fault, node: fault.leader ? null : fault.node }));
	const names = expected.map(({ node, ...fault }) =>
		faultName({ ...fault, leader: node === "leader", node: node === "leader" ? null : node }),
	);
	return names.filter((name) => {
		const index = left.indexOf(name);
		if (index >= 0) left.splice(index, 1);
		return index < 0;
	});
}
