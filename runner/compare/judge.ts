import type { Comparison } from "../model/comparison.ts";
import { isRate } from "../result/fields.ts";
import type { Ratio } from "../stats/ratio.ts";
import { percent, ratioText } from "../text/percent.ts";
import { type Said, said, sayBut } from "../text/say.ts";
import { plusMinus } from "../units.ts";

interface Judged {
	readonly verdict: Comparison["verdict"];
	readonly notWorse: boolean;
	readonly said: Said;
}

interface Compared {
	readonly figure: string;
	readonly ratio: Ratio | null;
	readonly margin: number;
	readonly runs: readonly [a: number, b: number];
	/** Whether some of a side's values are larger than written. */
	readonly beyond: readonly [a: boolean, b: boolean];
	readonly names: readonly [a: string, b: string];
}

/** A latency's ratio if both clocks were wrong by their bounds. */
export interface Clocks {
	/** Sum of both sides' largest bounds. */
	readonly boundNs: number;
	readonly ratio: Ratio;
}

/**
 * Decides only if the whole interval is beyond the margin, or inside it; not against "no change": with many runs everything differs a bit.
 * `clocks` have to give the same verdict. With a `doubt` about the runs left out, only REGRESSED or INCONCLUSIVE.
 */
export function judge({
	clocks = null,
	doubt = null,
	...of
}: Compared & { readonly clocks?: Clocks | null; readonly doubt?: string | null }): Judged {
	const judged = clocks === null ? undoubted(of) : withinClocks(of, clocks);
	if (doubt === null || judged.verdict === "regressed") return judged;
	const but = `but ${doubt}: the runs that do not count may be the worse ones`;
	return open(sayBut(judged.said, said("runs-left-out", but, { doubt })));
}

// --- internal ---

function open(said: Said): Judged {
	return { verdict: "inconclusive", notWorse: false, said };
}

function withinClocks(of: Compared, { ratio, boundNs }: Clocks): Judged {
	const [judged, within] = [undoubted(of), undoubted({ ...of, ratio })];
	if (within.verdict === judged.verdict && within.notWorse === judged.notWorse) return judged;
	const but = said("clocks", `but within the clocks' bound of ${plusMinus(boundNs)}`, { boundNs });
	return { ...within, verdict: "inconclusive", said: sayBut(judged.said, but) };
}

function undoubted({ figure, ratio: measured, runs, names, margin, beyond }: Compared): Judged {
	const [a, b] = names;
	const side = names[runs.indexOf(0)];
	if (side !== undefined) return open(said("no-value", `no run of ${side} has a value`, { side }));
	if (measured === null || !Number.isFinite(measured.ratio))
		return open(said("baseline-zero", `${a} measured 0, so there is no ratio`, { a, b }));
	const { ratio, low, high, confidence } = measured;
	const is = `${b} is ${ratioText(ratio)} ${a}`;
	if (low === null || high === null || confidence === null) {
		const text = `${is}, but ${runs[0]} and ${runs[1]} runs are too few to tell a change from noise: measure both with repeat: 5`;
		return open(said("few-runs", text, { a, b, ratio, aRuns: runs[0], bRuns: runs[1] }));
	}
	// Between these ratios B counts as the same, and so does A if both are swapped.
	const rate = isRate(figure);
	const most = rate ? 1 / Math.max(0, 1 - margin) : 1 + margin;
	const least = rate ? 1 - margin : 1 / most;
	const beside = `the margin of ${percent(margin, 3)}`;
	const values = { a, b, ratio, low, high, confidence, marginShare: margin };
	const found = (verdict: Judged["verdict"], notWorse: boolean, code: string, text: string) => {
		const interval = `(95 % interval: ${ratioText(low)} to ${ratioText(high)})`;
		return { verdict, notWorse, said: said(code, `${is} ${interval}${text}`, values) };
	};
	// A value that is larger than written makes the true ratio larger (B's) or smaller (A's).
	const [aMore, bMore] = beyond;
	const above = low > most && !aMore;
	const below = high < least && !bMore;
	const notAbove = high <= most && !bMore;
	const notBelow = low >= least && !aMore;
	const notWorse = rate ? notBelow : notAbove;
	if (rate ? below : above)
		return found("regressed", false, "worse", `: worse by more than ${beside}`);
	if (rate ? above : below)
		return found("improved", true, "better", `: better by more than ${beside}`);
	if (notAbove && notBelow) return found("same", true, "same", `: no change beyond ${beside}`);
	const [code, why] =
		aMore || bMore
			? [
					"values-cut-off",
					"; but some values are above what could be measured, which leaves it open",
				]
			: notWorse
				? ["not-worse", `: not worse by more than ${beside}; whether it is better is open`]
				: [
						"more-runs",
						`: on both sides of ${beside}; more runs narrow it (npx mqbench calibrate)`,
					];
	return found("inconclusive", notWorse, code, why);
}
