import { describe, expect, test } from "vitest";
import { scaleOf } from "./scale.ts";

describe("the latency axis", () => {
	test("is linear for values within a factor of 20, with round ticks from 0", () => {
		const scale = scaleOf([100, 700], null, 4);
		expect(scale.logarithmic).toBe(false);
		expect(scale.ticks).toEqual([0, 200, 400, 600, 800]);
		expect([scale.min, scale.max]).toEqual([0, 800]);
		expect(scale.to(400)).toBe(400);
	});

	test("is logarithmic beyond, every decade as high as the next", () => {
		const scale = scaleOf([1e5, 1e9], null, 6);
		expect(scale.logarithmic).toBe(true);
		expect(scale.ticks).toEqual(expect.arrayContaining([1e6, 1e7, 1e8, 1e9]));
		expect(scale.to(1e7) - scale.to(1e6)).toBeCloseTo(
			scale.to(1e8) - scale.to(1e7),
			9,
		);
		for (const tick of scale.ticks) {
			expect(scale.to(tick)).toBeGreaterThanOrEqual(scale.min);
			expect(scale.to(tick)).toBeLessThanOrEqual(scale.max);
		}
	});

	test("is what is asked for", () => {
		expect(scaleOf([1e5, 1e9], false, 6).logarithmic).toBe(false);
		expect(scaleOf([100, 700], true, 6).logarithmic).toBe(true);
	});

	test("never has more than ten ticks, and at least two", () => {
		for (const high of [1, 20, 1e3, 1e6, 1e9, 3.6e12]) {
			const { ticks } = scaleOf([1, high], null, 6);
			expect(ticks.length, `${high}`).toBeLessThanOrEqual(10);
			expect(ticks.length, `${high}`).toBeGreaterThanOrEqual(2);
		}
	});

	test("takes nothing but zeros", () => {
		const scale = scaleOf([0, 0], null, 4);
		expect(scale.to(0)).toBe(0);
		expect(scale.max).toBeGreaterThan(0);
	});
});
