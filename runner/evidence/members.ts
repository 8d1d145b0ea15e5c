import { largestOf, smallestOf } from "../extremes.ts";
import type { Members } from "../model/client-file.ts";
import type { Plan } from "../model/plan.ts";
import { type FaultDone, faultZeroNs } from "../model/run-file.ts";
import type { Collected } from "./collect.ts";

type Done = FaultDone & { readonly fault?: number };

/** All faults of a run in order of time. One of consumers has its place in the plan (`fault`). */
export function faultsDone({ run, plan, members }: Pick<Collected, "run" | "plan" | "members">) {
	const all: Done[] = [...(run?.faults ?? []), ...consumerFaults(plan, members)];
	return all.sort((a, b) => faultZeroNs(a) - faultZeroNs(b));
}

// --- internal ---

/** Each as one, though several clients made it. `calledNs`: when the first member began; `beganNs`: when all of them were done. */
function consumerFaults({ faults }: Pick<Plan, "faults">, clients: readonly Members[]): Done[] {
	return faults.flatMap(({ of, action, count }, fault) => {
		const all = clients.flatMap(({ changes }) => changes.filter((one) => one.fault === fault));
		const own = all.filter((one) => one.action === action);
		const began = own.flatMap(({ beganNs }) => beganNs ?? []);
		if (of === "brokers" || began.length === 0) return [];
		const ends = action === "pause" ? own : all.filter((one) => one.action === "back");
		const undone = own.some(({ doneNs }) => doneNs === null);
		const error = all.find((one) => one.error !== undefined)?.error;
		const calledNs = smallestOf(began);
		return {
			fault,
			of,
			action,
			count,
			node: null,
			leader: false,
			calledNs,
			// Consumers pause at once.
			beganNs: action === "pause" ? calledNs : (lastOf(own) ?? calledNs),
			endedNs: ends.length === 0 ? null : lastOf(ends),
			delayNs: null,
			error: error ?? (undone && action !== "pause" ? "the run was over before it was done" : null),
			runOver: error === undefined && undone,
		};
	});
}

/** When the last one was done; null if one was not. */
function lastOf(all: Members["changes"]): number | null {
	const times = all.map(({ doneNs }) => doneNs);
	return times.includes(null) ? null : largestOf(times.map((ns) => ns ?? 0));
}
