import { expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { check, FIXTURES, search, step } from "../render/hostile.fake.ts";
import { brokenOf, judge, outcomesOf, verdictAt } from "./outcomes.ts";
import { readResult } from "./result-files.ts";
import { fixtureResult, publishedFolder } from "./stored.fake.ts";

const built = (name: string) => fixtureResult(name);
const verdictOf = (result: Result) => judge(result).verdict;

test.each([
	...[...FIXTURES, "clients", "failover"].map((name) => [name, () => built(name)] as const),
	...["nats-stall", "commit-log-latency", "dissecting-message-queues", "message-queue-latency"].map(
		(name) => [name, () => readResult(publishedFolder(name))] as const,
	),
])("the verdict of %s is what its outcomes come to, cell by cell too", (_, read) => {
	const result = read();
	const { verdict, cause, openBaselineOnly } = result;
	expect(judge(result)).toEqual({ verdict, cause, openBaselineOnly });
	const all = outcomesOf(result);
	for (const { system, case: name } of result.runs) {
		const own = <T extends { system: string; case: string }>(some: readonly T[]) =>
			some.filter((one) => one.system === system && one.case === name);
		const only = {
			...result,
			runs: own(result.runs),
			gates: own(result.gates),
			searches: [],
			comparisons: own(result.comparisons),
		};
		expect(verdictAt({ system, case: name }, all)).toBe(judge(only).verdict);
	}
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
		run.validity.push(check("steady", "fail"));
		for (const gate of result.gates) gate.verdict = "pass";
	};
	const [{ system, case: name }] = result.runs as [Run];
	const shown = () => verdictAt({ system, case: name }, outcomesOf(result));
	grow(0);
	expect([verdictOf(result), shown()]).toEqual(["inconclusive", "inconclusive"]);
	grow(2);
	expect([verdictOf(result), shown()]).toEqual(["fail", "fail"]);
});

test("nothing but comparisons is open only where no run is", () => {
	const result = built("healthy");
	const [gate] = result.gates;
	const [run] = result.runs;
	if (gate === undefined || run === undefined) throw new Error("another fixture");
	const compared = { ...gate, verdict: "inconclusive" as const, compares: true };
	result.gates = [gate, compared];
	expect(judge(result)).toMatchObject({ verdict: "inconclusive", openBaselineOnly: true });
	result.gates = [{ ...gate, verdict: "inconclusive" }, compared];
	expect(judge(result).openBaselineOnly).toBe(false);
	result.gates = [compared];
	run.why = "no line counts what never completed";
	run.verdict = "inconclusive";
	expect(judge(result)).toMatchObject({ verdict: "inconclusive", openBaselineOnly: false });
	expect(brokenOf(result).map((o) => o.what)).toEqual([gate.sla, "the run itself"]);
});

test("the machine is the cause only where it explains all that failed", () => {
	const result = built("stall");
	const [gate] = result.gates;
	if (gate === undefined) throw new Error("another fixture");
	result.gates = [{ ...gate, cause: "machine" }];
	expect(judge(result).cause).toBe("machine");
	result.gates = [...result.gates, { ...gate, cause: null }];
	expect(judge(result).cause).toBeNull();
});

test("the worst stands first, and searches have runs of their own", () => {
	const result = built("repeats");
	const [run] = result.runs;
	if (run === undefined) throw new Error("another fixture");
	const runs = [{ ...run, index: 9, search: { of: "x" } as never }];
	const one = search({
		verdict: "fail",
		runs: [step()],
	});
	const whole = { ...result, runs: [...result.runs, ...runs], searches: [one] };
	const broken = brokenOf(whole);
	expect(broken.map((o) => o.verdict)).toEqual(["fail", "inconclusive", "inconclusive"]);
	expect(broken[0]?.runs).toEqual(runs);
});
