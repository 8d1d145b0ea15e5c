import type { Verdict } from "../model/verdict.ts";
import { formatCount } from "../units.ts";
import { type Answer, boundsOf, type Found } from "./search.ts";

/** What a search came to, in one sentence. */
export function answerText(answer: Answer, found: readonly Found[]): string {
	const { lo, hi, limitedBy, confirmed } = answer;
	if (lo === null)
		return limitedBy === "error"
			? "no answer: a run could not be made"
			: noRateText(answer, found);
	const met = `${rate(lo)} meets the SLA${confirmed ? ", confirmed by a longer run" : ", not confirmed"}`;
	switch (limitedBy) {
		case "system":
			return `${met}; ${rate(hi)} does not`;
		case "generator":
			return `at least ${met}; the generator or its consumers carry no more (generator-limited)`;
		case "nothing":
			return `at least ${met}; the search ends there`;
		case "error":
			return `${met}; then a run could not be made`;
	}
}

/** What a search says of the scenario: finding a rate is passing. */
export function answerVerdict({ lo, limitedBy, confirmed }: Answer): Verdict {
	if (limitedBy === "error") return "error";
	if (lo === null) return limitedBy === "generator" ? "invalid" : "fail";
	return confirmed ? "pass" : "inconclusive";
}

// --- internal ---

function rate(value: number | null): string {
	return `${formatCount(value ?? 0)}/s`;
}

/** No rate was confirmed: what its runs said, and how many said nothing. */
function noRateText({ hi }: Answer, found: readonly Found[]): string {
	const invalid = found.filter((f) => f.outcome === "invalid");
	const all = found.length;
	if (invalid.length === all)
		return `no answer: every run was INVALID (${all} of ${all})`;
	const { lo: probed } = boundsOf(found);
	const longer = found.filter((f) => f.step.role === "confirm");
	const lowest = Math.min(...longer.map((f) => f.step.rate));
	const what =
		probed !== null
			? `no rate is confirmed: ${rate(probed)} passed as a probe, but no longer run passed, down to ${rate(lowest)}`
			: `no rate meets the SLA${hi === null ? "" : `, not even ${rate(hi)}`}`;
	return invalid.length === 0
		? what
		: `${what}; ${invalid.length} of ${all} runs ${invalid.length === 1 ? "was" : "were"} INVALID`;
}
