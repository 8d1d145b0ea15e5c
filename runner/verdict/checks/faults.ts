import type { Plan } from "../../model/plan.ts";
import type { FaultDone } from "../../model/run-file.ts";
import { say } from "../../text/say.ts";
import { formatDuration } from "../../units.ts";
import { type Check, unknown } from "./check.ts";

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

// --- internal ---

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
