import { expect, test } from "vitest";
import type { View } from "../chart/old-figure.ts";
import { heightOf } from "../chart/options.ts";
import { pictureOf } from "../chart/picture.ts";
import { baselineWith } from "../compare/baseline.fake.ts";
import { comparingOf } from "../compare/comparing.ts";
import { intervalText, ratioOfText } from "../compare/words.ts";
import { ratioFigure, smallestText } from "./comparison.ts";

const side = (path: string, factor: number) => ({
	path,
	baseline: baselineWith({
		"response p50": [1e5, 1.1e5, 1.2e5, 1e5, 1e5],
		"response p99": [9e5, 8e5, 7e5, 9e5, 8e5].map((v) => v * factor),
	}),
});
const [other] = comparingOf(side("a", 1), [side("b", 1.6)]).others;
const comparisons = other?.comparisons ?? [];
const figure = ratioFigure("r", "nats", comparisons);

test("every ratio stands with its interval, in the words of the table", () => {
	expect(figure?.rows.map(({ name }) => name)).toEqual(comparisons.map(({ metric }) => metric));
	for (const [i, row] of (figure?.rows ?? []).entries()) {
		const c = comparisons[i];
		if (c === undefined) throw new Error("no comparison");
		expect([row.ratio, row.low, row.high]).toEqual([c.ratio, c.low, c.high]);
		expect(row.text).toContain(`${ratioOfText(c)} ${intervalText(c)}`);
	}
	expect(figure?.rows.map(({ look }) => look)).toContain("fail");
});

test("the smallest change that can be shown is half of the interval on a scale of ratios", () => {
	const [c] = comparisons;
	if (c === undefined) throw new Error("no comparison");
	expect(smallestText({ ...c, low: 1, high: 1.21 })).toContain("is 10 %");
	expect(smallestText({ ...c, low: 0.5, high: 2 })).toContain("is 100 %");
	expect(smallestText({ ...c, low: null, high: null })).toBeNull();
});

test("a bound that is not known has an arrow, and the picture names every figure", () => {
	if (figure === null) throw new Error("no figure");
	const drawn = (high: number | null) => {
		const rows = figure.rows.map((row) => ({ ...row, high }));
		const look = { theme: "light", width: 720, off: new Set<string>() } as const;
		const view = { ...look, logarithmic: null, alone: true };
		const height = heightOf({ ...figure, rows }, view);
		return pictureOf({ ...figure, rows }, { ...view, height } as View);
	};
	for (const { name, word } of figure.rows) {
		expect(drawn(2)).toContain(`>${name}<`);
		expect(drawn(2)).toContain(`>${word}<`);
	}
	expect(drawn(null)).not.toBe(drawn(2));
});
