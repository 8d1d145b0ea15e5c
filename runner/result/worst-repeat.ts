import type { Gate, Result, Run } from "../model/result.ts";
import { standsFor } from "../verdict/repeats.ts";
import type { Outcome } from "./outcomes.ts";
import { percentileValue } from "./words.ts";

/**
 * The run that an outcome is about; of a gate that of its worst repeat, of one that compares the first that is as bad, of a search that of the
 * lowest rate that did not pass. null: there is none.
 */
export function worstRun(outcome: Pick<Outcome, "of" | "verdict">, result: Result): Run | null {
	const { of } = outcome;
	if (of.kind === "run") return of.run;
	if (of.kind === "search") {
		// By rate, from the lowest on.
		const failed = of.search.runs.find(({ verdict }) => verdict !== "pass");
		return result.runs.find(({ index }) => index === failed?.index) ?? null;
	}
	if (of.kind !== "gate") return null;
	const runs = runsOf(of.gate, result);
	if (of.gate.compares)
		return runs.find((run) => run.verdict === outcome.verdict) ?? runs[0] ?? null;
	const repeat = standsFor(of.gate.repeats)?.repeat ?? 1;
	return runs.find((run) => run.repeat === repeat) ?? null;
}

/** All repeats of a system and case. */
export function runsOf(gate: Pick<Gate, "system" | "case">, { runs }: Pick<Result, "runs">): Run[] {
	return runs.filter(
		(run) => run.search === null && run.system === gate.system && run.case === gate.case,
	);
}

/** p99 of the metric that a gate judges, in the worst of its repeats, as reports print it; null: there is none. */
export function p99Of(gate: Gate, result: Result): string | null {
	const values = runsOf(gate, result).flatMap((run) => {
		const p = run.metrics[gate.metric ?? run.main]?.percentiles.find((x) => x.p === 99);
		return p === undefined || p.support === "none" ? [] : [{ p, run }];
	});
	const size = (x: (typeof values)[number]) => x.p.value ?? Number.POSITIVE_INFINITY;
	const [first, ...others] = values;
	if (first === undefined) return null;
	const worst = others.reduce((a, b) => (size(b) > size(a) ? b : a), first);
	return percentileValue(worst.p, worst.run);
}
