import { maskAll } from "../mask.ts";
import type { Result } from "../model/result.ts";
import { placed } from "../result/gates.ts";
import { brokenOf } from "../result/outcomes.ts";
import { type Bare, bareResult, bareSoFar, type Judged } from "../result/result.ts";
import { withBaseline } from "./baseline-gates.ts";

/**
 * The whole result, from the files in `folder` (`reports/<run-id>`) alone: the same folder gives the same bytes. Writes nothing.
 */
export function buildResult(folder: string): Result {
	return compared(folder, bareResult(folder));
}

/** What buildResult makes of `runs`, the first ones of a command that goes on. */
export function resultSoFar(folder: string, runs: readonly Judged[]): Result {
	return compared(folder, bareSoFar(folder, runs));
}

// --- internal ---

/** The result with its baseline, as it is written. */
function compared(folder: string, { result, runs, snapshot }: Bare): Result {
	const plans = runs.map((r) => r.collected.plan);
	const whole = withBaseline(result, plans, snapshot);
	return maskAll({ ...whole, cause: causeOf(whole), gates: placed(whole.gates, folder) });
}

/** machine: that explains all that failed. */
function causeOf(result: Result): Result["cause"] {
	const failed = brokenOf(result).filter(({ verdict }) => verdict === "fail");
	const causes = failed.map(({ of }) =>
		of.kind === "gate" ? of.gate.cause : of.kind === "run" ? of.run.cause : null,
	);
	const [cause = null] = causes;
	return result.verdict === "fail" && causes.every((one) => one === cause) ? cause : null;
}
