import { type Verdict, worst } from "../model/verdict.ts";
import { repeatsText } from "../text/gates.ts";
import type { Judgement } from "./judgement.ts";

/**
 * One gate over its repeats. A repeat that could not be judged decides at once: it is not replaced in silence. Of one
 * repeat its verdict; of more: FAIL if two or more FAIL, PASS if none FAIL and at least half PASS, else INCONCLUSIVE.
 * Repeats are never pooled. `confirming`: how many of them `--confirm` has added; they count like the others.
 */
export function overRepeats(
	repeats: readonly Judgement[],
	confirming = 0,
): {
	verdict: Verdict;
	why: string;
	/** The repeat whose numbers stand for the gate: the first with the worst verdict. */
	deciding: Judgement;
} {
	const overall = worst(repeats.map((r) => r.verdict));
	const deciding = repeats.find((r) => r.verdict === overall);
	if (deciding === undefined) throw new Error("a gate without repeats");
	if (repeats.length === 1)
		return { verdict: deciding.verdict, why: deciding.why, deciding };

	const counts = (v: Verdict) => repeats.filter((r) => r.verdict === v).length;
	const summary = (
		["interrupted", "error", "invalid", "fail", "inconclusive", "pass"] as const
	)
		.filter((v) => counts(v) > 0)
		.map((v) => [v.toUpperCase(), counts(v)] as const);
	const verdict = verdictOf(overall, counts, repeats.length);
	return {
		verdict,
		why: repeatsText(summary, repeats.length, confirming, deciding.why),
		deciding,
	};
}

// --- internal ---

function verdictOf(
	overall: Verdict,
	counts: (v: Verdict) => number,
	repeats: number,
): Verdict {
	if (overall === "interrupted" || overall === "error" || overall === "invalid")
		return overall;
	if (counts("fail") >= 2) return "fail";
	return counts("fail") === 0 && counts("pass") >= repeats / 2
		? "pass"
		: "inconclusive";
}
