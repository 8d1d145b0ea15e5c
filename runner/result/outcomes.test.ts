import { expect, test } from "vitest";
import type { Result } from "../model/result.ts";
import { worst } from "../model/verdict.ts";
import { comparison, FIXTURES, search } from "../render/hostile.fake.ts";
import { brokenOf, outcomesOf } from "./outcomes.ts";
import { fixtureResult } from "./stored.fake.ts";

const built = (name: string) => fixtureResult(name);
const verdictOf = (result: Result) =>
	worst(
		outcomesOf(result)
			.filter((o) => o.decides)
			.map((o) => o.verdict),
	);

test.each(FIXTURES)("the worst outcome of %s is its verdict", (name) => {
	const result = built(name);
	expect(verdictOf(result)).toBe(result.verdict);
});

test("what a run says by itself stands beside gates that say less, and once", () => {
	const result = built("healthy");
	const [run] = result.runs;
	if (run === undefined) throw new Error("another fixture");
	run.why = "a queue grew without end";
	run.verdict = "fail";
	expect(brokenOf(result).map((o) => [o.what, o.verdict])).toEqual([["the run itself", "fail"]]);
	for (const gate of result.gates) gate.verdict = "fail";
	expect(brokenOf(result).map((o) => o.what)).toEqual(["p99 < 20ms", "lost == 0"]);
});

test("one repeat alone that did not carry the rate leaves it open, as the verdict has it", () => {
	const result = built("repeats");
	const grow = (index: number) => {
		const run = result.runs[index];
		if (run === undefined) throw new Error("another fixture");
		run.why = "a queue grew without end";
		run.verdict = "fail";
		run.validity.push({
			check: "steady",
			status: "fail",
			detail: "a queue grew without end",
			figure: null,
			limit: null,
			remedy: null,
		});
		for (const gate of result.gates) gate.verdict = "pass";
	};
	grow(0);
	expect(verdictOf(result)).toBe("inconclusive");
	grow(2);
	expect(verdictOf(result)).toBe("fail");
});

test("a comparison that is a gate is not told twice, and one that must not decide does not", () => {
	const result = built("healthy");
	const c = comparison();
	const [gate] = result.gates;
	if (gate === undefined) throw new Error("another fixture");
	result.gates = [{ ...gate, sla: "p99 <= baseline + 10%", verdict: "fail", comparison: c }];
	result.comparisons = [c, comparison({ metric: "ack p99", judged: false })];
	expect(outcomesOf(result).map((o) => [o.of.kind, o.decides])).toEqual([
		["gate", true],
		["comparison", false],
	]);
	expect(brokenOf(result)).toHaveLength(1);
});

test("a comparison that leaves open whether it is better, and is not worse, has passed", () => {
	const result = {
		...built("healthy"),
		comparisons: [comparison({ verdict: "inconclusive", notWorse: true })],
	};
	expect(brokenOf(result)).toEqual([]);
});

test("the worst stands first, and searches have the seconds of their own runs", () => {
	const result = built("repeats");
	const [run] = result.runs;
	if (run === undefined) throw new Error("another fixture");
	const runs = [{ ...run, index: 9, search: { of: "x" } as never }];
	const one = search({
		verdict: "fail",
		runs: [
			{
				index: 9,
				role: "probe",
				rate: 1,
				verdict: "fail",
				why: null,
				p50: null,
				p99: null,
				max: null,
			},
		],
	});
	const whole = { ...result, runs: [...result.runs, ...runs], searches: [one] };
	const broken = brokenOf(whole);
	expect(broken.map((o) => o.verdict)).toEqual(["fail", "inconclusive", "inconclusive"]);
	expect(broken[0]?.seconds).toBe((run.generator?.endNs ?? 0) / 1e9);
});
