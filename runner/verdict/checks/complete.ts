import type { Collected } from "../../run/collect.ts";
import { stoppedAfter } from "../aborted.ts";
import { AGAIN, type Check } from "./check.ts";
import { clientName, onlySome } from "./clients.ts";
import { REPORT_BUG } from "./identities.ts";

/** Was the run made to its end, and is all of it there? */
export const complete: Check = {
	name: "complete",
	judge(facts) {
		const { state, problem, run, closed } = facts.collected;
		// Bytes that match their sum and cannot be read were written wrongly: our bug.
		if (facts.unreadable !== null)
			return {
				status: closed ? "error" : "invalid",
				detail: facts.unreadable,
				remedy: closed ? REPORT_BUG : AGAIN,
			};
		if (state === "aborted")
			return {
				status: "warn",
				detail: `stopped after ${stoppedAfter(facts)}: ${run?.abortedBy} could not pass any more`,
				remedy: "take abort off the SLA line to see a whole run",
			};
		if (state !== "complete")
			return {
				status: "invalid",
				detail: onlySome(facts.collected)
					? "not every client's result is whole: see clients"
					: (problem ?? state),
				remedy: AGAIN,
			};
		const ended = oddEnd(facts.collected);
		return ended === null
			? { status: "ok", detail: "every file is closed and matches its sum" }
			: {
					status: "warn",
					detail: `all results are there, but k6 ended with ${ended}`,
					remedy: "see what k6 printed",
				};
	},
};

// --- internal ---

/** "exit code 3", with several clients "exit code 3 on client 1 (bench@10.0.0.11)"; null: as it should. */
function oddEnd({ run, parts }: Collected): string | null {
	const ofOne = (code: number | null, signal: string | null) =>
		code === 0 ? null : (signal ?? `exit code ${code}`);
	for (const part of parts) {
		if (parts.length === 1 || part.end === null) continue;
		const how = ofOne(part.end.k6Exit, part.end.k6Signal);
		if (how !== null) return `${how} on ${clientName(part)}`;
	}
	return run === null ? null : ofOne(run.k6Exit, run.k6Signal);
}
