import { type Verdict, worst } from "../model/verdict.ts";
import type { Judgement } from "./judgement.ts";

/**
 * One gate over its repeats, which are never pooled. One that could not be judged decides at once. Of several: FAIL if two or more FAIL, PASS
 * if none FAIL and at least half PASS, else INCONCLUSIVE. `confirming`: how many of them `--confirm` has added; they count like the others.
 */
export function overRepeats(
	repeats: readonly (readonly [repeat: number, judgement: Judgement])[],
	confirming = 0,
): {
	verdict: Verdict;
	why: string;
	/** The repeat whose numbers stand for the gate. */
	deciding: Judgement;
} {
	const judgements = repeats.map(([, judgement]) => judgement);
	const deciding = standsFor(judgements);
	if (deciding === null) throw new Error("a gate without repeats");
	const { verdict: overall, why } = deciding;
	if (repeats.length === 1) return { verdict: overall, why, deciding };

	const counts = (v: Verdict) => judgements.filter((j) => j.verdict === v).length;
	const summary = (["interrupted", "error", "invalid", "fail", "inconclusive", "pass"] as const)
		.filter((v) => counts(v) > 0)
		.map((v) => `${counts(v)} ${v.toUpperCase()}`)
		.join(", ");
	const added = confirming === 0 ? "" : ` (${confirming} of them confirming)`;
	const worstOne = repeats.find(([, j]) => j === deciding)?.[0] ?? 1;
	return {
		verdict: verdictOf(overall, counts, repeats.length),
		why: `${summary} of ${repeats.length} repeats${added}; the worst, repeat ${worstOne}: ${why}`,
		deciding,
	};
}

/** The repeat that stands for a gate: of those with its worst verdict the one that is furthest from the limit. null: there are none. */
export function standsFor<T extends Judged>(repeats: readonly T[]): T | null {
	const [first = null, ...others] = worstOf(repeats);
	return others.reduce((a, b) => (a === null || badness(b) > badness(a) ? b : a), first);
}

/** The repeats with the worst verdict among them. */
export function worstOf<T extends Pick<Judged, "verdict">>(repeats: readonly T[]): T[] {
	const overall = worst(repeats.map((r) => r.verdict));
	return repeats.filter((r) => r.verdict === overall);
}

// --- internal ---

type Judged = Pick<Judgement, "verdict" | "margin" | "n" | "tally" | "beyondNs">;

/** How bad one is among repeats of the same gate: the larger the worse. */
function badness({ margin, n, tally, beyondNs }: Judged): number {
	if (margin !== null) return margin === 0 ? Number.POSITIVE_INFINITY : 1 / margin;
	// Nothing completed.
	if (n !== null) return Number.POSITIVE_INFINITY;
	// What had not ended is at least that long.
	const value = tally?.value ?? beyondNs;
	if (tally === null || value === null) return 0;
	// The smaller a rate is the worse.
	return tally.unit === "messages/s" ? -value : value;
}

function verdictOf(overall: Verdict, counts: (v: Verdict) => number, repeats: number): Verdict {
	if (overall === "interrupted" || overall === "error" || overall === "invalid") return overall;
	if (counts("fail") >= 2) return "fail";
	return counts("fail") === 0 && counts("pass") >= repeats / 2 ? "pass" : "inconclusive";
}
