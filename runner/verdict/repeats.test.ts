import { expect, test } from "vitest";
import type { Verdict } from "../model/verdict.ts";
import { type Judgement, NO_NUMBERS } from "./judgement.ts";
import { overRepeats } from "./repeats.ts";

const repeat = (verdict: Verdict, i: number): Judgement => ({
	...NO_NUMBERS,
	sla: "p99 < 1ms",
	limit: "1ms",
	verdict,
	measured: `${i}`,
	why: `of repeat ${i}`,
	code: "max-broken",
	values: {},
});

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
	const { why, deciding } = overRepeats(
		(["pass", "fail", "pass"] as const).map(repeat),
	);
	expect(why).toBe("1 FAIL, 2 PASS of 3 repeats; of repeat 1");
	expect(deciding.measured).toBe("1");
});

test("of one repeat is its own sentence", () => {
	expect(overRepeats([repeat("fail", 0)]).why).toBe("of repeat 0");
});

test("repeats that --confirm has added count like the others, and are named", () => {
	const all = (["fail", "pass", "pass"] as const).map(repeat);
	expect(overRepeats(all, 2)).toMatchObject({
		verdict: "inconclusive",
		why: "1 FAIL, 2 PASS of 3 repeats (2 of them confirming); of repeat 0",
	});
	expect(overRepeats(all).why).not.toContain("confirming");
});
