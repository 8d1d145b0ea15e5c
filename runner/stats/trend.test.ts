import { describe, expect, test } from "vitest";
import { seeded } from "../histogram/random.fake.ts";
import { median, type TrendPoint, trend } from "./trend.ts";

const points = (ys: readonly number[]): TrendPoint[] => ys.map((y, x) => ({ x, y }));

/** Approximately normal: twelve uniform ones. */
const normal = (random: () => number) =>
	Array.from({ length: 12 }, random).reduce((a, b) => a + b, -6);

describe("the trend of a series", () => {
	test("of a straight line is its slope, and so are both ends of the interval", () => {
		expect(trend(points([1, 3, 5, 7, 9, 11, 13, 15]))).toEqual({ slope: 2, low: 2, high: 2 });
		expect(trend(points(new Array(50).fill(7)))).toEqual({ slope: 0, low: 0, high: 0 });
	});

	// Sen (1968), section 6. Its exact interval of 93 % has the ranks 4 and 18 of the 21 slopes; with the normal variance and
	// 95 % (C = 13.05) the next ones outwards, 3 and 19.
	test("agrees with Sen's own example", () => {
		const xs = [1, 2, 3, 4, 10, 12, 18];
		const ys = [9, 15, 19, 20, 45, 55, 78];
		const slopes = xs
			.flatMap((x, i) =>
				xs.slice(i + 1).map((x2, j) => ((ys[i + 1 + j] ?? 0) - (ys[i] ?? 0)) / (x2 - x)),
			)
			.sort((a, b) => a - b);
		expect(slopes).toHaveLength(21);
		expect(trend(xs.map((x, i) => ({ x, y: ys[i] ?? 0 })))).toEqual({
			slope: 4,
			low: slopes[2],
			high: slopes[18],
		});
	});

	test("is the median of all pairs, found by brute force", () => {
		const random = seeded(3);
		for (let round = 0; round < 50; round++) {
			const some = Array.from({ length: 6 + (round % 40) }, (_, i) => ({
				x: i + random() / 2,
				y: Math.floor(random() * 20),
			}));
			const slopes = some
				.flatMap((a, i) => some.slice(i + 1).map((b) => (b.y - a.y) / (b.x - a.x)))
				.sort((a, b) => a - b);
			const found = trend(some);
			expect(found?.slope).toBe(median(slopes));
			// Ranks around the middle, equally far from it.
			const below = slopes.filter((s) => s < (found?.low ?? 0)).length;
			const above = slopes.filter((s) => s > (found?.high ?? 0)).length;
			expect(Math.abs(below - above)).toBeLessThanOrEqual(slopes.length / 10);
			expect(found?.low).toBeLessThanOrEqual(found?.slope ?? 0);
			expect(found?.high).toBeGreaterThanOrEqual(found?.slope ?? 0);
		}
	});

	test("has an interval that holds the true slope about 95 times in 100", () => {
		const random = seeded(11);
		for (const n of [10, 30, 100]) {
			let held = 0;
			const runs = 600;
			for (let run = 0; run < runs; run++) {
				const found = trend(points(Array.from({ length: n }, (_, i) => 0.3 * i + normal(random))));
				if (found && found.low <= 0.3 && found.high >= 0.3) held++;
			}
			expect(held / runs).toBeGreaterThan(0.925);
			expect(held / runs).toBeLessThan(0.985);
		}
	});

	test("is not bent by a quarter of wild points", () => {
		const ys = Array.from({ length: 100 }, (_, i) => (i >= 40 && i < 65 ? 1e6 : 5));
		expect(trend(points(ys))?.slope).toBe(0);
	});

	test("needs enough points for an interval", () => {
		expect(trend([])).toBeNull();
		expect(trend(points([1, 2, 3]))).toBeNull();
		expect(trend(points([1, 2, 4, 8, 9, 12]))).not.toBeNull();
	});

	test("of many points is found from every k-th of them", () => {
		const many = points(Array.from({ length: 6001 }, (_, i) => 2 * i));
		expect(trend(many)?.slope).toBe(2);
	});
});

test("the median of none is null", () => {
	expect(median([])).toBeNull();
	expect(median([3, 1])).toBe(2);
	expect(median([3, 1, 9])).toBe(3);
});
