import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { metricSeries } from "./broker-metrics.ts";

const stored = collect(firstRun(fixture("healthy")));
const T0_MS = stored.t0Ms ?? 0;

/** The counter n grows by 2, 4, 6, ... and begins anew after `falls`; the gauge is -i. */
function series(seconds: number, { falls = -1, series = 2, show = ["n", "g?"] } = {}) {
	const samples = Array.from({ length: seconds + 1 }, (_, i) => ({
		unixMs: T0_MS + 1000 * i - 500,
		values: [i > falls && falls >= 0 ? i : i * (i + 1), -i],
	}));
	const names = Array.from({ length: series - 2 }, (_, i) => ({ name: `x${i}`, counter: false }));
	return metricSeries({
		...stored,
		brokerMetrics: {
			show,
			series: [{ name: 'n{a="{"}', counter: true }, { name: "g1", counter: false }, ...names],
			samples: new Map([
				[2, samples],
				[1, samples.slice(0, 1)],
			]),
		},
	});
}

describe("what the broker counted", () => {
	test("is growth per second for a counter, and the value else", () => {
		expect(series(3)).toEqual([
			{
				node: 2,
				at: [0.5, 1.5, 2.5],
				series: [
					{ name: 'n{a="{"}', counter: true, shown: true, values: [2, 4, 6] },
					{ name: "g1", counter: false, shown: true, values: [-1, -2, -3] },
				],
			},
		]);
	});

	test("is unknown, never negative, where a counter began anew", () => {
		expect(series(4, { falls: 2 })?.[0]?.series[0]?.values).toEqual([2, 4, null, 1]);
	});

	test("has in each stretch of a long run all of a counter, and the most of others", () => {
		const [node] = series(1000, { series: 500 }) ?? [];
		const { at = [], series: found = [] } = node ?? {};
		expect(at.length).toBeLessThanOrEqual(200);
		expect(at.at(-1)).toBe(999.5);
		const grown = found[0]?.values.map(
			(perSecond, i) => (perSecond ?? 0) * ((at[i] ?? 0) - (at[i - 1] ?? -0.5)),
		);
		expect(grown?.reduce((a, b) => a + b, 0)).toBeCloseTo(1000 * 1001, -1);
		expect(found[1]?.values[0]).toBe(-1);
		// Series without any value are none.
		expect(found).toHaveLength(2);
	});

	test("is nothing without a file, or with one look", () => {
		expect(metricSeries(stored)).toBeUndefined();
		expect(series(0)).toBeUndefined();
	});

	test("shows what was named, with or without labels", () => {
		const shown = (...show: string[]) => series(2, { show })?.[0]?.series.map((one) => one.shown);
		expect(shown("n")).toEqual([true, false]);
		expect(shown('n{a="{"}')).toEqual([true, false]);
		expect(shown("N", ".*", "")).toEqual([false, false]);
		expect(shown("*")).toEqual([true, true]);
	});
});
