import { expect, test } from "vitest";
import { clockBound, t0By } from "./clocks.ts";

test("T0 by a clock that is ahead is later, by one that is behind earlier, and by our own the same", () => {
	const t0 = 1_767_312_001_000_000_000n;
	expect(t0By({ offsetNs: 1_500_000_000, boundNs: 1 }, t0) - t0).toBe(
		1_500_000_000n,
	);
	expect(t0By({ offsetNs: -20_000.4, boundNs: 1 }, t0) - t0).toBe(-20_000n);
	expect(t0By(null, t0)).toBe(t0);
});

test("the bound is the larger of both readings, and what the clock has moved in between", () => {
	expect(
		clockBound(
			{ offsetNs: 1000.2, boundNs: 200.1 },
			{ offsetNs: 900, boundNs: 300 },
		),
	).toEqual({ beforeNs: 1000, afterNs: 900, boundNs: 400 });
	expect(
		clockBound({ offsetNs: -5, boundNs: 70.5 }, { offsetNs: 5, boundNs: 20 }),
	).toEqual({ beforeNs: -5, afterNs: 5, boundNs: 81 });
});

test("what nobody could read after the run is not known, and our own clock has no bound", () => {
	expect(clockBound({ offsetNs: 7, boundNs: 9 }, null)).toEqual({
		beforeNs: 7,
		afterNs: null,
		boundNs: 9,
	});
	expect(clockBound(null, null)).toBeNull();
});
