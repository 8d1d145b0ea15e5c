import { expect, test } from "vitest";
import { sparkline } from "./sparkline.ts";

test("bars are as high as the logarithm of their values", () => {
	expect(sparkline([1e5, 1e6, 1e7, 1e8], 10)).toBe("▁▃▆█");
});

test("what was not measured is a blank, never a low bar", () => {
	expect(sparkline([1e5, null, 1e8], 10)).toBe("▁ █");
	expect(sparkline([null, null], 10)).toBe("  ");
});

test("noise is flat, and a factor of 4 is not", () => {
	expect(sparkline([100, 105, 101, 103], 10)).toBe("▁▁▁▁");
	expect(sparkline([100, 400], 10)).toBe("▁█");
});

test("no peak disappears in a row that is shorter than its values", () => {
	const values = Array.from({ length: 1000 }, (_, i) => (i === 617 ? 1e9 : 1e5));
	const row = sparkline(values, 40);
	expect(row).toHaveLength(40);
	expect([...row].filter((bar) => bar === "█")).toHaveLength(1);
	expect(row.indexOf("█")).toBe(24);
});
