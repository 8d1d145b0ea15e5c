import { describe, expect, test } from "vitest";
import { curve, hgrm } from "./hgrm.ts";
import { latencies, sampleOfValues, seeded } from "./random.fake.ts";

const values = latencies(5000, seeded(9)).map((v) => v + 1000);
const sample = sampleOfValues(values);
const points = curve(sample);

describe("the percentile curve", () => {
	test("starts at 0, never falls, and has five points per halving", () => {
		expect(points.slice(0, 7).map((p) => p.p)).toEqual([0, 10, 20, 30, 40, 50, 55]);
		for (const [i, p] of points.entries())
			expect(p.value).toBeGreaterThanOrEqual(points[i - 1]?.value ?? 0);
	});

	test("has at each point the number of samples up to its value", () => {
		for (const p of points) expect(p.total).toBe(values.filter((v) => v <= p.value).length);
	});

	test("stops at the last percentile that the samples carry", () => {
		const last = points.at(-1)?.p ?? 0;
		// 0.025^(1/5000) = 99.92625 %
		expect(last).toBeLessThanOrEqual(99.92625);
		expect(last).toBeGreaterThan(99.9);
	});

	test("stops where those begin that never completed", () => {
		const censored = curve(sampleOfValues(values, 500));
		expect(censored.at(-1)?.p).toBeLessThanOrEqual((100 * 5000) / 5500);
		expect(censored.at(-1)?.p).toBeGreaterThanOrEqual(90);
	});

	test("of nothing is empty", () => {
		expect(curve({ ...sample, n: 0 })).toEqual([]);
		expect(curve({ ...sampleOfValues([1]), n: 1 })).toHaveLength(1);
	});
});

describe("an .hgrm file", () => {
	const total = { count: 5000, censored: 0, mean: 1_500_000, max: Math.max(...values) };
	const lines = hgrm(points, total).split("\n");

	test("is read back by the plotters' rule: four fields apart by blanks, no comments", () => {
		const rows = lines
			.filter((l) => !l.startsWith("#"))
			.map((l) => l.trim().split(/ +/))
			.filter((fields) => fields.length === 4 && fields[0] !== "Value");
		expect(rows).toHaveLength(points.length);
		for (const [i, [value, p, count, inverse]] of rows.entries()) {
			const point = points[i] as (typeof points)[number];
			expect(Number(value)).toBeCloseTo(point.value / 1e6, 6);
			expect(Number(p)).toBeCloseTo(point.p / 100, 12);
			expect(Number(count)).toBe(point.total);
			expect(Number(inverse)).toBeCloseTo(1 / (1 - point.p / 100), 2);
		}
	});

	test("ends with the exact maximum in a row of three fields, which plotters skip", () => {
		const last = lines.filter((l) => l !== "" && !l.startsWith("#")).at(-1);
		expect(last?.trim().split(/ +/)).toEqual([
			(total.max / 1e6).toFixed(6),
			"1.000000000000",
			"5000",
		]);
	});
});
