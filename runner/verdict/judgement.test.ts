import { expect, test } from "vitest";
import type { Verdict } from "../model/verdict.ts";
import { type Judgement, NO_NUMBERS, overRepeats } from "./judgement.ts";

const repeat = (verdict: Verdict, i: number): readonly [number, Judgement] => [
	i + 1,
	{
		...NO_NUMBERS,
		sla: "p99 < 1ms",
		limit: "1ms",
		verdict,
		measured: `${i + 1}`,
		why: `why of ${i + 1}`,
		code: "late-messages",
		values: {},
	},
];

test.each<[Verdict[], Verdict]>([
	[["pass"], "pass"],
	[["fail"], "fail"],
	[["inconclusive"], "inconclusive"],
	[["fail", "pass"], "inconclusive"],
	[["fail", "fail"], "fail"],
	[["pass", "inconclusive"], "pass"],
	[["inconclusive", "inconclusive"], "inconclusive"],
	[["pass", "pass", "fail"], "inconclusive"],
	[["pass", "fail", "fail"], "fail"],
	[["pass", "inconclusive", "inconclusive"], "inconclusive"],
	[["pass", "pass", "inconclusive"], "pass"],
	[["pass", "pass", "invalid"], "invalid"],
	[["fail", "fail", "invalid"], "invalid"],
	[["invalid", "error"], "error"],
	[["error", "interrupted"], "interrupted"],
])("%j over repeats is %s", (verdicts, expected) => {
	expect(overRepeats(verdicts.map(repeat)).verdict).toBe(expected);
});

test("says how many were what, and why the worst one is", () => {
	const { why, deciding } = overRepeats((["pass", "fail", "pass"] as const).map(repeat));
	expect(why).toBe("1 FAIL, 2 PASS of 3 repeats; the worst, repeat 2: why of 2");
	expect(deciding.measured).toBe("2");
});

test("speaks of the repeat furthest from the limit among those with the worst verdict", () => {
	const all = (["pass", "fail", "invalid", "invalid"] as const).map((verdict, i) => {
		const [number, judgement] = repeat(verdict, i);
		// The FAIL is worse than either, and decides nothing.
		return [number, { ...judgement, margin: [2, 0.01, 0.5, 0.1][i] ?? null }] as const;
	});
	const { why, deciding } = overRepeats(all);
	expect(deciding.measured).toBe("4");
	expect(why).toBe("2 INVALID, 1 FAIL, 1 PASS of 4 repeats; the worst, repeat 4: why of 4");
});

test("of one repeat is its own sentence", () => {
	expect(overRepeats([repeat("fail", 0)]).why).toBe("why of 1");
});

test("repeats that --confirm has added count like the others, and are named", () => {
	const all = (["fail", "pass", "pass"] as const).map(repeat);
	expect(overRepeats(all, 2)).toMatchObject({
		verdict: "inconclusive",
		why: "1 FAIL, 2 PASS of 3 repeats (2 of them confirming); the worst, repeat 1: why of 1",
	});
	expect(overRepeats(all).why).not.toContain("confirming");
});

test("of times that had not ended takes what they were at least", () => {
	const took = (value: number | null, beyondNs: number | null, i: number) =>
		[
			i + 1,
			{
				...repeat("fail", i)[1],
				beyondNs,
				tally: { name: "recovered", value, limit: 1e9, unit: "ns" as const },
			},
		] as const;
	const of = (...all: [number | null, number | null][]) =>
		overRepeats(all.map(([value, beyond], i) => took(value, beyond, i))).deciding.measured;
	expect(of([3e9, null], [null, 5e9], [4e9, null])).toBe("2");
	expect(of([3e9, null], [null, 2e9])).toBe("1");
});
