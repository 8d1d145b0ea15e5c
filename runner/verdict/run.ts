import { type Verdict, worst } from "../model/verdict.ts";
import { type Said, said } from "../text/say.ts";
import { onlySome } from "./checks/run.ts";
import { type Checked, checked } from "./checks.ts";
import { AFTER_CHECKS, excused } from "./excuses.ts";
import type { Facts } from "./facts.ts";
import { judged, lineOf } from "./judge.ts";
import { because, causeOf, type Judgement, NO_NUMBERS } from "./judgement.ts";
import { saturationsOf } from "./saturation.ts";

export type RunVerdict = ReturnType<typeof judgeRun>;

/** The reason that decided, or the first SLA line not met; null if the run passed. */
export function reasonOf({
	why,
	judgements,
}: Pick<RunVerdict, "why"> & {
	readonly judgements: readonly Pick<Judgement, "verdict" | "sla" | "why">[];
}): string | null {
	const broken = judgements.find((j) => j.verdict !== "pass");
	return why ?? (broken === undefined ? null : `${broken.sla}: ${broken.why}`);
}

/** If the measurement cannot be trusted, no gate stands; only lag and client-library buffering are judged gate by gate. */
export function judgeRun(facts: Facts) {
	const { state, problem, plan } = facts.collected;
	const lines = plan.sla.map((sla) => lineOf(sla, facts));
	const measured = lines.map(judged);
	const checks = state === "never" ? [] : checked(facts, measured);
	const first = (is: (check: Checked) => boolean): Said | undefined => {
		const found = checks.find(is);
		return found && { ...found, text: found.detail };
	};
	const withStatus = (status: Checked["status"]) => first((c) => c.status === status);
	const overruled = (verdict: Verdict, said: Said) => ({
		verdict,
		cause: null,
		...because(said),
		judgements: measured.map((j) => ({
			...j,
			// Counts of a broken-off run would be held against messages never sent.
			...(verdict === "invalid" && state !== "crashed" ? {} : NO_NUMBERS),
			verdict,
			...because(said),
			check: null,
			cause: null,
		})),
		checks,
	});
	const stopped = said("stopped", problem ?? (state === "interrupted" ? "stopped" : state));
	if (state === "interrupted") return overruled("interrupted", stopped);
	if (onlySome(facts.collected))
		return overruled("invalid", first((c) => c.check === "clients") ?? stopped);
	if (state !== "complete" && state !== "aborted") return overruled("error", stopped);
	const bad = withStatus("error");
	if (bad) return overruled("error", bad);
	// The lines themselves report their reasons.
	const byLine = [...measured.map((j) => j.check), "cores"];
	const invalid = first((c) => c.status === "invalid" && !byLine.includes(c.check));
	if (invalid) return overruled("invalid", invalid);

	// Second phase: reasons that leave lines open in a trusted run.
	const grew = withStatus("fail");
	const judgements = lines.map((line, i) =>
		excused(line, AFTER_CHECKS, measured[i], grew !== undefined),
	);
	const verdicts = judgements.map((j) => j.verdict);
	// A breached SLA is more informative, and across repeats the gate weighs it.
	const open = ["pass", "inconclusive"].includes(worst(verdicts))
		? withStatus("inconclusive")
		: undefined;
	const saturated = saturationsOf(facts).some(({ share }) => share > 0.5);
	const verdict = worst([
		...verdicts,
		...(open ? (["inconclusive"] as const) : []),
		...(grew ? ([saturated && plan.strict ? "invalid" : "fail"] as const) : []),
	]);
	const aborted = state === "aborted" ? first((c) => c.check === "complete") : undefined;
	const decided = grew ?? open ?? aborted;
	const queue = grew ? [{ verdict: "fail", cause: saturated ? "machine" : null } as const] : [];
	return {
		verdict,
		/** What explains every FAIL, and a queue that grew. */
		cause: causeOf(verdict, [...judgements, ...queue]),
		/** Set if something other than the SLA decided. */
		...(decided ? because(decided) : { why: null, code: null, values: null }),
		judgements,
		checks,
	};
}
