import { whoIs } from "../../evidence/client-read.ts";
import type { ClientPart, Collected } from "../../evidence/collect.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import type { Counters } from "../../model/client-file.ts";
import { Metric, type Plan } from "../../model/plan.ts";
import { type FaultDone, isElsewhere } from "../../model/run-file.ts";
import { copies, intendedInWindow, samplesPerMessage } from "../../plan/samples.ts";
import { type Said, say } from "../../text/say.ts";
import { formatDuration, formatDurationExact } from "../../units.ts";
import { type Facts, stoppedAfterNs, sumsOf } from "../facts.ts";
import { limitIntervals } from "../intervals.ts";
import { receivedTwice } from "../received-twice.ts";
import { type Check, NOT_COUNTED, unknown } from "./check.ts";
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
				said: say("files-unreadable", { problem: facts.unreadable }),
				remedy: say(closed ? "report-bug" : "again"),
			};
		if (state === "aborted")
			return {
				status: "warn",
				said: say("run-aborted", { afterNs: stoppedAfterNs(facts), sla: run?.abortedBy ?? "" }),
				remedy: say("without-abort"),
			};
		if (state !== "complete")
			return {
				status: "invalid",
				said: onlySome(facts.collected)
					? say("client-unfinished")
					: say("run-unfinished", { problem: problem ?? state }),
				remedy: say("again"),
			};
		const ended = oddEnd(facts.collected);
		return ended === null
			? { status: "ok", said: say("files-closed") }
			: { status: "warn", said: ended, remedy: say("see-k6") };
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
		const problems = parts.map((p) => p.problem).filter((p) => p !== null);
		const clients = parts.length;
		const whole = clients - problems.length;
		return {
			...(whole < clients
				? { status: "invalid", said: say("clients-missing", { whole, clients, problems }) }
				: { status: "ok", said: say("clients-whole", { clients }) }),
			figure: `${whole} of ${clients}`,
			limit: `${clients}`,
			remedy: say("see-client"),
		};
	},
};

/** T0 is handed out to several clients: whoever claims its first slots after it has sent them late. */
export const claim: Check = {
	name: "claim",
	/** One client alone, to which no start was told, always claims its part in time. */
	applies: ({ plan, parts }) =>
		(plan.client.count > 1 || parts.some(({ end }) => end != null && isElsewhere(end.kind))) &&
		plan.schedule.kind !== "closed",
	judge({ collected }) {
		const claims = firstClaims(collected);
		const [last] = claims.toSorted((a, b) => b.ns - a.ns);
		if (last === undefined || claims.length < collected.parts.length)
			return unknown(say("claim-unknown"), say("again"));
		const { ns, part } = last;
		return {
			...(ns > 0
				? { status: "invalid", said: say("claimed-late", { lateNs: ns, client: clientName(part) }) }
				: { status: "ok", said: say("claimed-in-time", { aheadNs: -ns }) }),
			figure: formatDuration(ns),
			limit: "0s",
			remedy: say("less-other-work"),
		};
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
		const [longest] = parts
			.map(({ name, totals }) => ({ name, ns: Math.max(0, totals?.suspendedNs ?? 0) }))
			.sort((a, b) => b.ns - a.ns);
		const { name: machine, ns } = longest ?? { name: "", ns: 0 };
		return {
			...(ns >= SUSPENDED_NS
				? { status: "invalid", said: say("suspended", { machine, ns }) }
				: { status: "ok", said: say("awake") }),
			figure: formatDuration(ns),
			limit: formatDuration(SUSPENDED_NS),
			remedy: say("stay-awake"),
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

/** Was done to the broker what the scenario asks for? A fault that was not carried out has measured something else. */
export const faults: Check = {
	name: "faults",
	applies: ({ plan }) => plan.faults.length > 0,
	judge({ collected: { plan, run, state } }) {
		const limit = `${plan.faults.length}`;
		if (run === null) return { ...unknown(say("faults-unknown"), say("again")), limit };
		const done = run.faults;
		const carriedOut = done.filter((f) => f.error === null);
		const figure = `${carriedOut.length} of ${plan.faults.length}`;
		// Whoever stops a run keeps faults from happening.
		const stopped = state !== "complete";
		const missing = stopped ? [] : neverDone(plan.faults, done);
		const failed = done.filter(({ error, runOver }) => error !== null && !(stopped && runOver));
		if (missing.length + failed.length > 0)
			return {
				status: "invalid",
				said: say("faults-not-done", {
					missing,
					failed: failed.map(faultName),
					errors: failed.map((f) => f.error ?? ""),
				}),
				figure,
				limit,
				remedy: say(failed.length > 0 ? "fix-faults" : "again"),
			};
		return {
			status: "ok",
			said:
				carriedOut.length === 0
					? say("faults-none-yet")
					: say("faults-done", { faults: carriedOut.map(faultName) }),
			figure,
			limit,
		};
	},
};

/** "kill of node 2 (the leader)", "pause", "latency of 50ms of node 1" */
export function faultName({
	action,
	node,
	leader,
	delayNs,
}: Pick<FaultDone, "action" | "node" | "leader" | "delayNs">): string {
	const who =
		node === null
			? leader
				? " of the leader"
				: ""
			: ` of node ${node}${leader ? " (the leader)" : ""}`;
	return `${action}${delayNs === null ? "" : ` of ${formatDuration(delayNs)}`}${who}`;
}

/** Was latency steady when the window opened? Only a warm-up until steady has promised it. */
export const warmUp: Check = {
	name: "warm-up",
	applies: ({ plan }) => plan.schedule.steady !== null,
	judge({ collected: { plan, totals } }) {
		const { steady, warmupNs } = plan.schedule;
		if (totals === null || steady === null) return NOT_COUNTED;
		const times = {
			figure: formatDurationExact(warmupNs),
			limit: formatDurationExact(steady.toNs),
		};
		if (warmupNs < steady.toNs)
			return { status: "ok", said: say("warmed-up", { warmupNs }), ...times };
		return {
			status: plan.strict ? "invalid" : "warn",
			said: say("never-steady", { warmupNs }),
			...times,
			remedy: say("warm-up-fixed"),
		};
	},
};

/** Do all counts add up? */
export const identities: Check = {
	name: "identities",
	judge(facts) {
		if (!facts.collected.closed) return unknown(say("counts-incomplete"), say("again"));
		const broken = brokenIdentities(facts);
		return broken.length === 0
			? { status: "ok", said: say("counts-add-up") }
			: {
					status: "error",
					said: say("counts-differ", { broken: broken.map(({ text }) => text) }),
					remedy: say("report-bug"),
				};
	},
};

/**
 * What must be equal if mqbench has counted right (reports/README.md, "Counts"). Empty, or what is not. Only
 * asked of files that are closed: in others some counts are missing.
 */
export function brokenIdentities(facts: Facts): Said[] {
	const { plan, counters, closed, seconds, ledgers, breakdown } = facts.collected;
	if (!closed) return [];
	const broken: Said[] = [];
	const same = (a: number, b: number, otherwise: () => Said) => {
		if (a !== b) broken.push(otherwise());
	};
	for (const scope of ["warmup", "window"] as const) {
		const c = counters[scope];
		if (c === null) continue;
		const ledger = ledgers?.[scope];
		if (ledger !== undefined) {
			for (const kind of ["sent", "failed", "acked"] as const) {
				const [a, b] = [c[kind] ?? 0, ledger[kind] ?? 0];
				same(a, b, () => say("ledgers-differ", { scope, kind, counters: a, ledgers: b }));
			}
			if (ledger.strange > 0)
				broken.push(say("strange-messages", { scope, messages: ledger.strange }));
		}
		for (const [equation, left, right] of equations(c, copies(plan)))
			same(left, right, () => say("equation-broken", { scope, equation, left, right }));
	}
	for (const [scope, planned] of [
		["window", intendedInWindow(plan)],
		["warmup", plan.schedule.warmupMessages],
	] as const) {
		const counted = counters[scope]?.intended ?? planned;
		same(counted, planned, () => say("intended-differs", { scope, counters: counted, planned }));
	}
	for (const metric of Metric.options) {
		const histogram = facts.merged.get(metric)?.whole.count ?? 0;
		const counted = sumsOf(facts, metric).count;
		same(histogram, counted, () =>
			say("histogram-differs", { metric, histogram, counters: counted }),
		);
	}
	if (breakdown !== null) {
		const responses = breakdown.reduce((n, b) => n + b.messages, 0);
		const counted = sumsOf(facts, "response").count;
		same(responses, counted, () =>
			say("breakdown-differs", { broken: responses, counters: counted }),
		);
	}
	for (const [k, { metric }] of plan.limits.entries()) {
		const second = receivedTwice(facts.collected, metric);
		const intervals = limitIntervals(plan, seconds, k, second);
		const pieces = intervals.reduce((n, i) => n + i.n - i.censored, 0) + second;
		const counted = sumsOf(facts, metric).count;
		same(pieces, counted, () => say("pieces-differ", { metric, pieces, counters: counted }));
		if (intervals.some((i) => i.censored < 0)) broken.push(say("more-than-intended", { metric }));
	}
	for (const metric of Metric.options) {
		const most = intendedInWindow(plan) * samplesPerMessage(plan, metric);
		const second = receivedTwice(facts.collected, metric);
		if (most > 0 && sumsOf(facts, metric).count > most + second)
			broken.push(say("more-than-window", { metric }));
	}
	return broken;
}

// --- internal ---

/** How k6 ended where it did not as it should, of several clients the first such; null: as it should. */
function oddEnd({ run, parts }: Collected): Said | null {
	const ofOne = (exitCode: number | null, signal: string | null, client: string | null) =>
		exitCode === 0 ? null : say("k6-ended-oddly", { signal, exitCode, client });
	for (const part of parts) {
		if (parts.length === 1 || part.end === null) continue;
		const { k6Exit, k6Signal } = part.end;
		const how = ofOne(k6Exit, k6Signal, clientName(part));
		if (how !== null) return how;
	}
	return run === null ? null : ofOne(run.k6Exit, run.k6Signal, null);
}

function firstClaims({ parts }: Collected): { readonly part: ClientPart; readonly ns: number }[] {
	return parts.flatMap((part) => {
		const ns = part.totals?.firstClaimNs ?? part.end?.firstClaimNs ?? null;
		return ns === null ? [] : [{ part, ns }];
	});
}

/** Names of the planned faults that nothing was written down of. */
function neverDone(expected: Plan["faults"], done: readonly FaultDone[]): string[] {
	const left = [...done];
	return expected.flatMap(({ action, node, delayNs }) => {
		const leader = node === "leader";
		const index = left.findIndex(
			(f) =>
				f.action === action &&
				f.delayNs === delayNs &&
				f.leader === leader &&
				(leader || f.node === node),
		);
		if (index >= 0) {
			left.splice(index, 1);
			return [];
		}
		return [faultName({ action, delayNs, leader, node: leader ? null : node })];
	});
}

function equations(c: Counters, each: number): [what: string, a: number, b: number][] {
	const all: [string, number, number][] = [
		["intended = sent + notOffered", c.intended, c.sent + c.notOffered],
	];
	if (c.acked !== null)
		all.push(["sent = acked + failed + unknown", c.sent, c.acked + c.failed + c.unknown]);
	const { received, delivered, lost } = c;
	// Where messages are only published nobody receives any.
	if (received === null || delivered === null || lost === null) return all;
	all.push([
		"received = delivered + unackedReceived + failedReceived",
		received,
		delivered + (c.unackedReceived ?? 0) + (c.failedReceived ?? 0),
	]);
	// Without acknowledgements a message that was sent without error is delivered or lost; of a fan-out each of its copies.
	const times = each === 1 ? "" : `${each} x `;
	if (c.acked === null)
		all.push([
			each === 1
				? "sent = delivered + lost + failed + unknown"
				: `${times}(sent - failed - unknown) = delivered + lost`,
			each === 1 ? c.sent : each * (c.sent - c.failed - c.unknown),
			delivered + lost + (each === 1 ? c.failed + c.unknown : 0),
		]);
	else all.push([`${times}acked = delivered + lost`, each * c.acked, delivered + lost]);
	return all;
}
