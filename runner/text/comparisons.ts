import { formatCount as count } from "../units.ts";

/** What a comparison of two sets of runs came to: B against A. */
export const comparisons = {
	"no-value": (d: { side: string }) => `no run of ${d.side} has a value`,
	"baseline-zero": (d: Sides) =>
		`${d.a} has 0 as value: nothing can be a part of it`,
	"few-runs": (d: Sides & { ratio: number; aRuns: number; bRuns: number }) =>
		`${d.b} is ${ratioText(d.ratio)} ${d.a}, but ${d.aRuns} and ${d.bRuns} runs tell no change from noise: needs repeat: 5 on both sides`,
	worse: (d: Ratio) =>
		`${sure(d)}: worse by more than the margin of ${percentText(d.marginShare)}`,
	better: (d: Ratio) =>
		`${sure(d)}: better by more than the margin of ${percentText(d.marginShare)}`,
	same: (d: Ratio) =>
		`${sure(d)}: no change beyond the margin of ${percentText(d.marginShare)}`,
	"values-cut-off": (d: Ratio) =>
		`${sure(d)}; but some values are larger than they could be measured, which leaves it open`,
	"not-worse": (d: Ratio) =>
		`${sure(d)}: not worse by more than the margin of ${percentText(d.marginShare)}; whether it is better is open`,
	"at-margin": (d: Ratio) =>
		`${across(d)}; it lies on the margin itself, where more runs hardly tell`,
	"more-repeats": (d: Ratio & { repeats: number }) =>
		`${across(d)}; about repeat: ${d.repeats} would tell`,
	"more-runs": (d: Ratio & { runs: number }) =>
		`${across(d)}; about ${d.runs} runs on each side would tell; longer runs, or a quieter machine, tell sooner`,
	"runs-left-out": (d: { doubt: string }) =>
		`but ${d.doubt}: what does not count may be what is worse`,
};

/** "1.03x"; "0.004x"; "12.5x". */
export function ratioText(ratio: number): string {
	if (!Number.isFinite(ratio)) return "infinitely x";
	if (ratio === 0) return "0x";
	return ratio >= 0.1 && ratio < 10
		? `${ratio.toFixed(2)}x`
		: `${count(Number(ratio.toPrecision(3)))}x`;
}

/** "12 %", "96.8 %". */
export function percentText(part: number): string {
	return `${Number((part * 100).toPrecision(3))} %`;
}

// --- internal ---

interface Sides {
	readonly a: string;
	readonly b: string;
}

/** Null where it is not finite. */
interface Ratio extends Sides {
	readonly ratio: number;
	readonly low: number;
	readonly high: number;
	/** What the interval is worth. */
	readonly confidence: number;
	readonly marginShare: number;
}

function sure(d: Ratio): string {
	return `${d.b} is ${ratioText(d.ratio)} ${d.a}, with ${percentText(d.confidence)} confidence between ${ratioText(d.low)} and ${ratioText(d.high)}`;
}

function across(d: Ratio): string {
	return `${sure(d)}: on both sides of the margin of ${percentText(d.marginShare)}`;
}
