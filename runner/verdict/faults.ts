import type { FaultDone } from "../run/run-file.ts";
import { formatDuration } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";

/** Was done to the broker what the scenario asks for? A fault that was not carried out has measured something else. */
export const faults: CheckFunction = ({ collected }) => {
	const { plan, run, state } = collected;
	const done = run?.faults ?? [];
	const figure = `${done.filter((f) => f.error === null).length} of ${plan.faults.length}`;
	const limit = `${plan.faults.length}`;
	const failed = done.filter((f) => f.error !== null);
	if (failed.length > 0)
		return result(
			"faults",
			"invalid",
			`${failed.map((f) => `${faultName(f)} was not carried out as planned: ${f.error}`).join("; ")}`,
			{ figure, limit, remedy: "mend what it names, and measure again" },
		);
	if (done.length === 0)
		return result(
			"faults",
			"unknown",
			"what was done to the broker was not written down",
			{ limit, remedy: AGAIN },
		);
	// Whoever stops a run keeps faults from happening.
	if (done.length < plan.faults.length && state === "complete")
		return result(
			"faults",
			"invalid",
			`only ${figure} faults were carried out before the run ended`,
			{ figure, limit, remedy: AGAIN },
		);
	return result(
		"faults",
		"ok",
		`${done.map(faultName).join(", ")}: carried out`,
		{ figure, limit },
	);
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

const AGAIN = "make the run again";
