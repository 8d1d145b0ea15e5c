import { formatCount as count, plural } from "../units.ts";

/** What a comparison of two sets of runs came to: B against A. */
export const comparisons = {
	"no-value": (d: { side: string }) => `no run of ${d.side} has a value`,
	"baseline-zero": (d: Sides) => `${d.a} measured 0, so there is no ratio`,
	"few-runs": (d: Sides & { ratio: number; aRuns: number; bRuns: number }) =>
		`${d.b} is ${ratioText(d.ratio)} ${d.a}, but ${d.aRuns} and ${d.bRuns} runs are too few to tell a change from noise: measure both with repeat: 5`,
	worse: (d: Ratio) => `${sure(d)}: worse by more than the margin of ${percentText(d.marginShare)}`,
	better: (d: Ratio) =>
		`${sure(d)}: better by more than the margin of ${percentText(d.marginShare)}`,
	same: (d: Ratio) => `${sure(d)}: no change beyond the margin of ${percentText(d.marginShare)}`,
	"values-cut-off": (d: Ratio) =>
		`${sure(d)}; but some values are above what could be measured, which leaves it open`,
	"not-worse": (d: Ratio) =>
		`${sure(d)}: not worse by more than the margin of ${percentText(d.marginShare)}; whether it is better is open`,
	"more-runs": (d: Ratio) =>
		`${sure(d)}: on both sides of the margin of ${percentText(d.marginShare)}; more runs narrow it (mqbench calibrate)`,
	"runs-left-out": (d: { doubt: string }) =>
		`but ${d.doubt}: the runs that do not count may be the worse ones`,

	"no-run": (d: { side: string; system: string; case: string }) =>
		`${d.side} has no run of ${d.system}, ${d.case}: nothing to compare with`,
	"no-run-counts": (d: { side: string }) => `no run of ${d.side} counts`,
	"only-one-side": (d: { side: string }) => `only ${d.side} has runs of it`,
	"left-out": (d: { side: string; repeats: number[]; why: string }) =>
		`${d.repeats.length === 1 ? "repeat" : "repeats"} ${d.repeats.join(", ")} of ${d.side} ${d.repeats.length === 1 ? "does" : "do"} not count: ${d.why}`,
	"few-count": (d: { side: string; counting: number; runs: number }) =>
		`only ${d.counting} of ${d.runs} runs of ${d.side} count`,
	"stopped-early": (d: { sla: string | null }) =>
		`stopped as ${d.sla ?? "an SLA"} could not be met any more`,
	"other-work": (d: { difference: string | null }) =>
		`other work: ${d.difference ?? "what differs was not written down"}`,
	"other-machine": (d: { difference: string | null }) =>
		`another machine: ${d.difference ?? "its fingerprint differs"}`,
	"unknown-machine": () => "one of the two does not say on which machine it was made",
	"quick-runs": () => "shortened by --quick: its figures are not a result",

	"run-decides": (d: { run: string; verdict: string; why: string | null }) =>
		`${d.run} is ${d.verdict.toUpperCase()}${d.why === null ? "" : `: ${d.why}`}`,
	"not-compared": (d: { why: string }) => d.why,
	"not-judged": (d: { advisory: string; why: string }) => `not judged, ${d.advisory}; ${d.why}`,
	"lag-decides": (d: { metric: string; without: string; why: string }) =>
		`the generator's lag is more than half of what was compared, and without it (${d.metric}) ${d.without}; with it, ${d.why}`,

	/** Figures that decide, by what they came to, and whether everything could be compared. */
	summary: (d: Summary) => {
		const figures = d.worse + d.open + d.better + d.same;
		if (figures === 0)
			return d.shown ? "shown only: nothing here may decide" : "nothing could be compared";
		const counts = [
			[d.worse, "worse by more than the margin"],
			[d.open, "open"],
			[d.better, "better"],
			[d.same, "not worse"],
		] as const;
		const told = counts.flatMap(([n, how]) => (n === 0 ? [] : [`${n} ${how}`])).join(", ");
		return `${plural(figures, "figure")} decide${figures === 1 ? "s" : ""}: ${told}${d.missing ? "; not everything could be compared" : ""}`;
	},
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
	/** What the interval is worth exactly. All texts call it by what it is worth at least, 95 %. */
	readonly confidence: number;
	readonly marginShare: number;
}

interface Summary {
	readonly worse: number;
	readonly open: number;
	readonly better: number;
	readonly same: number;
	/** Some figures are shown that may not decide. */
	readonly shown: boolean;
	readonly missing: boolean;
}

function sure(d: Ratio): string {
	return `${d.b} is ${ratioText(d.ratio)} ${d.a} (95 % interval: ${ratioText(d.low)} to ${ratioText(d.high)})`;
}
