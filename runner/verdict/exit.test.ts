import { describe, expect, test } from "vitest";
import { exitCodeOf } from "./exit.ts";

const of = (
	verdict: Parameters<typeof exitCodeOf>[0]["verdict"],
	errorCause: Parameters<typeof exitCodeOf>[0]["errorCause"] = null,
	interruptedBy: string | null = null,
) => ({ verdict, errorCause, interruptedBy });

test.each([
	[of("pass"), 0],
	[of("fail"), 99],
	[of("inconclusive"), 6],
	[of("invalid"), 4],
	[of("error", "environment"), 3],
	[of("error", "scenario"), 2],
	[of("error", "internal"), 1],
	[of("interrupted", null, "SIGINT"), 130],
	[of("interrupted", null, "SIGTERM"), 143],
	[of("interrupted", null, null), 130],
	// 1 goes before 130, 130 before 3.
	[of("interrupted", "internal", "SIGINT"), 1],
	[of("interrupted", "environment", "SIGINT"), 130],
])("%j exits with %d", (result, code) => {
	expect(exitCodeOf(result)).toBe(code);
});

test("--on-inconclusive warn and pass let an undecided SLA through, and nothing else", () => {
	for (const choice of ["warn", "pass"] as const) {
		expect(exitCodeOf(of("inconclusive"), choice)).toBe(0);
		expect(exitCodeOf(of("fail"), choice)).toBe(99);
		expect(exitCodeOf(of("invalid"), choice)).toBe(4);
	}
});

describe("an undecided comparison with a baseline", () => {
	const open = { ...of("inconclusive"), openBaselineOnly: true };

	test("lets the build through by default; --on-inconclusive rules it as it rules limits", () => {
		expect(exitCodeOf(open)).toBe(0);
		expect(exitCodeOf(open, "fail")).toBe(6);
		expect(exitCodeOf(open, "warn")).toBe(0);
		expect(exitCodeOf(open, "pass")).toBe(0);
	});

	test("hides nothing else", () => {
		for (const [verdict, code] of [
			["fail", 99],
			["invalid", 4],
		] as const)
			expect(exitCodeOf({ ...of(verdict), openBaselineOnly: true })).toBe(code);
		expect(exitCodeOf({ ...open, openBaselineOnly: false })).toBe(6);
	});
});
