import { describe, expect, test } from "vitest";
import { binomialAtMost, incompleteBeta, lgamma } from "./binomial.ts";

describe("lgamma", () => {
	test("is ln((n-1)!) of whole numbers", () => {
		let factorial = 1;
		for (let n = 1; n <= 20; n++) {
			expect(lgamma(n)).toBeCloseTo(Math.log(factorial), 12);
			factorial *= n;
		}
	});

	test("of a half is ln(sqrt(pi)), and obeys x * gamma(x) = gamma(x + 1) across its two formulas", () => {
		expect(lgamma(0.5)).toBeCloseTo(Math.log(Math.sqrt(Math.PI)), 13);
		for (const x of [0.3, 2.7, 9.5, 9.999, 123.4])
			expect(lgamma(x + 1)).toBeCloseTo(lgamma(x) + Math.log(x), 11);
	});
});

describe("incompleteBeta", () => {
	test("has its closed forms: I_x(1, b), I_x(a, 1), and its symmetry", () => {
		for (const x of [0.001, 0.2, 0.5, 0.9])
			for (const a of [0.7, 3, 40]) {
				expect(incompleteBeta(x, 1, a)).toBeCloseTo(1 - (1 - x) ** a, 12);
				expect(incompleteBeta(x, a, 1)).toBeCloseTo(x ** a, 12);
				expect(incompleteBeta(x, a, 5)).toBeCloseTo(1 - incompleteBeta(1 - x, 5, a), 12);
			}
		expect(incompleteBeta(0.5, 17.5, 17.5)).toBeCloseTo(0.5, 12);
	});
});

describe("binomialAtMost", () => {
	test.each([
		[10, 0.3],
		[100, 0.01],
		[57, 0.5],
	])("adds up the terms for n = %d, p = %d", (n, p) => {
		let sum = 0;
		let term = (1 - p) ** n;
		for (let t = 0; t <= n; t++) {
			sum += term;
			expect(binomialAtMost(t, n, p)).toBeCloseTo(Math.min(1, sum), 11);
			term *= ((n - t) / (t + 1)) * (p / (1 - p));
		}
	});

	test("of very many messages is that of Poisson", () => {
		// P(Poisson(10) <= 4) and P(Poisson(1000) <= 947), summed below.
		for (const [k, t] of [
			[10, 4],
			[1000, 947],
		] as const) {
			let sum = 0;
			let log = -k;
			for (let i = 0; i <= t; i++) {
				sum += Math.exp(log);
				log += Math.log(k / (i + 1));
			}
			expect(binomialAtMost(t, 1e9, k / 1e9)).toBeCloseTo(sum, 5);
		}
	});
});
