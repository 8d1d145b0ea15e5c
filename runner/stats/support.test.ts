import { describe, expect, test } from "vitest";
import { samplesForBound, samplesForSupport, supportOf, tail } from "./support.ts";

describe("samples that a percentile takes", () => {
	// A bound from ln 0.025 / ln p on, support from 10 / (1 - p), worked out by hand.
	test.each([
		[99, 368, 1000],
		[99.9, 3688, 10_000],
		[99.99, 36_887, 100_000],
		[99.999, 368_887, 1_000_000],
		[99.9999, 3_688_878, 10_000_000],
	])("p%s is weak from %i on, ok from %i", (p, weak, ok) => {
		expect(samplesForBound(p)).toBe(weak);
		expect(samplesForSupport(p)).toBe(ok);
		expect((1 - tail(p)) ** weak).toBeLessThanOrEqual(0.025);
		expect([weak - 1, weak, ok - 1, ok].map((n) => supportOf(n, p))).toEqual([
			"none",
			"weak",
			"weak",
			"ok",
		]);
	});

	test("no sample carries nothing, a percentile outside of (0, 100) is a bug", () => {
		expect(supportOf(0, 1)).toBe("none");
		for (const p of [0, 100, -1]) expect(() => supportOf(1, p)).toThrow(RangeError);
	});
});
