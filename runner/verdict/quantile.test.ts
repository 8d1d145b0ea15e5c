import { expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { factsOf, lagByClient, UNKNOWN } from "./facts.ts";
import { agreeing, percentileOf } from "./quantile.ts";

const of = (name: string) => factsOf(collect(firstRun(fixture(name))), UNKNOWN);

test("in a window below 10 s, without a limit as deep, nobody knows how samples cluster: weak, and no interval", () => {
	// 5 s; limits on response only, and nothing over them.
	for (const metric of ["response", "service", "lag"] as const)
		expect(percentileOf(of("healthy"), metric, 99)).toMatchObject({
			support: "weak",
			low: null,
			high: null,
			nEff: null,
			value: expect.any(Number),
		});
	// Here 281 are over a limit on response, in one event: those above p99 are known to come together.
	const known = percentileOf(of("lag"), "response", 99);
	expect(known.nEff).toBeLessThan(1000);
	expect(known.low).not.toBeNull();
});

test("from 10 s on every metric has an interval, from its seconds", () => {
	for (const metric of ["response", "service", "lag", "queued"] as const) {
		const { support, low, value, nEff } = percentileOf(of("stall"), metric, 50);
		expect(support).not.toBe("none");
		expect(low).toBeLessThanOrEqual(value ?? 0);
		expect(nEff).not.toBeNull();
	}
	expect(percentileOf(of("stall"), "service", 99).nEff).toBeLessThan(100);
});

test.each([
	["pass", 12, 8, null, 8, 20],
	["pass", 12, 8, 25, 8, 20],
	["pass", 12, 8, 15, 8, 15],
	// A bucket's edge may lie above the limit.
	["pass", 20.01, 18, 25, 18, 20.01],
	["fail", 25, 15, 30, 20, 30],
	["fail", 25, 22, null, 22, null],
	["inconclusive", 22, 21, 25, 20, 25],
	["inconclusive", 12, 8, 15, 8, 20],
	["inconclusive", 12, 8, null, 8, null],
] as const)(
	"the interval of a %s at 20 does not contradict it: %d in [%d, %d] has [%d, %d]",
	(verdict, value, low, high, newLow, newHigh) =>
		expect(agreeing({ value, low, high }, 20, verdict)).toEqual({
			value,
			low: newLow,
			high: newHigh,
		}),
);

test("a percentile without an interval gets none from its gate", () => {
	const none = { value: 12, low: null, high: null };
	expect(agreeing(none, 20, "pass")).toEqual(none);
});

test("lag of one of several clients is corrected for its own clustering", () => {
	const facts = of("clients");
	const effective = lagByClient(facts).map(({ merged, sample }) => {
		const lag = new Map([["lag", merged]]);
		return percentileOf({ ...facts, merged: lag }, "lag", 99, sample).nEff;
	});
	expect(effective).toEqual([2000, expect.closeTo(990, 0), 2000]);
});
