import type { ClientPart, Collected } from "../run/collect.ts";
import { formatDuration } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";

/** Did every client of several do its part, and begin in time? */

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

export const clients: CheckFunction = ({ collected }) => {
	const { parts } = collected;
	const problems = parts.map((p) => p.problem).filter((p) => p !== null);
	const figure = `${parts.length - problems.length} of ${parts.length}`;
	return problems.length > 0
		? result(
				"clients",
				"invalid",
				`${figure} clients did their part: ${problems.join("; ")}`,
				{
					figure,
					limit: `${parts.length}`,
					remedy:
						"see why it broke off, and make the run again: its messages are missing from the load",
				},
			)
		: result("clients", "ok", `all ${parts.length} clients did their part`, {
				figure,
				limit: `${parts.length}`,
			});
};

/** T0 is handed out to several clients: whoever claims its first slots after it has sent them late. */
export const claim: CheckFunction = ({ collected }) => {
	const claims = firstClaims(collected);
	const last = claims.reduce<(typeof claims)[number] | null>(
		(worst, one) => (worst === null || one.ns > worst.ns ? one : worst),
		null,
	);
	if (last === null || claims.length < collected.parts.length)
		return result(
			"claim",
			"unknown",
			"not every client has told when it began",
			{
				remedy: "make the run again",
			},
		);
	const figure = formatDuration(last.ns);
	return last.ns > 0
		? result(
				"claim",
				"invalid",
				`the first part of the schedule was claimed ${figure} after its start, by ${clientName(last.part)}`,
				{
					figure,
					limit: "0s",
					remedy: "measure again on a machine with less other work",
				},
			)
		: result(
				"claim",
				"ok",
				`every client claimed its schedule before its start, the last one ${formatDuration(-last.ns)} ahead`,
				{ figure, limit: "0s" },
			);
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
	return `client ${index}${end === null ? "" : ` (${end.name})`}`;
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
