import { smallestOf } from "../extremes.ts";
import type { Verdict } from "../model/verdict.ts";
import { percent } from "../text/percent.ts";
import { tell } from "../text/tell.ts";
import { type Answer, boundsOf, type Found, LOWEST_PART } from "./search.ts";

/** What a search came to, in one sentence. */
export function answerText(answer: Answer, runs: readonly Found[]): string {
	const { lo, hi, limitedBy, confirmed } = answer;
	if (lo === null)
		return limitedBy === "error"
			? tell("search-broke")
			: limitedBy === "interrupted"
				? tell("search-stopped")
				: noRateText(answer, runs);
	const code = confirmed ? "rate-confirmed" : "rate-unconfirmed";
	const met = tell(code, { perSecond: lo });
	switch (limitedBy) {
		case "system":
			return tell("search-found", { met, hiPerSecond: hi ?? 0 });
		case "generator":
			return tell("search-generator-limited", { met });
		case "nothing":
			return tell("search-ended", { met });
		case "error":
			return tell("search-broke-after", { met });
		case "interrupted":
			return tell(confirmed ? "confirmed-so-far" : "passed-so-far", { perSecond: lo });
	}
}

/** What a search says of the scenario: finding a rate is passing. */
export function answerVerdict({ lo, limitedBy, confirmed }: Answer): Verdict {
	if (limitedBy === "error" || limitedBy === "interrupted") return limitedBy;
	if (lo === null) return limitedBy === "generator" ? "invalid" : "fail";
	return confirmed ? "pass" : "inconclusive";
}

// --- internal ---

/** No rate was confirmed: what its runs said, and how many said nothing. */
function noRateText({ hi }: Answer, runs: readonly Found[]): string {
	const invalid = runs.filter((f) => f.outcome === "invalid");
	const all = runs.length;
	if (invalid.length === all) return tell("search-all-invalid", { all });
	const { lo: probePerSecond } = boundsOf(runs);
	const longer = runs.filter((f) => f.step.role === "confirm");
	const lowestPerSecond = smallestOf(longer.map((f) => f.step.rate));
	const what =
		probePerSecond !== null
			? tell("search-unconfirmed", { probePerSecond, lowestPerSecond })
			: hi === null
				? tell("no-rate-meets")
				: tell("not-even-lowest", {
						hiPerSecond: hi,
						percent: percent(LOWEST_PART),
						firstPerSecond: runs[0]?.step.rate ?? 0,
					});
	const some = invalid.length === 1 ? "one-invalid" : "some-invalid";
	return invalid.length === 0 ? what : tell(some, { what, invalid: invalid.length, all });
}
