import type { Cause } from "../model/result.ts";
import { type Verdict, worst } from "../model/verdict.ts";
import { type Said, said, type Values } from "../text/say.ts";
import type { CheckResult } from "./checks/check.ts";
import { machinesOf } from "./checks/machine.ts";
import { onlySome } from "./checks/run.ts";
import { checked, results } from "./checks.ts";
import { AFTER_CHECKS, excused } from "./excuses.ts";
import type { Facts } from "./facts.ts";
import { judged, lineOf } from "./judge.ts";
import { because, type Judgement, LATENESS, NO_NUMBERS } from "./judgement.ts";
import { saturationOf } from "./saturation.ts";

/** The verdict on one run. */
export interface RunVerdict {
	readonly verdict: Verdict;
	/** machine: a saturated machine explains every line that FAILs, and a queue that grew. */
	readonly cause: Cause | null;
	/** What decided when it was not the SLA; null otherwise. */
	readonly why: string | null;
	readonly code: string | null;
	readonly values: Values | null;
	readonly judgements: readonly Judgement[];
	readonly checks: readonly CheckResult[];
}

/** Why a run did not pass: what decided, or the first SLA line that it did not meet; null: it passed. */
export function reasonOf({
	why,
	judgements,
}: Pick<RunVerdict, "why" | "judgements">): string | null {
	const broken = judgements.find((j) => j.verdict !== "pass");
	return why ?? (broken === undefined ? null : `${broken.sla}: ${broken.why}`);
}

/**
 * Judges a run: every SLA line, then whether the measurement is to be trusted. When it is not, no gate of the run
 * stands, be it PASS or FAIL; only lag and what the client library held are judged gate by gate.
 */
export function judgeRun(facts: Facts): RunVerdict {
	const { state, problem, plan } = facts.collected;
	const lines = plan.sla.map((sla) => lineOf(sla, facts));
	const measured = lines.map(judged);
	const checks = state === "never" ? [] : checked(facts, measured);
	const stopped = (text: string) => said("stopped", text);
	const overruled = (verdict: Verdict, said: Said): RunVerdict => ({
		verdict,
		cause: null,
		...because(said),
		judgements: measured.map((j) => ({
			...j,
			// Counts of a run that broke off would stand against messages that nobody has sent.
			...(verdict === "invalid" && state !== "crashed" ? {} : NO_NUMBERS),
			verdict,
			...because(said),
			excuse: null,
			cause: null,
		})),
		checks: results(checks),
	});
	const bad = checks.find((c) => c.status === "error");
	if (state === "interrupted") return overruled("interrupted", stopped(problem ?? "stopped"));
	if (onlySome(facts.collected)) {
		const clients = checks.find((c) => c.check === "clients");
		return overruled("invalid", clients ?? stopped(problem ?? state));
	}
	if (state !== "complete" && state !== "aborted")
		return overruled("error", stopped(problem ?? state));
	if (bad) return overruled("error", bad);

	const byGate = measured.flatMap(({ excuse }) =>
		excuse === null ? [] : LATENESS.includes(excuse) ? "lag" : excuse,
	);
	const invalid = checks.find(
		(c) => c.status === "invalid" && ![...byGate, "cores"].includes(c.check),
	);
	if (invalid) return overruled("invalid", invalid);
	const grew = checks.find((c) => c.status === "fail");
	const judgements = lines.map((line, i) =>
		excused(line, AFTER_CHECKS, measured[i], grew !== undefined),
	);
	const verdicts = judgements.map((j) => j.verdict);
	// A breached SLA says more, and over repeats it is for the gate to weigh it.
	const open = ["pass", "inconclusive"].includes(worst(verdicts))
		? checks.find((c) => c.status === "inconclusive")
		: undefined;
	if (open) verdicts.push("inconclusive");
	const saturated = machinesOf(facts).some(
		(machine) => (saturationOf(machine, facts)?.share ?? 0) > 0.5,
	);
	const failed = judgements.filter((j) => j.verdict === "fail");
	if (grew) verdicts.push(saturated && plan.strict ? "invalid" : "fail");
	const complete = state === "aborted" && checks.find((c) => c.check === "complete");
	const decided = grew ?? open ?? (complete || null);
	const verdict = worst(verdicts);
	const explained = failed.every((j) => j.cause) && (!grew || saturated);
	return {
		verdict,
		cause: verdict === "fail" && explained ? "machine" : null,
		...(decided ? because(decided) : { why: null, code: null, values: null }),
		judgements,
		checks: results(checks),
	};
}
