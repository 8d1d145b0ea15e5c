import { describe, expect, test } from "vitest";
import { depthOf, extentOf, onAxis, percentText, valueAxis, xAxis } from "./axes.ts";
import type { Axis, Datum, Figure, Unit } from "./figure.ts";
import type { Part } from "./head.ts";
import { unitText } from "./units.ts";

const view = {
	theme: "light" as const,
	width: 720,
	height: 300,
	logarithmic: null,
	off: new Set<string>(),
};

function axisOf(x: Partial<Axis>, data: readonly Datum[] = []) {
	const series = { key: "k", name: "k", group: "k", color: 0, dash: 0, thin: false, data };
	const drawn = { ...series, draw: "line" } as const;
	const figure: Figure = {
		...{ id: "f", title: "T", facts: "F", spans: [] },
		layout: "stack",
		x: { scale: "seconds", title: "", unit: null, names: null, from: 0, to: 0, step: 0, ...x },
		panels: [{ title: "", unit: "ns", log: null, limits: [], series: [drawn] }],
	};
	return xAxis(figure, 0, view) as {
		interval?: number;
		type: string;
		min: number;
		max: number;
		axisLabel: { customValues?: number[]; formatter: (value: number) => string };
	};
}

function ticksOf(axis: Part): number[] {
	const { max, interval, axisLabel } = axis as {
		max: number;
		interval?: number;
		axisLabel: { customValues?: number[] };
	};
	if (axisLabel.customValues !== undefined) return axisLabel.customValues;
	const step = interval ?? 0;
	return Array.from({ length: Math.round(max / step) + 1 }, (_, i) => i * step);
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
	const extent = { min: 0, max: value, logarithmic: false };
	const { axisLabel } = valueAxis(0, unit, extent, { view, height: 300 }) as {
		axisLabel: { formatter: (value: number) => string };
	};
	expect(axisLabel.formatter(value)).toBe(text);
});

describe("the ticks of values", () => {
	const axis = (unit: Unit, values: readonly number[], logarithmic: boolean | null = false) =>
		valueAxis(0, unit, extentOf(values, logarithmic), { view, height: 180 });

	test.each([300, 5000, 70_000, 16 * 2 ** 20, 3e9])(
		"of bytes up to %d are multiples of a power of two, with the texts of readings",
		(high) => {
			const ticks = ticksOf(axis("bytes", [high]));
			const step = ticks[1] ?? 0;
			expect(Number.isInteger(Math.log2(step))).toBe(true);
			expect(ticks.length).toBeLessThanOrEqual(6);
			const { formatter } = axis("bytes", [high]).axisLabel as {
				formatter: (value: number) => string;
			};
			for (const tick of ticks) {
				expect(formatter(tick)).toBe(unitText("bytes", tick));
				expect(formatter(tick)).toMatch(/^\d+(\.\d+)?([KMGT]i)?B$/);
			}
			expect(new Set(ticks.map(formatter)).size).toBe(ticks.length);
		},
	);

	test.each([7, 99, 12_345, 0.4, 3e8])(
		"up to %d are 1, 2 or 5 times a power of ten, and few",
		(high) => {
			const ticks = ticksOf(axis("ns", [high]));
			const digit = Number((ticks[1] ?? 0).toExponential().split("e")[0]);
			expect([1, 2, 5]).toContain(digit);
			expect(ticks.length).toBeGreaterThan(2);
			expect(ticks.length).toBeLessThanOrEqual(6);
			expect(ticks.at(-1)).toBeGreaterThanOrEqual(high);
		},
	);

	test("of messages are whole", () => {
		expect(ticksOf(axis("messages", [1]))).toEqual([0, 1, 2]);
	});

	test.each([
		[2e6, 4e7],
		[100, 1e10],
		[5, 500],
	])("of a logarithmic axis from %d to %d stand within it, and are few", (low, high) => {
		const extent = extentOf([low, high], true);
		const ticks = ticksOf(axis("ns", [low, high], true));
		expect(ticks.length).toBeGreaterThan(1);
		expect(ticks.length).toBeLessThanOrEqual(6);
		for (const tick of ticks) {
			expect(tick).toBeGreaterThanOrEqual(extent.min);
			expect(tick).toBeLessThanOrEqual(extent.max);
			expect(tick.toExponential()).toMatch(/^[1235]e/);
		}
	});
});

describe("the axis of percentiles", () => {
	test("writes each percentile as it is known", () => {
		for (const p of [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999])
			expect(percentText(depthOf(p))).toBe(`${p}%`);
	});

	test("ends where its curves end", () => {
		const { axisLabel } = axisOf({ scale: "nines" }, [{ x: 99.6, y: 1 }]);
		expect(axisLabel.customValues?.map(axisLabel.formatter)).toEqual(["0%", "50%", "90%", "99%"]);
	});
});

test("seconds of a long run are told in minutes, at whole ones", () => {
	const axis = (from: number, to: number) => axisOf({ from, to });
	expect(axis(0, 30).interval).toBeUndefined();
	expect(axis(0, 30).axisLabel.formatter(12)).toBe("12s");
	expect(axis(-60, 3600).interval).toBe(600);
	expect(axis(-60, 3600).axisLabel.formatter(600)).toBe("10min");
	expect(axis(-60, 7200).axisLabel.formatter(3600)).toBe("1h");
	expect(axis(-5.3, 30).axisLabel.formatter(-5.3)).toBe("");
});

test("on an axis of powers 0 stands at the bottom, and what was not measured nowhere", () => {
	const powers = extentOf([0, 1e3, 1e6], null);
	expect(powers.logarithmic).toBe(true);
	expect(onAxis(0, powers)).toBe(powers.min);
	expect(onAxis(1e6, powers)).toBe(1e6);
	expect(onAxis(null, powers)).toBeNull();
	expect(onAxis(0, extentOf([0, 5], null))).toBe(0);
});

test.each([
	["linear", [2000, 40_000], 0, 41_600, undefined],
	["log", [256, 1_048_576], 256 / 1.4, 1_048_576 * 1.4, [256, 1_048_576]],
] as const)("numbers stand on a %s axis, with room at its ends", (scale, xs, min, max, labels) => {
	const axis = axisOf(
		{ scale },
		xs.map((x) => ({ x, y: 1 })),
	);
	expect([axis.min, axis.max]).toEqual([min, max]);
	expect(axis.axisLabel.customValues).toEqual(labels);
});
