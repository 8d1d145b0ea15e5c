import type { Comparison } from "../model/comparison.ts";
import { isRate } from "../result/fields.ts";
import type { Ratio } from "../stats/ratio.ts";
import { type Said, say, sayBut } from "../text/say.ts";
import { formatCount, formatDuration } from "../units.ts";

type Judged = Pick<Comparison, "verdict" | "notWorse" | "why" | "code" | "values">;

/**
 * The verdict: the whole interval beyond the margin, or the whole interval inside it, else INCONCLUSIVE. Tested against the margin
 * and not against "no change at all": with enough runs everything differs a little. What `clocks` may have made of it has to say the
 * same, else it is INCONCLUSIVE. With a `doubt` about the runs that are left it is REGRESSED or INCONCLUSIVE.
 */
export function judge(
	of: Undoubted & { readonly clocks?: Clocks | null; readonly doubt?: string | null },
): Judged {
	const { doubt = null, clocks = null, ...rest } = of;
	const judged = withinClocks(undoubted(rest), rest, clocks);
	const { verdict, notWorse, said } = judged;
	if (doubt === null || verdict === "regressed") return result(verdict, notWorse, said);
	return result("inconclusive", false, sayBut(said, say("runs-left-out", { doubt })));
}

/** A latency that two clocks have timed on either side. */
export interface Clocks {
	/** Sum of the bounds of both sides, of each the largest. */
	readonly boundNs: number;
	/** The interval, if the clocks were wrong by their bounds: the smallest lower end and the largest upper one. */
	readonly low: number | null;
	readonly high: number | null;
	/** The baseline's. */
	readonly medianNs: number;
}

/** "1.2ms", "45 000/s". */
export function valueText(value: number, unit: Comparison["unit"]): string {
	return unit === "ns" ? formatDuration(value) : `${formatCount(value)}/s`;
}

// --- internal ---

/** Between which ratios B counts as the same: of times [1/(1+m), 1+m], of rates [1-m, 1/(1-m)]. B and A swapped gives the same. */
function boundsOf(figure: string, margin: number): readonly [low: number, high: number] {
	if (!isRate(figure)) return [1 / (1 + margin), 1 + margin];
	return margin < 1 ? [1 - margin, 1 / (1 - margin)] : [0, Number.POSITIVE_INFINITY];
}

interface Undoubted {
	readonly figure: string;
	readonly ratio: Ratio | null;
	readonly margin: number;
	readonly runs: readonly [a: number, b: number];
	/** Some of a side's values are larger than written. */
	readonly beyond: readonly [a: boolean, b: boolean];
	/** Names of the two sides. */
	readonly names: readonly [a: string, b: string];
}

interface Found {
	readonly verdict: Judged["verdict"];
	readonly notWorse: boolean;
	readonly said: Said;
}

function result(
	verdict: Judged["verdict"],
	notWorse: boolean,
	{ text, code, values }: Said,
): Judged {
	return { verdict, notWorse, why: text, code, values };
}

/** What is left of a verdict within the clocks' bounds. */
function withinClocks(judged: Found, of: Undoubted, clocks: Clocks | null): Found {
	if (clocks === null || of.ratio === null) return judged;
	const { low, high, boundNs, medianNs } = clocks;
	const { verdict, notWorse } = undoubted({ ...of, ratio: { ...of.ratio, low, high } });
	const stands = verdict === judged.verdict && notWorse === judged.notWorse;
	// Where clocks alone hide the margin more runs would not tell.
	const hidden = judged.verdict === "inconclusive" && boundNs > of.margin * medianNs;
	if (stands && !hidden) return judged;
	return {
		verdict: stands ? verdict : "inconclusive",
		notWorse,
		said: sayBut(judged.said, say("clocks", { boundNs })),
	};
}

function undoubted(of: Undoubted): Found {
	const { figure, ratio: measured, runs } = of;
	const [a, b] = of.names;
	const judged = (verdict: Judged["verdict"], notWorse: boolean, said: Said): Found => ({
		verdict,
		notWorse,
		said,
	});
	const open = (said: Said) => judged("inconclusive", false, said);
	for (const [i, side] of of.names.entries())
		if (runs[i] === 0) return open(say("no-value", { side }));
	if (measured === null || !Number.isFinite(measured.ratio))
		return open(say("baseline-zero", { a, b }));
	const { ratio, low, high, confidence } = measured;
	if (low === null || high === null || confidence === null)
		return open(say("few-runs", { a, b, ratio, aRuns: runs[0], bRuns: runs[1] }));
	const [best, worst] = boundsOf(figure, of.margin);
	const rate = isRate(figure);
	const sure = { a, b, ratio, low, high, confidence, marginShare: of.margin };
	// A value that is larger than written makes the true ratio larger (B's) or smaller (A's).
	const [aMore, bMore] = of.beyond;
	const above = low > worst && !aMore;
	const below = high < best && !bMore;
	const notAbove = high <= worst && !bMore;
	const notBelow = low >= best && !aMore;
	const [isWorse, isBetter] = rate ? [below, above] : [above, below];
	const notWorse = rate ? notBelow : notAbove;
	if (isWorse) return judged("regressed", false, say("worse", sure));
	if (isBetter) return judged("improved", true, say("better", sure));
	if (notAbove && notBelow) return judged("same", true, say("same", sure));
	if (aMore || bMore) return judged("inconclusive", notWorse, say("values-cut-off", sure));
	if (notWorse) return judged("inconclusive", true, say("not-worse", sure));
	const wanted = runsThatTell(measured, rate ? best : worst, runs);
	if (wanted === null) return open(say("at-margin", sure));
	const [n, m] = runs;
	return open(
		wanted <= MOST_REPEATS
			? say("more-repeats", { ...sure, repeats: Math.max(wanted, Math.max(n, m) + 1) })
			: say("more-runs", { ...sure, runs: wanted }),
	);
}

const MOST_REPEATS = 40;
const MOST_RUNS = 1000;

/**
 * The interval narrows with the root of the number of runs; how many would keep it on one side of the bound beyond which B is worse.
 * The other bound is no matter: "perhaps better" is not open. null: more than anybody makes.
 */
function runsThatTell(
	{ ratio, low, high }: Ratio,
	bound: number,
	[n, m]: readonly [number, number],
): number | null {
	const half = Math.log((high ?? 1) / (low ?? 1)) / 2;
	const distance = Math.abs(Math.log(ratio / bound));
	const wanted = Math.ceil(Math.max(n, m) * (half / distance) ** 2);
	return wanted <= MOST_RUNS ? wanted : null;
}
