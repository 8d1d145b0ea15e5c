import { expect, test } from "vitest";
import { seeded } from "../histogram/random.fake.ts";
import { intervalRank, medianOf, ratioOf } from "./ratio.ts";

test.each([
	[3, 5, 1, 96.4],
	[4, 4, 1, 97.1],
	[5, 5, 3, 96.8],
	[3, 10, 4, 95.1],
	[5, 10, 9, 96.0],
	[6, 6, 6, 95.9],
	[10, 10, 24, 95.7],
	[5, 20, 21, 95.8],
])("%i and %i runs: the %i-th ratios from both ends hold %f %%", (n, m, k, percent) => {
	const found = intervalRank(n, m);
	expect(found?.k).toBe(k);
	expect(100 * (found?.confidence ?? 0)).toBeCloseTo(percent, 1);
	expect(intervalRank(m, n)).toEqual(found);
});

test.each([
	[3, 3],
	[3, 4],
	[2, 40],
	[1, 1],
	[0, 5],
])("%i and %i runs tell nothing with 95 %%", (n, m) => {
	expect(intervalRank(n, m)).toBeNull();
});

test("the ranks are those of all orders counted one by one", () => {
	for (let n = 3; n <= 7; n++)
		for (let m = 3; m <= 7; m++) {
			const counts = ordersByU(n, m);
			const all = counts.reduce((sum, c) => sum + c, 0);
			const outside = (k: number) => (2 * counts.slice(0, k).reduce((sum, c) => sum + c, 0)) / all;
			const found = intervalRank(n, m);
			if (found === null) {
				expect(outside(1), `${n}, ${m}`).toBeGreaterThan(0.05);
				continue;
			}
			expect(found.confidence).toBeCloseTo(1 - outside(found.k), 12);
			expect(outside(found.k)).toBeLessThanOrEqual(0.05);
			expect(outside(found.k + 1), `${n}, ${m}`).toBeGreaterThan(0.05);
		}
});

test("the ranks of 50 and 50 runs are exact, and the normal curve goes on where they end", () => {
	const exact = intervalRank(50, 50);
	const normal = intervalRank(50, 51);
	expect(exact?.confidence).toBeGreaterThanOrEqual(0.95);
	expect(exact?.confidence).toBeLessThan(0.951);
	// A run more on one side moves the rank by about the half of the other side less its spread.
	expect((normal?.k ?? 0) - (exact?.k ?? 0)).toBeGreaterThanOrEqual(15);
	expect((normal?.k ?? 0) - (exact?.k ?? 0)).toBeLessThanOrEqual(25);
});

test("the interval holds the true ratio as often as it says, without any assumption on the noise", () => {
	const random = seeded(7);
	const TIMES = 4000;
	for (const [n, m] of [
		[4, 4],
		[5, 5],
		[10, 10],
	] as const)
		for (const draw of [lognormal(0.3), heavy]) {
			let held = 0;
			for (let i = 0; i < TIMES; i++) {
				const found = ratioOf(
					Array.from({ length: n }, () => draw(random)),
					Array.from({ length: m }, () => 1.7 * draw(random)),
				);
				if (found?.low != null && found.high != null)
					if (found.low <= 1.7 && found.high >= 1.7) held++;
			}
			const said = intervalRank(n, m)?.confidence ?? 0;
			// Three standard errors.
			const error = 3 * Math.sqrt((said * (1 - said)) / TIMES);
			expect(Math.abs(held / TIMES - said), `${n}, ${m}`).toBeLessThan(error);
		}
});

test("the ratio is the median of all ratios, not the ratio of the means", () => {
	const found = ratioOf([1, 2, 4], [2, 4, 800]);
	// 0.5 1 1 2 2 4 200 400 800
	expect(found?.ratio).toBe(2);
	expect(found).toMatchObject({ low: null, high: null, confidence: null });
});

test("of an even number of ratios the middle one is the geometric mean", () => {
	expect(ratioOf([1], [1, 4])?.ratio).toBe(2);
	expect(medianOf([1, 4, 9, 16])).toBe(6);
	expect(medianOf([])).toBeNull();
});

test("the interval of 5 and 5 runs is the third ratio from both ends", () => {
	const a = [10, 11, 12, 13, 14];
	const b = [20, 22, 24, 26, 28];
	const all = a.flatMap((x) => b.map((y) => y / x)).sort((x, y) => x - y);
	expect(ratioOf(a, b)).toMatchObject({ low: all[2], high: all[22] });
});

test("B against A is the inverse of A against B", () => {
	const random = seeded(3);
	for (let i = 0; i < 200; i++) {
		const draw = lognormal(1);
		const n = 3 + Math.floor(random() * 8);
		const a = Array.from({ length: n }, () => draw(random));
		const b = Array.from({ length: 5 }, () => draw(random));
		const there = ratioOf(a, b);
		const back = ratioOf(b, a);
		expect(there?.ratio).toBeCloseTo(1 / (back?.ratio ?? 0), 9);
		if (there?.low == null) continue;
		expect(there.low).toBeCloseTo(1 / (back?.high ?? 0), 9);
		expect(there.high).toBeCloseTo(1 / (back?.low ?? 0), 9);
		expect(there.confidence).toBe(back?.confidence);
	}
});

test("units do not matter: ns or seconds give the same ratio", () => {
	const a = [3, 5, 4, 6, 8];
	const b = [4, 7, 5, 9, 8];
	const scaled = (values: number[]) => values.map((v) => v * 1024);
	expect(ratioOf(scaled(a), scaled(b))).toEqual(ratioOf(a, b));
});

test("the order of the runs does not matter", () => {
	const a = [3, 5, 4, 6, 8];
	const b = [4, 7, 5, 9, 8];
	expect(ratioOf([...a].reverse(), [...b].sort())).toEqual(ratioOf(a, b));
});

test("equal values on both sides are a ratio of exactly 1", () => {
	const same = [7, 7, 7, 7];
	expect(ratioOf(same, same)).toMatchObject({ ratio: 1, low: 1, high: 1 });
});

test("zeros keep their place in the order, and are never lost", () => {
	expect(ratioOf([0, 0, 0, 0], [0, 0, 0, 0])).toMatchObject({ ratio: 1 });
	expect(ratioOf([5, 5, 5, 5], [0, 0, 0, 0])).toMatchObject({ ratio: 0, low: 0, high: 0 });
	expect(ratioOf([0, 0, 0, 0], [5, 5, 5, 5])?.ratio).toBe(Number.POSITIVE_INFINITY);
	// One odd run of five moves neither the median nor makes it undefined.
	expect(ratioOf([0, 10, 10, 10, 10], [11, 11, 11, 11, 11])?.ratio).toBe(1.1);
	expect(ratioOf([0, 4], [0, 0])?.ratio).toBe(0);
	// One ratio is 0 and one infinite: the two between them are 1.
	expect(ratioOf([0, 4], [0, 4])?.ratio).toBe(1);
});

test("a side without values has no ratio", () => {
	expect(ratioOf([1], [])).toBeNull();
	expect(ratioOf([], [1])).toBeNull();
});

/** In how many of all orders of n and m runs how many pairs stand the wrong way round. */
function ordersByU(n: number, m: number): number[] {
	const counts = new Array(n * m + 1).fill(0) as number[];
	for (let bits = 0; bits < 2 ** (n + m); bits++) {
		let seen = 0;
		let u = 0;
		for (let i = 0; i < n + m; i++)
			if (bits & (1 << i)) seen++;
			else u += seen;
		if (seen === n) counts[u] = (counts[u] ?? 0) + 1;
	}
	return counts;
}

function normal(random: () => number): number {
	return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function lognormal(sigma: number): (random: () => number) => number {
	return (random) => Math.exp(sigma * normal(random));
}

/** A quiet machine with a neighbour that comes by in one run of five. */
function heavy(random: () => number): number {
	return Math.exp(0.1 * normal(random)) * (random() < 0.2 ? 8 : 1);
}
