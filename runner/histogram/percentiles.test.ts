import { describe, expect, test } from "vitest";
import { intervalRanks, percentile, rank, valueAtRank } from "./percentiles.ts";
import { latencies, sampleOfValues, seeded } from "./random.fake.ts";

const range = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

describe("rank", () => {
	test.each([
		[1000, 99.9, 999],
		[1600, 99.9, 1599],
		[10, 90, 9],
		[1, 50, 1],
		[1, 99.9999, 1],
		[100, 50, 50],
		[101, 50, 51],
		[3_000_000, 99.9999, 2_999_997],
		[1000, 70, 700],
		[1000, 55, 550],
	])("of %d samples, p%d is %d", (n, p, expected) => {
		expect(rank(n, p)).toBe(expected);
	});

	test("is exact where floating point is not: 0.07 * 100 is 7.000000000000001", () => {
		expect(rank(100, 7)).toBe(7);
		for (let p = 1; p < 100; p++) expect(rank(1000, p)).toBe(p * 10);
	});
});

describe("percentiles", () => {
	test("match a sorted array within the three digits of the histogram", () => {
		const random = seeded(3);
		for (const n of [1, 2, 10, 999, 5000]) {
			const values = latencies(n, random);
			const sorted = values.toSorted((a, b) => a - b);
			const sample = sampleOfValues(values);
			for (const p of [0.1, 10, 50, 90, 99, 99.9, 99.99]) {
				const exact = sorted[rank(n, p) - 1] ?? 0;
				const got = valueAtRank(sample, rank(n, p)) ?? 0;
				expect(got).toBeGreaterThanOrEqual(exact);
				expect(got).toBeLessThanOrEqual(exact * 1.001 + 1);
				const low = valueAtRank(sample, rank(n, p), "low") ?? 0;
				expect(low).toBeLessThanOrEqual(exact);
				expect(low).toBeGreaterThanOrEqual(exact * 0.999 - 1);
			}
		}
	});

	test("never lie above the exact maximum, nor bounds below the exact minimum", () => {
		const sample = sampleOfValues([1_000_003, 1_000_001]);
		expect(valueAtRank(sample, 2)).toBe(1_000_003);
		expect(valueAtRank(sample, 1, "low")).toBe(1_000_001);
	});

	test("are exact above 2^31 samples' worth of nanoseconds, where 32-bit buckets wrap", () => {
		const values = [3.5e12, 3.5e12, 2 ** 31 + 5];
		const sample = sampleOfValues(values);
		expect(valueAtRank(sample, 3)).toBe(3.5e12);
		expect(valueAtRank(sample, 1)).toBeGreaterThan(2 ** 31);
	});

	test("count what never completed as the largest values", () => {
		const sample = sampleOfValues(range(990), 10);
		expect(percentile(sample, 50, 1)).toMatchObject({ value: 500 });
		expect(percentile(sample, 99, 1)).toMatchObject({ value: 990, support: "ok", high: null });
		const more = sampleOfValues(range(989), 11);
		expect(percentile(more, 99, 1)).toMatchObject({
			value: null,
			support: "ok",
			beyondTimeout: true,
		});
		expect(percentile(more, 99, 1).low).not.toBeNull();
	});

	test("of no samples at all have no support", () => {
		const none = { ...sampleOfValues([1]), n: 0 };
		expect(percentile(none, 50, 1)).toMatchObject({ support: "none", value: null });
	});
});

describe("support", () => {
	test("1500 samples carry p99 and nothing above", () => {
		const sample = sampleOfValues(range(1500));
		const supports = [99, 99.9, 99.99, 99.9999].map((p) => percentile(sample, p, 1).support);
		expect(supports).toEqual(["ok", "none", "none", "none"]);
		expect(percentile(sample, 99.9, 1)).toMatchObject({
			value: null,
			low: null,
			high: null,
			needs: 3688,
		});
	});

	test("367 samples are none, 368 weak, 999 weak, 1000 ok for p99", () => {
		const support = (n: number) => percentile(sampleOfValues(range(n)), 99, 1).support;
		expect([367, 368, 999, 1000].map(support)).toEqual(["none", "weak", "weak", "ok"]);
	});

	test("clustering makes it weak and takes the bound, never the value", () => {
		const sample = sampleOfValues(range(10_000));
		expect(percentile(sample, 99, 5).support).toBe("ok");
		expect(percentile(sample, 99, 11)).toMatchObject({
			support: "weak",
			value: percentile(sample, 99, 1).value,
		});
		expect(percentile(sample, 99, 100)).toMatchObject({
			support: "weak",
			value: percentile(sample, 99, 1).value,
			high: null,
		});
	});
});

describe("the 95 % interval", () => {
	// The table of Poisson bounds; k = expected samples above.
	test.each([
		[3.7, 0, 8],
		[5, 0, 10],
		[10, 3, 17],
		[20, 11, 29],
		[50, 36, 64],
		[100, 80, 120],
		[200, 172, 228],
	])("for k = %d leaves from %d to %d above", (k, a, b) => {
		const p = 99.99;
		const n = Math.round(k * 10_000);
		expect(intervalRanks(n, p, 1)).toEqual({ low: n - b, high: n - a });
	});

	test("of the median is that of the binomial, not of Poisson", () => {
		// n = 100: ranks 40 to 61 (40 to 60 counted from 0), as in every table of order statistics.
		expect(intervalRanks(100, 50, 1)).toEqual({ low: 40, high: 61 });
	});

	test("widens by phi: k / phi is looked up and scaled back", () => {
		expect(intervalRanks(1_000_000, 99.99, 10)).toEqual({
			low: 1_000_000 - 170,
			high: 1_000_000 - 30,
		});
	});

	test("holds the true percentile in 95 of 100 simulated runs", () => {
		const random = seeded(11);
		let held = 0;
		for (let run = 0; run < 1000; run++) {
			const u = Array.from({ length: 1000 }, random).sort((a, b) => a - b);
			const { low, high } = intervalRanks(1000, 99, 1);
			if ((u[low - 1] ?? 0) <= 0.99 && (u[(high ?? 1) - 1] ?? 0) >= 0.99) held++;
		}
		expect(held).toBeGreaterThan(935);
	});
});

test("an interval always holds its value, however few independent samples there are", () => {
	const values = Array.from({ length: 5000 }, (_, i) => 1000 + i * 1000);
	const sample = sampleOfValues(values);
	for (const p of [50, 90, 99, 99.9])
		for (const phi of [1, 2, 10, 77, 500, 2500, 5000, 1e6]) {
			const { low, value, high } = percentile(sample, p, phi);
			expect(low).not.toBeNull();
			expect(low).toBeLessThanOrEqual(value ?? 0);
			expect(high ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(value ?? 0);
		}
});
