import type { Verdict } from "../model/verdict.ts";
import { formatCount } from "../units.ts";
import type { Answer } from "./search.ts";

/** What a search came to, in one sentence. */
export function answerText({ lo, hi, limitedBy, confirmed }: Answer): string {
	const rate = (value: number | null) => `${formatCount(value ?? 0)}/s`;
	if (lo === null)
		return limitedBy === "generator"
			? "no answer: the load generator or its consumers were too slow for every rate"
			: limitedBy === "error"
				? "no answer: a run could not be made"
				: `no rate meets the SLA${hi === null ? "" : `, not even ${rate(hi)}`}`;
	const found = `${rate(lo)} meets the SLA${confirmed ? ", confirmed by a longer run" : ", not confirmed"}`;
	switch (limitedBy) {
		case "system":
			return `${found}; ${rate(hi)} does not`;
		case "generator":
			return `at least ${found}; the generator or its consumers carry no more (generator-limited)`;
		case "nothing":
			return `at least ${found}; the search ends there`;
		case "error":
			return `${found}; then a run could not be made`;
	}
}

/** What a search says of the scenario: finding a rate is passing. */
export function answerVerdict({ lo, limitedBy, confirmed }: Answer): Verdict {
	if (limitedBy === "error") return "error";
	if (lo === null) return limitedBy === "generator" ? "invalid" : "fail";
	return confirmed ? "pass" : "inconclusive";
}
