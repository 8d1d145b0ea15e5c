import { describe, expect, test } from "vitest";
import { judge } from "./judge.ts";

type Interval = readonly [low: number | null, high: number | null];
type Parts = Partial<Parameters<typeof judge>[0]>;

/** Five and five runs of A and B at a margin of 25 %: of a time the same is 0.8 to 1.25, of a rate 0.75 to 1.33. */
const judged = ([low, high]: Interval, parts: Parts = {}) => {
	const ratio = Math.sqrt((low ?? 2) * (high ?? 2));
	const { said, ...found } = judge({
		figure: "response p99",
		ratio: { ratio, low, high, confidence: low === null ? null : 0.968 },
		margin: 0.25,
		runs: [5, 5],
		beyond: [false, false],
		names: ["A", "B"],
		...parts,
	});
	return { ...found, why: said.text };
};
const RATE = { figure: "throughput" };
const A = { beyond: [true, false] } as const;
const B = { beyond: [false, true] } as const;

describe("an interval and a margin make the verdict", () => {
	test.each<[Interval, Parts, verdict: string, notWorse: boolean, why: RegExp]>([
		[[1.26, 1.3], {}, "regressed", false, /: worse by more than the margin of 25 %$/],
		[[1.25, 1.25], {}, "same", true, /: no change beyond the margin of 25 %$/],
		[[0.8, 1.25], {}, "same", true, /no change/],
		[
			[1.2, 1.26],
			{},
			"inconclusive",
			false,
			/: on both sides of the margin of 25 %; more runs narrow it/,
		],
		[[0.7, 1.26], {}, "inconclusive", false, /on both sides/],
		[[0.7, 1.2], {}, "inconclusive", true, /: not worse .*; whether it is better is open$/],
		[[0.7, 0.79], {}, "improved", true, /: better by more than the margin of 25 %$/],
		// For a rate less is worse.
		[[0.7, 0.74], RATE, "regressed", false, /worse/],
		[[0.76, 1.3], RATE, "same", true, /no change/],
		[[0.7, 0.8], RATE, "inconclusive", false, /on both sides/],
		[[0.8, 1.4], RATE, "inconclusive", true, /not worse/],
		[[1.34, 1.4], RATE, "improved", true, /better/],
		[[0, 0], RATE, "regressed", false, /worse/],
		[[0.1, 9], { ...RATE, margin: 1.5 }, "same", true, /no change/],
		// Larger values of the candidate are never better, and worse where that is certain.
		[[1.26, 1.3], B, "regressed", false, /worse/],
		[[1, 1], B, "inconclusive", false, /above what could be measured, which leaves it open$/],
		[[0.5, 0.7], B, "inconclusive", false, /above what could be measured/],
		[[0.5, 0.7], { ...RATE, ...B }, "inconclusive", false, /above/],
		[[1.34, 1.4], { ...RATE, ...B }, "improved", true, /better/],
		// Larger values of the baseline cannot show a regression.
		[[1.26, 1.3], A, "inconclusive", false, /above/],
		[[1, 1], A, "inconclusive", true, /above/],
		[[0.5, 0.7], A, "improved", true, /better/],
		[[0.5, 0.7], { ...RATE, ...A }, "regressed", false, /worse/],
		// Runs that do not count: only a regression is certain.
		[[1.3, 1.4], { doubt: "two are gone" }, "regressed", false, /worse/],
		[[1, 1], { doubt: "two are gone" }, "inconclusive", false, /; but two are gone: the runs /],
		[[0.5, 0.6], { doubt: "two are gone" }, "inconclusive", false, /two are gone/],
		[[null, null], { runs: [3, 3] }, "inconclusive", false, /, but 3 and 3 runs are too few /],
		[[1, 1], { runs: [0, 5] }, "inconclusive", false, /^no run of A has a value$/],
		[[1, 1], { runs: [5, 0] }, "inconclusive", false, /^no run of B has a value$/],
		[[1, 1], { ratio: null }, "inconclusive", false, /^A measured 0, so there is no ratio$/],
	])("%j %j: %s", (interval, parts, verdict, notWorse, why) => {
		expect(judged(interval, parts)).toEqual({ verdict, notWorse, why: expect.stringMatching(why) });
	});

	test("the sentence says how sure it is, and of what", () => {
		expect(judged([1.9, 2.1]).why).toBe(
			"B is 2.00x A (95 % interval: 1.90x to 2.10x): worse by more than the margin of 25 %",
		);
	});

	test("A and B swapped turn a verdict into its opposite", () => {
		const opposite = { regressed: "improved", improved: "regressed" } as Record<string, string>;
		for (const low of [0.3, 0.7, 0.76, 0.81, 1, 1.26, 1.4])
			for (const width of [1, 1.1, 2])
				for (const figure of ["response p99", "throughput"]) {
					const { verdict } = judged([low, low * width], { figure });
					const back = judged([1 / (low * width), 1 / low], { figure }).verdict;
					expect(back, `${figure} ${low} ${width}`).toBe(opposite[verdict] ?? verdict);
				}
	});
});

describe("clocks of several machines", () => {
	test.each<[Interval, within: Interval, verdict: string, notWorse: boolean, said: boolean]>([
		[[0.99, 1.01], [0.6, 1.4], "inconclusive", false, true],
		[[1.28, 1.32], [0.9, 1.7], "inconclusive", false, true],
		[[0.69, 0.71], [0.3, 1.1], "inconclusive", true, true],
		[[2.9, 3.1], [2, 4], "regressed", false, false],
		[[0.19, 0.21], [0, 0.6], "improved", true, false],
		[[1.2, 1.3], [1.19, 1.31], "inconclusive", false, false],
	])("%j, and %j within their bound: %s", (interval, [low, high], verdict, notWorse, said) => {
		const ratio = { ratio: 1, low, high, confidence: 0.968 };
		const found = judged(interval, { clocks: { boundNs: 400_000, ratio } });
		expect(found).toMatchObject({ verdict, notWorse });
		expect(/; but within the clocks' bound of ±400us$/.test(found.why)).toBe(said);
	});
});
