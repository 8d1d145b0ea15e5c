import { EXIT, type ExitCode } from "../errors.ts";
import type { Verdict } from "../model/verdict.ts";

/** What `--on-inconclusive` says an undecided SLA is to be. */
export const ON_INCONCLUSIVE = ["fail", "warn", "pass"] as const;
export type OnInconclusive = (typeof ON_INCONCLUSIVE)[number];

/** Why a verdict is "error": a bug of mqbench, something around it, or a scenario that asks for too much. */
export type ErrorCause = "internal" | "environment" | "scenario";

/**
 * The exit code of a result. An undecided limit fails (6): mostly too few messages, which a longer run mends. An undecided comparison does not
 * (0, with a warning): it is open whenever the machine was noisy, and a build that fails for that is soon switched off. --on-inconclusive
 * rules both.
 */
export function exitCodeOf(
	result: {
		readonly verdict: Verdict;
		readonly errorCause: ErrorCause | null;
		/** Name of the signal, "SIGINT". */
		readonly interruptedBy: string | null;
		/** Nothing but comparisons with a baseline is undecided. */
		readonly openBaselineOnly?: boolean | undefined;
	},
	onInconclusive?: OnInconclusive,
): ExitCode {
	// A bug of ours outranks even an interruption.
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
