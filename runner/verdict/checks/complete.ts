import type { Collected } from "../../run/collect.ts";
import { type Said, say } from "../../text/say.ts";
import { stoppedAfterNs } from "../aborted.ts";
import type { Check } from "./check.ts";
import { clientName, onlySome } from "./clients.ts";

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
