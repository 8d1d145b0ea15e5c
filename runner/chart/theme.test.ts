import { describe, expect, test } from "vitest";
import { COLOURS, colourOf, dashesOf, HEAT, SERIES } from "./theme.ts";

describe.each(["light", "dark"] as const)("colours, %s", (theme) => {
	const { page, band, ink, soft, limit, hidden, grey } = COLOURS[theme];

	test("text has a contrast of 4.5:1, on the warm-up's band too", () => {
		for (const text of [ink, soft, limit, hidden])
			for (const behind of [page, band]) expect(contrast(text, behind)).toBeGreaterThanOrEqual(4.5);
	});

	test("lines have a contrast of 3:1", () => {
		for (const line of [...SERIES[theme], grey])
			for (const behind of [page, band]) expect(contrast(line, behind)).toBeGreaterThanOrEqual(3);
	});

	test("heat goes one way in lightness, in steps that are alike, and one message is seen", () => {
		const steps = HEAT[theme].map(lightness);
		const ways = steps.slice(1).map((l, i) => l - (steps[i] as number));
		const way = theme === "light" ? -1 : 1;
		for (const step of ways) {
			expect(step * way).toBeGreaterThan(3);
			expect(step * way).toBeLessThan(10);
		}
		expect(contrast(HEAT[theme][0] as string, page)).toBeGreaterThan(1.5);
	});
});

test("systems are told apart by dashes as well, and a ninth has a colour too", () => {
	expect(dashesOf(0)).toEqual([]);
	const six = [0, 1, 2, 3, 4, 5].map((dash) => dashesOf(dash).join(" "));
	expect(new Set(six).size).toBe(6);
	expect(colourOf(8, "light")).toBe(colourOf(0, "light"));
	expect(colourOf(-1, "dark")).toBe(COLOURS.dark.grey);
});

/** WCAG 2. */
function contrast(a: string, b: string): number {
	const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
	return (high + 0.05) / (low + 0.05);
}

function luminance(hex: string): number {
	const [r, g, b] = [1, 3, 5].map((at) => {
		const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
		return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	}) as [number, number, number];
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** L* of CIELAB, 0 .. 100. */
function lightness(hex: string): number {
	return 116 * Math.cbrt(luminance(hex)) - 16;
}
