import { whoIs } from "../../run/client-read.ts";
import type { ClientPart, Collected } from "../../run/collect.ts";
import { formatDuration } from "../../units.ts";
import { AGAIN, type Check, unknown } from "./check.ts";

/**
 * Some of several clients are missing, or broke off, and others did not: what those have measured is shown, but it is not the load that was
 * asked for.
 */
export function onlySome({ state, parts, run }: Collected): boolean {
	return (
		state === "crashed" &&
		run?.error == null &&
		parts.length > 1 &&
		parts.some((part) => part.problem === null)
	);
}

/** Did every client of several do its part? */
export const clients: Check = {
	name: "clients",
	applies: ({ plan }) => plan.client.count > 1,
	judge({ collected: { parts } }) {
		const problems = parts.map((p) => p.problem).filter((p) => p !== null);
		const figure = `${parts.length - problems.length} of ${parts.length}`;
		return {
			...(problems.length > 0
				? {
						status: "invalid",
						detail: `${figure} clients did their part: ${problems.join("; ")}`,
					}
				: {
						status: "ok",
						detail: `all ${parts.length} clients did their part`,
					}),
			...{ figure, limit: `${parts.length}` },
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
		(plan.client.count > 1 || parts.some((p) => p.end?.kind === "ssh")) &&
		plan.schedule.kind !== "closed",
	judge({ collected }) {
		const claims = firstClaims(collected);
		const [last] = claims.toSorted((a, b) => b.ns - a.ns);
		if (last === undefined || claims.length < collected.parts.length)
			return unknown("not every client has told when it began", AGAIN);
		const figure = formatDuration(last.ns);
		return {
			...(last.ns > 0
				? {
						status: "invalid",
						detail: `the first part of the schedule was claimed ${figure} after its start, by ${clientName(last.part)}`,
					}
				: {
						status: "ok",
						detail: `every client claimed its schedule before its start, the last one ${formatDuration(-last.ns)} ahead`,
					}),
			...{ figure, limit: "0s" },
			remedy: "measure again on a machine with less other work",
		};
	},
};

/** How far apart the first and the last client began to claim, ns; null: one client, or one of them never began. */
export function startSkewNs(collected: Collected): number | null {
	const times = firstClaims(collected).map(({ ns }) => ns);
	return times.length < 2 || times.length < collected.parts.length
		? null
		: Math.max(...times) - Math.min(...times);
}

/** "client 1 (bench@10.0.0.11)", "client 1" */
export function clientName({ index, end }: ClientPart): string {
	return whoIs(index, end?.name ?? null);
}

// --- internal ---

function firstClaims({
	parts,
}: Collected): { readonly part: ClientPart; readonly ns: number }[] {
	return parts.flatMap((part) => {
		const ns = part.totals?.firstClaimNs ?? part.end?.firstClaimNs ?? null;
		return ns === null ? [] : [{ part, ns }];
	});
}
