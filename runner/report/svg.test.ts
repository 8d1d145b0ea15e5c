import { describe, expect, test } from "vitest";
import { line, linearScale, steps, valueScale } from "./svg.ts";

const area = { left: 0, right: 100, top: 0, bottom: 200 };

describe("the latency axis", () => {
	test("is linear for values within a factor of 20, with round ticks from 0", () => {
		const scale = valueScale([100, 700], area);
		expect(scale.logarithmic).toBe(false);
		expect(scale.ticks).toEqual([0, 200, 400, 600, 800]);
		expect(scale(0)).toBe(200);
		expect(scale(800)).toBe(0);
		expect(scale(400)).toBe(100);
	});

	test("is logarithmic beyond, every decade as high as the next", () => {
		const scale = valueScale([1e5, 1e9], area);
		expect(scale.logarithmic).toBe(true);
		expect(scale.ticks).toEqual([1e5, 1e6, 1e7, 1e8, 1e9]);
		expect(scale(1e6) - scale(1e7)).toBeCloseTo(scale(1e8) - scale(1e9), 9);
		for (const tick of scale.ticks) {
			expect(scale(tick)).toBeGreaterThanOrEqual(area.top);
			expect(scale(tick)).toBeLessThanOrEqual(area.bottom);
		}
	});

	test("has steps of 1, 2 and 5 when there are few decades, and never more than ten ticks", () => {
		expect(valueScale([1e5, 3e6], area).ticks).toEqual([
			1e5, 2e5, 5e5, 1e6, 2e6,
		]);
		for (const high of [1, 20, 1e3, 1e6, 1e9, 3.6e12])
			expect(valueScale([1, high], area).ticks.length).toBeLessThanOrEqual(10);
	});

	test("takes nothing but zeros", () => {
		expect(valueScale([0, 0], area)(0)).toBe(200);
		expect(linearScale(1000, area, 2).ticks).toEqual([0, 500, 1000, 1500]);
	});
});

describe("paths", () => {
	test("have a gap where a value is missing, to a tenth of a unit", () => {
		expect(line([[0, 0], [1.26, 2], null, [3, 3], [4, 4]], "x").text).toBe(
			'<path class="x" d="M0 0L1.3 2M3 3L4 4"/>',
		);
		expect(line([null], "x").text).toBe("");
	});

	test("in steps hold a value until the next", () => {
		expect(
			steps(
				[
					[0, 5],
					[2, 7],
				],
				"x",
			).text,
		).toBe('<path class="x" d="M0 5H2V7"/>');
	});
});
