import { expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { at, bySystemAndCase, maximum, medianRepeat, percentile, sizeOf } from "./select.ts";
import { fixtureResult } from "./stored.fake.ts";

const { runs } = fixtureResult("repeats");
const [lost] = fixtureResult("lost").runs as [Run];

test("repeats of a system and case are together, in the order of their first", () => {
	const groups = bySystemAndCase(runs);
	expect(groups.flatMap(({ all }) => all)).toHaveLength(runs.length);
	for (const group of groups) expect(at(group, runs)).toEqual(group.all);
	const hostile = bySystemAndCase([
		{ system: 'a","', case: "b" },
		{ system: "a", case: '","b' },
	]);
	expect(hostile).toHaveLength(2);
});

test("a percentile is the result's, with its interval and support", () => {
	for (const p of lost.metrics.response?.percentiles ?? []) {
		const found = percentile(lost, "response", p.p);
		// Of 5 000 messages 12 never completed: p99.99 is among them, however few samples it has.
		const isBeyond = p.p > 99.7;
		expect(found.why === "few-samples").toBe(p.support === "none" && !isBeyond);
		expect(found.atLeast ?? false).toBe(isBeyond);
		if (p.value !== null) expect(found).toMatchObject({ value: p.value, low: p.low, high: p.high });
		else if (p.beyondTimeout) expect(found.value).toBe(lost.load.timeoutNs);
	}
	expect(percentile(lost, "last", 99).why).toBe("not-measured");
	expect(percentile(lost, "response", 42).why).toBe("not-measured");
});

test("of a run that was stopped nobody knows how long its messages would have taken", () => {
	const stopped = { ...lost, state: "aborted" as const };
	const beyond = lost.metrics.response?.percentiles.find((p) => p.beyondTimeout);
	expect(percentile(stopped, "response", beyond?.p ?? 0).why).toBe("stopped");
	expect(maximum(stopped.metrics.response, stopped).why).toBe("stopped");
	expect(maximum(lost.metrics.response, lost)).toMatchObject({ atLeast: true });
});

test("the middle repeat is the higher of two, and one without a p99 is slower than any", () => {
	const [run] = runs as [Run];
	const repeat = (p99: number | null): Run => {
		const response = run.metrics.response;
		if (response === null) throw new Error("another fixture");
		const percentiles = response.percentiles.map((p) =>
			p.p === 99 ? { ...p, value: p99, beyondTimeout: p99 === null } : p,
		);
		return { ...run, metrics: { ...run.metrics, response: { ...response, percentiles } } };
	};
	const middleOf = (...values: (number | null)[]) => {
		const middle = medianRepeat(values.map(repeat));
		return middle && sizeOf(percentile(middle, "response", 99));
	};
	expect(middleOf(3, 1, 2)).toBe(2);
	expect(middleOf(1, 2)).toBe(2);
	expect(middleOf(1, null)).toBe(Number.POSITIVE_INFINITY);
	expect(middleOf(null, 1, 2)).toBe(2);
	expect(medianRepeat([])).toBeUndefined();
});
