import { describe, expect, test } from "vitest";
import {
	samplesForBound,
	samplesForPass,
	samplesForSupport,
	supportOf,
} from "./support.ts";

describe("samples that a percentile takes", () => {
	// A PASS with nothing over the limit from ln 0.05 / ln p on, a bound from ln 0.025 / ln p, support from 10 / (1 - p).
	test.each([
		[99, 299, 368, 1000],
		[99.9, 2995, 3688, 10_000],
		[99.99, 29_956, 36_887, 100_000],
		[99.999, 299_572, 368_887, 1_000_000],
		[99.9999, 2_995_731, 3_688_878, 10_000_000],
	])(
		"p%s can pass from %i on, is weak from %i, ok from %i",
		(p, pass, weak, ok) => {
			expect(samplesForPass(p)).toBe(pass);
			expect(samplesForBound(p)).toBe(weak);
			expect(samplesForSupport(p)).toBe(ok);
			expect([weak - 1, weak, ok - 1, ok].map((n) => supportOf(n, p))).toEqual([
				"none",
				"weak",
				"weak",
				"ok",
			]);
		},
	);

	test("MLPerf's early stopping: 459 queries for p99 at 99 %", () => {
		expect(samplesForPass(99, 0.01)).toBe(459);
	});

	test("no sample carries nothing, a percentile outside of (0, 100) is a bug", () => {
		expect(supportOf(0, 1)).toBe("none");
		for (const p of [0, 100, -1])
			expect(() => supportOf(1, p)).toThrow(RangeError);
	});
});
