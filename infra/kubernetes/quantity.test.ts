import { expect, test } from "vitest";
import { quantityOf } from "./quantity.ts";

test.each([
	["250m", 0.25],
	["2", 2],
	["1.5", 1.5],
	[".5", 0.5],
	["128Mi", 134_217_728],
	["16G", 16e9],
	["24612345Ki", 24_612_345 * 1024],
	["1e3", 1000],
	["100n", 1e-7],
	[4, 4],
])("%s is %s", (text, value) => {
	expect(quantityOf(text)).toBeCloseTo(value, 12);
});

test.each([undefined, "", "2 cores", "1Zi", "m"])("%s is no quantity", (text) => {
	expect(quantityOf(text)).toBeNull();
});
