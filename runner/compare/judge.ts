import type { Comparison } from "../model/comparison.ts";
import type { Ratio } from "../stats/ratio.ts";
import { formatCount, formatDuration } from "../units.ts";
import { plusMinus } from "../verdict/checks/clock.ts";
import { CLOCK_BOUND } from "../verdict/doubts.ts";
import { isRate } from "./figures.ts";

type Judged = Pick<Comparison, "verdict" | "notWorse" | "why" | "code">;

/**
 * The verdict: the whole interval beyond the margin, or the whole interval inside it, else INCONCLUSIVE. Tested against the margin
 * and not against "no change at all": with enough runs everything differs a little. What `clocks` may have made of it has to say the
 * same, else it is INCONCLUSIVE. With a `doubt` about the runs that are left it is REGRESSED or INCONCLUSIVE.
 */
export function judge(
	of: Undoubted & {
		readonly clocks?: Clocks | null;
		readonly doubt?: string | null;
	},
): Judged {
	const { doubt = null, clocks = null, ...rest } = of;
	const judged = withinClocks(undoubted(rest), rest, clocks);
	if (doubt === null || judged.verdict === "regressed") return judged;
	return {
		verdict: "inconclusive",
		notWorse: false,
		why: `${judged.why}; but ${doubt}: what does not count may be what is worse`,
	};
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

/** "1.03x"; "0.004x"; "12.5x". */
export function ratioText(ratio: number): string {
	if (!Number.isFinite(ratio)) return "infinitely x";
	if (ratio === 0) return "0x";
	return ratio >= 0.1 && ratio < 10
		? `${ratio.toFixed(2)}x`
		: `${formatCount(Number(ratio.toPrecision(3)))}x`;
}

/** "12 %", "96.8 %". */
export function percentText(part: number): string {
	return `${Number((part * 100).toPrecision(3))} %`;
}

/** "1.2ms", "45 000/s". */
export function valueText(value: number, unit: Comparison["unit"]): string {
	return unit === "ns" ? formatDuration(value) : `${formatCount(value)}/s`;
}

// --- internal ---

/** Between which ratios B counts as the same: of times [1/(1+m), 1+m], of rates [1-m, 1/(1-m)]. B and A swapped gives the same. */
function boundsOf(
	figure: string,
	margin: number,
): readonly [low: number, high: number] {
	if (!isRate(figure)) return [1 / (1 + margin), 1 + margin];
	return margin < 1
		? [1 - margin, 1 / (1 - margin)]
		: [0, Number.POSITIVE_INFINITY];
}

interface Undoubted {
	readonly figure: string;
	readonly found: Ratio | null;
	readonly margin: number;
	readonly runs: readonly [a: number, b: number];
	/** Some of a side's values are larger than written. */
	readonly beyond: readonly [a: boolean, b: boolean];
	/** Names of the two sides. */
	readonly names: readonly [a: string, b: string];
}

/** What is left of a verdict within the clocks' bounds. */
function withinClocks(
	judged: Judged,
	of: Undoubted,
	clocks: Clocks | null,
): Judged {
	if (clocks === null || of.found === null) return judged;
	const { low, high, boundNs, medianNs } = clocks;
	const { verdict, notWorse } = undoubted({
		...of,
		found: { ...of.found, low, high },
	});
	const stands = verdict === judged.verdict && notWorse === judged.notWorse;
	// Where clocks alone hide the margin more runs would not tell.
	const hidden =
		judged.verdict === "inconclusive" && boundNs > of.margin * medianNs;
	if (stands && !hidden) return judged;
	return {
		verdict: stands ? verdict : "inconclusive",
		notWorse,
		why: `${judged.why}; ${CLOCK_BOUND} ${plusMinus(boundNs)}`,
		code: "clocks",
	};
}

function undoubted(of: Undoubted): Judged {
	const { figure, found, runs } = of;
	const [aName, bName] = of.names;
	const say = (
		verdict: Judged["verdict"],
		notWorse: boolean,
		why: string,
	): Judged => ({ verdict, notWorse, why });
	const open = (why: string) => say("inconclusive", false, why);
	for (const [i, name] of of.names.entries())
		if (runs[i] === 0) return open(`no run of ${name} has a value`);
	if (found === null || !Number.isFinite(found.ratio))
		return open(`${aName} has 0 as value: nothing can be a part of it`);
	const { ratio, low, high, confidence } = found;
	if (low === null || high === null || confidence === null)
		return open(
			`${bName} is ${ratioText(ratio)} ${aName}, but ${runs[0]} and ${runs[1]} runs tell no change from noise: needs repeat: 5 on both sides`,
		);
	const [best, worst] = boundsOf(figure, of.margin);
	const rate = isRate(figure);
	const sure = `${bName} is ${ratioText(ratio)} ${aName}, with ${percentText(confidence)} confidence between ${ratioText(low)} and ${ratioText(high)}`;
	const margin = percentText(of.margin);
	// A value that is larger than written makes the true ratio larger (B's) or smaller (A's).
	const [aMore, bMore] = of.beyond;
	const above = low > worst && !aMore;
	const below = high < best && !bMore;
	const notAbove = high <= worst && !bMore;
	const notBelow = low >= best && !aMore;
	const [isWorse, isBetter] = rate ? [below, above] : [above, below];
	const notWorse = rate ? notBelow : notAbove;
	if (isWorse)
		return say(
			"regressed",
			false,
			`${sure}: worse by more than the margin of ${margin}`,
		);
	if (isBetter)
		return say(
			"improved",
			true,
			`${sure}: better by more than the margin of ${margin}`,
		);
	if (notAbove && notBelow)
		return say(
			"same",
			true,
			`${sure}: no change beyond the margin of ${margin}`,
		);
	if (aMore || bMore)
		return say(
			"inconclusive",
			notWorse,
			`${sure}; but some values are larger than they could be measured, which leaves it open`,
		);
	if (notWorse)
		return say(
			"inconclusive",
			true,
			`${sure}: not worse by more than the margin of ${margin}; whether it is better is open`,
		);
	return open(
		`${sure}: on both sides of the margin of ${margin}; ${remedy(found, rate ? best : worst, runs)}`,
	);
}

const MOST_REPEATS = 40;
const MOST_RUNS = 1000;

/**
 * The interval narrows with the root of the number of runs; how many would keep it on one side of the bound beyond which B is worse.
 * The other bound is no matter: "perhaps better" is not open.
 */
function remedy(
	{ ratio, low, high }: Ratio,
	bound: number,
	[n, m]: readonly [number, number],
): string {
	const half = Math.log((high ?? 1) / (low ?? 1)) / 2;
	const distance = Math.abs(Math.log(ratio / bound));
	const wanted = Math.ceil(Math.max(n, m) * (half / distance) ** 2);
	if (!(wanted <= MOST_RUNS))
		return "it lies on the margin itself, where more runs hardly tell";
	return wanted <= MOST_REPEATS
		? `about repeat: ${Math.max(wanted, Math.max(n, m) + 1)} would tell`
		: `about ${wanted} runs on each side would tell; longer runs, or a quieter machine, tell sooner`;
}
