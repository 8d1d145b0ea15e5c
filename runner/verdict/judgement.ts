import type { Cause, Gate } from "../model/result.ts";
import { type Verdict, worst } from "../model/verdict.ts";
import { type Said, said } from "../text/say.ts";

/** One SLA line judged for one run: its repeat in result.json, and fields that only the verdict needs. */
export interface Judgement
	extends Omit<Gate["repeats"][number], "repeat" | "code" | "values" | "cause">,
		Pick<Said, "code" | "values"> {
	readonly sla: string;
	readonly limit: string;
	/** The check by which the load generator decided it. */
	readonly check: "lag" | "held" | null;
	/** The cause that explains the FAIL. */
	readonly cause: Cause | null;
}

/** The one cause of all FAILs. */
export function causeOf(verdict: Verdict, all: readonly Pick<Judgement, "verdict" | "cause">[]) {
	const failed = verdict === "fail" ? all.filter((one) => one.verdict === "fail") : [];
	const [cause = null, ...others] = new Set(failed.map((one) => one.cause));
	return others.length === 0 ? cause : null;
}

export function because({ text, code, values }: Said): Pick<Judgement, "why" | "code" | "values"> {
	return { why: text, code, values };
}

/** Scenarios refuse lines that their runs cannot measure. */
export function notMeasured(what: string): Said {
	return said("not-measured", `${what} was not measured`);
}

export const NO_NUMBERS = {
	valueNs: null,
	lowNs: null,
	highNs: null,
	beyondNs: null,
	margin: null,
	n: null,
	over: null,
	allowed: null,
	censored: null,
	events: null,
	phi: null,
	tally: null,
	check: null,
	cause: null,
} satisfies Partial<Judgement>;

/**
 * FAIL if two or more FAIL, PASS if none FAILs and half PASS, else INCONCLUSIVE; never pooled. One without a judgement decides. The repeat
 * `deciding` supplies the gate's numbers.
 */
export function overRepeats(
	repeats: readonly (readonly [repeat: number, judgement: Judgement])[],
	confirming = 0,
) {
	const judgements = repeats.map(([, judgement]) => judgement);
	const deciding = standsFor(judgements);
	if (deciding === null) throw new Error("a gate without repeats");
	const { why } = deciding;
	if (repeats.length === 1) return { verdict: deciding.verdict, why, deciding };
	const counts = (v: Verdict) => judgements.filter((j) => j.verdict === v).length;
	const summary = (["interrupted", "error", "invalid", "fail", "inconclusive", "pass"] as const)
		.filter((v) => counts(v) > 0)
		.map((v) => `${counts(v)} ${v.toUpperCase()}`)
		.join(", ");
	const added = confirming === 0 ? "" : ` (${confirming} of them confirming)`;
	const number = repeats.find(([, j]) => j === deciding)?.[0] ?? 1;
	const open = ["fail", "inconclusive", "pass"].includes(deciding.verdict);
	const passes = counts("fail") === 0 && counts("pass") >= repeats.length / 2;
	const verdict = counts("fail") >= 2 ? "fail" : passes ? "pass" : "inconclusive";
	return {
		verdict: open ? verdict : deciding.verdict,
		why: `${summary} of ${repeats.length} repeats${added}; the worst, repeat ${number}: ${why}`,
		deciding,
	};
}

/** Among the repeats with the worst verdict, the one furthest from the limit. */
export function standsFor<T extends Judged>(repeats: readonly T[]): T | null {
	const overall = worst(repeats.map((r) => r.verdict));
	return repeats
		.filter((r) => r.verdict === overall)
		.reduce<T | null>((a, b) => (a === null || badness(b) > badness(a) ? b : a), null);
}

// --- internal ---

type Judged = Pick<Judgement, "verdict" | "margin" | "n" | "tally" | "beyondNs">;

/** The larger the worse, among repeats of one gate. */
function badness({ margin, n, tally, beyondNs }: Judged): number {
	if (margin !== null) return margin === 0 ? Number.POSITIVE_INFINITY : 1 / margin;
	// Nothing completed.
	if (n !== null) return Number.POSITIVE_INFINITY;
	// A time that had not ended is at least that long.
	const value = tally?.value ?? beyondNs;
	if (tally === null || value === null) return 0;
	// Smaller rates are worse.
	return tally.unit === "messages/s" ? -value : value;
}
