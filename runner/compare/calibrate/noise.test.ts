import { describe, expect, test } from "vitest";
import { seeded } from "../../histogram/random.fake.ts";
import { ratioOf } from "../../stats/ratio.ts";
import { noisyRuns } from "../baseline.fake.ts";
import { judge } from "../judge.ts";
import { type Noise, noiseOf, repeatsFor } from "./noise.ts";

function certain(noise: Noise | null): Noise {
	if (noise === null) throw new Error("no noise");
	return noise;
}

/** Part of 1000 comparisons of 5 and 5 fresh runs, the second `factor` times as slow, that come to this verdict. */
function often(
	verdict: string,
	{ sigma, margin, factor }: { sigma: number; margin: number; factor: number },
): number {
	const random = seeded(7);
	let count = 0;
	for (let i = 0; i < 1000; i++) {
		const a = noisyRuns(5, sigma, random);
		const b = noisyRuns(5, sigma, random, factor);
		const found = judge({
			figure: "response p99",
			ratio: ratioOf(a, b),
			margin,
			runs: [5, 5],
			beyond: [false, false],
			names: ["a", "b"],
		});
		if (found.verdict === verdict) count++;
	}
	return count / 1000;
}

describe("noise of A/A runs", () => {
	test("is 0 of equal runs: any change shows", () => {
		expect(noiseOf(new Array(10).fill(5))).toEqual({
			runs: 10,
			each: 5,
			halfWidth: 0,
			detectable: 0,
		});
	});

	test("is what a hand counts out: of eight runs the smallest and the largest ratio of each split", () => {
		const values = [1, 1, 1, 1, 1, 1, 1, 2].map((v) => v * 1e6);
		// The 2 is in one half of every split: ratios 1 and 2 (or 1/2), the interval is [1, 2] or [1/2, 1].
		const noise = certain(noiseOf(values));
		expect(noise.each).toBe(4);
		expect(noise.halfWidth).toBeCloseTo(Math.SQRT2 - 1, 12);
		expect(noise.detectable).toBeCloseTo(1, 12);
	});

	test("does not hang on the order of the runs, nor on their unit", () => {
		const values = noisyRuns(10, 0.2, seeded(1));
		const one = certain(noiseOf(values));
		const other = certain(noiseOf(values.toReversed().map((v) => v / 1e3)));
		expect(other.halfWidth).toBeCloseTo(one.halfWidth, 9);
		expect(other.detectable).toBeCloseTo(one.detectable, 9);
	});

	test("grows with the scatter, and less with more runs", () => {
		const of = (n: number, sigma: number) =>
			certain(noiseOf(noisyRuns(n, sigma, seeded(3)))).halfWidth;
		expect(of(10, 0.2)).toBeGreaterThan(1.5 * of(10, 0.1));
		expect(of(20, 0.1)).toBeLessThan(of(10, 0.1));
	});

	test("is not known of fewer than 8 runs, or of a value of 0", () => {
		expect(noiseOf(noisyRuns(7, 0.1, seeded(1)))).toBeNull();
		expect(noiseOf([...noisyRuns(9, 0.1, seeded(1)), 0])).toBeNull();
		expect(noiseOf(noisyRuns(8, 0.1, seeded(1)))).not.toBeNull();
	});

	/** Of many calibrations the one in the middle: single ones of ten runs differ. */
	const typical = (sigma: number) => {
		const random = seeded(5);
		const all = Array.from({ length: 41 }, () => certain(noiseOf(noisyRuns(10, sigma, random))));
		const middle = (of: (noise: Noise) => number) =>
			all.map(of).sort((x, y) => x - y)[20] as number;
		return { halfWidth: middle((n) => n.halfWidth), detectable: middle((n) => n.detectable) };
	};

	test.each([
		[0.05, 0.85],
		[0.2, 0.85],
		// Twice a part is less than twice its logarithm: where noise is a half and more, it is often undecided, and no false alarm.
		[0.6, 0.65],
	])(
		"with twice of it as margin, fresh runs that scatter by %f are the same in most cases, and hardly ever a regression",
		(sigma, most) => {
			const margin = 2 * typical(sigma).halfWidth;
			expect(often("same", { sigma, margin, factor: 1 })).toBeGreaterThan(most);
			expect(often("regressed", { sigma, margin, factor: 1 })).toBeLessThanOrEqual(0.002);
		},
	);

	test.each([0.05, 0.2, 0.6])(
		"a change by what it says is detectable is told from none in most cases, where runs scatter by %f",
		(sigma) => {
			const { detectable } = typical(sigma);
			const told = { sigma, margin: 0 };
			expect(often("regressed", { ...told, factor: 1 + detectable })).toBeGreaterThan(0.85);
			expect(often("regressed", { ...told, factor: 1 + detectable / 4 })).toBeLessThan(0.5);
		},
	);
});

describe("repeats for a margin", () => {
	const noise = (halfWidth: number): Noise => ({ runs: 10, each: 5, halfWidth, detectable: 0.1 });

	test("are 5 where the noise fits already, else as many more as the square of what is missing", () => {
		expect(repeatsFor(noise(0.04), 0.1)).toBe(5);
		expect(repeatsFor(noise(0.1), 0.1)).toBe(20);
	});
});

test("of 13 runs and more, which are drawn, the noise is that of all their halves, the same every time", () => {
	const values = noisyRuns(13, 0.2, seeded(2));
	const noise = certain(noiseOf(values));
	expect(noiseOf(values)).toEqual(noise);
	expect(noise.halfWidth).toBeCloseTo(certain(noiseOf(values.toReversed())).halfWidth, 2);
});
