import { EXIT, type ExitCode } from "../errors.ts";
import type { Result } from "../model/result.ts";

/** Outcomes of `--on-inconclusive` for an undecided SLA. */
export const ON_INCONCLUSIVE = ["fail", "warn", "pass"] as const;
export type OnInconclusive = (typeof ON_INCONCLUSIVE)[number];

/** An undecided limit fails, because a longer run decides it; an undecided comparison warns, because mere noise leaves it open. */
export function exitCodeOf(
	result: Pick<Result, "verdict" | "errorCause" | "interruptedBy"> &
		Partial<Pick<Result, "openBaselineOnly">>,
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
