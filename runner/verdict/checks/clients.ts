import { largestOf, smallestOf } from "../../extremes.ts";
import { isElsewhere } from "../../model/run-file.ts";
import { whoIs } from "../../run/client-read.ts";
import type { ClientPart, Collected } from "../../run/collect.ts";
import { say } from "../../text/say.ts";
import { formatDuration } from "../../units.ts";
import { type Check, unknown } from "./check.ts";
import { SUSPENDED_NS } from "./limits.ts";

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

// --- internal ---

function firstClaims({ parts }: Collected): { readonly part: ClientPart; readonly ns: number }[] {
	return parts.flatMap((part) => {
		const ns = part.totals?.firstClaimNs ?? part.end?.firstClaimNs ?? null;
		return ns === null ? [] : [{ part, ns }];
	});
}
