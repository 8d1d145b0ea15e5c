import { describe, expect, test } from "vitest";
import { formatIn, type Unit } from "../units.ts";
import { depthOf, extentOf, onAxis, percentText } from "./axes.ts";
import { figureOf } from "./figure.fake.ts";
import type { Axis, Datum } from "./figure.ts";
import { firstView, optionOf } from "./option.ts";

interface Drawn {
	readonly interval?: number;
	readonly min: number;
	readonly max: number;
	readonly axisLabel: {
		readonly customValues?: number[];
		readonly formatter: (value: number) => string;
	};
}

function xAxisOf(x: Partial<Axis>, data: readonly Datum[] = []): Drawn {
	const figure = figureOf(x, data);
	return (optionOf(figure, firstView(figure, "light")).xAxis as Drawn[])[0] as Drawn;
}

function yAxisOf(unit: Unit, values: readonly number[], log: boolean | null = false): Drawn {
	const data = values.map((y, x) => ({ x, y }));
	const figure = figureOf({}, data, { panel: { unit, log } });
	return (optionOf(figure, firstView(figure, "light")).yAxis as Drawn[])[0] as Drawn;
}

function ticksOf({ max, interval = 0 }: Drawn): number[] {
	return Array.from({ length: Math.round(max / interval) + 1 }, (_, i) => i * interval);
}

describe("the extent of an axis", () => {
	test("begins at 0, or is logarithmic where values span more than a factor of 20", () => {
		expect(extentOf([1, 20], null)).toMatchObject({ min: 0, logarithmic: false });
		expect(extentOf([1, 20.1], null).logarithmic).toBe(true);
		expect(extentOf([1, 1000], false)).toMatchObject({ min: 0 });
	});

	test("holds every value, has room above, and needs none", () => {
		for (const values of [[3], [1, 5, 9], [0.001, 1e9], [0, 7]]) {
			for (const logarithmic of [null, true, false]) {
				const { min, max } = extentOf(values, logarithmic);
				for (const value of values.filter((v) => v > 0)) {
					expect(min).toBeLessThan(value);
					expect(max).toBeGreaterThan(value);
				}
			}
		}
		expect(extentOf([], null)).toEqual({ min: 0, max: 1.08, logarithmic: false });
		expect(extentOf([0, 0], true).logarithmic).toBe(false);
	});
});

test.each([
	["messages/s", 2_500_000, "2.5M/s"],
	["messages/s", 999_000, "999 000/s"],
	["messages", 102_500_000, "102.5M"],
	["ns", 2_500_000, "2.5ms"],
] as const)("a label of %s %d is %s, with every digit", (unit, value, text) => {
	expect(yAxisOf(unit, [value]).axisLabel.formatter(value)).toBe(text);
});

describe("the ticks of values", () => {
	test.each([300, 5000, 70_000, 16 * 2 ** 20, 3e9])(
		"of bytes up to %d are multiples of a power of two, with the texts of readings",
		(high) => {
			const axis = yAxisOf("bytes", [high]);
			const ticks = ticksOf(axis);
			expect(Number.isInteger(Math.log2(ticks[1] ?? 0))).toBe(true);
			expect(ticks.length).toBeLessThanOrEqual(6);
			const texts = ticks.map(axis.axisLabel.formatter);
			expect(texts).toEqual(ticks.map((tick) => formatIn("bytes", tick)));
			for (const text of texts) expect(text).toMatch(/^\d+(\.\d+)?([KMGT]i)?B$/);
			expect(new Set(texts).size).toBe(ticks.length);
		},
	);

	test.each([7, 99, 12_345, 0.4, 3e8])(
		"up to %d are 1, 2 or 5 times a power of ten, and few",
		(high) => {
			const ticks = ticksOf(yAxisOf("ns", [high]));
			const digit = Number((ticks[1] ?? 0).toExponential().split("e")[0]);
			expect([1, 2, 5]).toContain(digit);
			expect(ticks.length).toBeGreaterThan(2);
			expect(ticks.length).toBeLessThanOrEqual(6);
			expect(ticks.at(-1)).toBeGreaterThanOrEqual(high);
		},
	);

	test("of messages are whole", () => {
		expect(ticksOf(yAxisOf("messages", [1]))).toEqual([0, 1, 2]);
	});

	test.each([
		[2e6, 4e7, 1e6, 5e7],
		[100, 1e10, 50, 2e10],
		[5, 500, 2, 1000],
	])(
		"of a logarithmic axis from %d to %d begin and end with 1, 2 or 5 times a power of ten",
		(low, high, min, max) => {
			const axis = yAxisOf("ns", [low, high], true);
			expect([axis.min, axis.max]).toEqual([min, max]);
		},
	);
});

test("percentiles are written as they are known, as far as the curves go", () => {
	for (const p of [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999])
		expect(percentText(depthOf(p))).toBe(`${p}%`);
	const { axisLabel } = xAxisOf({ scale: "nines" }, [{ x: 99.6, y: 1 }]);
	expect(axisLabel.customValues?.map(axisLabel.formatter)).toEqual(["0%", "50%", "90%", "99%"]);
});

test("seconds of a long run are told in minutes, at whole ones", () => {
	const label = (from: number, to: number, second: number) =>
		xAxisOf({ from, to }).axisLabel.formatter(second);
	expect(xAxisOf({ from: 0, to: 30 }).interval).toBeUndefined();
	expect(xAxisOf({ from: -60, to: 3600 }).interval).toBe(600);
	expect(label(0, 30, 12)).toBe("12s");
	expect(label(-60, 3600, 600)).toBe("10min");
	expect(label(-5.3, 30, -5.3)).toBe("");
});

test.each([
	["linear", [2000, 40_000], 0, 41_600, undefined],
	["log", [256, 1_048_576], 256 / 1.4, 1_048_576 * 1.4, [256, 1_048_576]],
] as const)("numbers stand on a %s axis, with room at its ends", (scale, xs, min, max, labels) => {
	const axis = xAxisOf(
		{ scale },
		xs.map((x) => ({ x, y: 1 })),
	);
	expect([axis.min, axis.max, axis.axisLabel.customValues]).toEqual([min, max, labels]);
});

test("on an axis of powers 0 stands at the bottom, and what was not measured nowhere", () => {
	const powers = extentOf([0, 1e3, 1e6], null);
	expect(powers.logarithmic).toBe(true);
	expect(onAxis(0, powers)).toBe(powers.min);
	expect(onAxis(1e6, powers)).toBe(1e6);
	expect(onAxis(null, powers)).toBeNull();
	expect(onAxis(0, extentOf([0, 5], null))).toBe(0);
});
