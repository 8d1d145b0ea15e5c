import { EXIT, type ExitCode } from "../errors.ts";
import type { Verdict } from "../model/verdict.ts";

/** Outcomes of `--on-inconclusive` for an undecided SLA. */
export const ON_INCONCLUSIVE = ["fail", "warn", "pass"] as const;
export type OnInconclusive = (typeof ON_INCONCLUSIVE)[number];
/** "internal" is a bug of mqbench; "scenario" one that asks for too much. */
export type ErrorCause = "internal" | "environment" | "scenario";

/** An undecided limit fails, because a longer run decides it; an undecided comparison warns, because noise alone leaves it open. */
export function exitCodeOf(
	result: {
		readonly verdict: Verdict;
		readonly errorCause: ErrorCause | null;
		/** "SIGINT" */
		readonly interruptedBy: string | null;
		/** Only comparisons with a baseline are undecided. */
		readonly openBaselineOnly?: boolean | undefined;
	},
	onInconclusive?: OnInconclusive,
): ExitCode {
	// A bug outranks even an interruption.
	if (result.errorCause === "internal") return EXIT.internal;
	switch (result.verdict) {
		case "interrupted":
			return result.interruptedBy === "SIGTERM" ? EXIT.terminated : EXIT.interrupted;
		case "error":
			return result.errorCause === "scenario" ? EXIT.usage : EXIT.environment;
		case "invalid":
			return EXIT.invalid;
		case "fail":
			return EXIT.fail;
		case "inconclusive":
			onInconclusive ??= result.openBaselineOnly ? "warn" : "fail";
			return onInconclusive === "fail" ? EXIT.inconclusive : EXIT.pass;
		case "pass":
			return EXIT.pass;
	}
}
