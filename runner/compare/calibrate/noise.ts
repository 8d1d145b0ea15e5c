import type { Calibration } from "../../model/comparison.ts";
import { ratioOf } from "../../stats/ratio.ts";

/** How much equal runs differ, as shares: 0.08 is 8 %. */
export type Noise = Pick<
	Calibration["noise"][number],
	"runs" | "each" | "halfWidth" | "detectable"
>;

/** Fewer give halves too small for an interval. */
export const LEAST_RUNS = 8;

/**
 * Splits A/A runs into halves in every way (252 for ten runs, 1000 drawn ways for many), and compares each split as baseline and candidate.
 * - halfWidth: the mean half width of the intervals, in logarithms (h in reports/METHOD.md, "Comparing two sets of runs"). A single
 *   split's depends on chance. The ratio's distance from 1 would not do: its mean over all splits is 1, whatever the noise.
 * - detectable: the smallest change that such halves show in 95 of 100 cases. Making one half c times as slow moves its interval by
 *   exactly c, so c is the factor that puts 95 % of them above 1.
 * Returns null for fewer than 8 runs, or a value of 0.
 */
export function noiseOf(values: readonly number[]): Noise | null {
	if (values.length < LEAST_RUNS || values.some((value) => value <= 0)) return null;
	const half = Math.floor(values.length / 2);
	let widths = 0;
	const factors: number[] = [];
	const splits = splitsOf(values.length, half);
	for (const split of splits) {
		const a = values.filter((_, i) => split[i] === "1");
		const b = values.filter((_, i) => split[i] !== "1");
		const { low, high } = ratioOf(a, b) ?? {};
		if (low == null || high == null) return null;
		widths += Math.log(high / low) / 2;
		// A against B, and B against A.
		factors.push(-Math.log(low), Math.log(high));
	}
	factors.sort((x, y) => x - y);
	const most = factors[Math.ceil(0.95 * factors.length) - 1] as number;
	return {
		runs: values.length,
		each: half,
		halfWidth: Math.expm1(widths / splits.length),
		detectable: Math.expm1(Math.max(0, most)),
	};
}

/** Runs on each side at which a margin holds twice the noise, roughly: intervals narrow with the root of their number. */
export function repeatsFor({ each, halfWidth }: Noise, margin: number): number {
	const factor = (2 * Math.log1p(halfWidth)) / Math.log1p(margin);
	return Math.max(5, Math.ceil(each * factor * factor));
}

// --- internal ---

const MOST = 1000;
/** 12 runs have 924 ways. */
const MOST_RUNS = 12;

/** Ways to choose `each` of `n` places, as "0110": all of them, or for many runs 1000 drawn ones, always the same. */
function splitsOf(n: number, each: number): string[] {
	const chosen = (split: string) => split.replaceAll("0", "").length === each;
	const all = (_: unknown, i: number) => i.toString(2).padStart(n, "0");
	if (n <= MOST_RUNS) return Array.from({ length: 2 ** n }, all).filter(chosen);
	let state = 1;
	// A linear congruential generator (Numerical Recipes): enough to shuffle a few numbers.
	const below = (most: number) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * most);
	};
	return Array.from({ length: MOST }, () => {
		const places = Array.from({ length: n }, (_, i) => i);
		const split = Array<string>(n).fill("0");
		for (let i = 0; i < each; i++) split[places.splice(below(places.length), 1)[0] as number] = "1";
		return split.join("");
	});
}
