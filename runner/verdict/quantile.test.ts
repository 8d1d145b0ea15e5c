import { expect, test } from "vitest";
import { collect } from "../run/collect.ts";
import { firstRun, fixture } from "../run/fixture.fake.ts";
import { factsOf, UNKNOWN } from "./facts.ts";
import { percentileOf } from "./quantile.ts";

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
