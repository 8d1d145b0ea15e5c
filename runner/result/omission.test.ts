import { describe, expect, test } from "vitest";
import type { MetricSummary, Run } from "../model/result.ts";
import { hiddenText, mostHidden, omissionOf } from "./omission.ts";
import { fixtureResult } from "./stored.fake.ts";

const [stall] = fixtureResult("stall").runs;
if (stall === undefined) throw new Error("no run");

const metric = (values: Record<number, number | null>): MetricSummary => ({
	...(stall.metrics.response as MetricSummary),
	percentiles: Object.entries(values).map(([p, value]) => ({
		p: Number(p),
		value,
		low: value,
		high: null,
		support: value === null ? "none" : "ok",
		beyondTimeout: false,
		needs: 1,
		nEff: 1,
	})),
});
const run = (
	response: Record<number, number | null>,
	service: Record<number, number | null>,
	lag: Record<number, number | null> = {},
	behind: number | null = 0,
): Run => ({
	...stall,
	metrics: {
		...stall.metrics,
		response: metric(response),
		service: metric(service),
		lag: metric(lag),
	},
	omission: omissionOf(metric(response), metric(service), behind),
});

describe("what counting from the actual send would have hidden", () => {
	test("is the factor and the difference of response and service at each percentile", () => {
		expect(
			omissionOf(
				metric({ 50: 200, 99: 3e8, 99.9: null }),
				metric({ 50: 100, 99: 3e5, 99.9: 7 }),
				12,
			),
		).toEqual({
			percentiles: [
				{ p: 50, response: 200, service: 100, factor: 2, difference: 100 },
				{ p: 99, response: 3e8, service: 3e5, factor: 1000, difference: 3e8 - 3e5 },
				{ p: 99.9, response: null, service: 7, factor: null, difference: null },
			],
			behind: 12,
		});
		expect(omissionOf(null, null, 1)).toBeNull();
	});

	test("is one sentence, about p99 if that differs", () => {
		const found = run({ 50: 8e4, 99: 303e6, 99.9: 482e6 }, { 50: 8e4, 99: 3e5, 99.9: 1e5 });
		expect(hiddenText(found)).toBe(
			"Counting from the actual send, p99 would have been 300us instead of 303ms",
		);
	});

	test("is about the percentile that differs most, where p99 does not", () => {
		expect(
			mostHidden(run({ 90: 2e5, 99: 3e5, 99.9: 9e6 }, { 90: 1e5, 99: 2.9e5, 99.9: 1e6 })),
		).toBe(99.9);
	});

	test("is nothing where the values agree, or lag explains the difference", () => {
		expect(hiddenText(run({ 99: 1.4e6 }, { 99: 1e6 }))).toBeNull();
		expect(hiddenText(run({ 99: 100e6 }, { 99: 1e6 }, { 99: 98e6 }))).toBeNull();
		expect(hiddenText(run({ 99: null }, { 99: 1e6 }))).toBeNull();
		expect(hiddenText(stall)).toBeNull();
	});
});
