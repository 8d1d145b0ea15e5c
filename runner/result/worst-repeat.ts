import type { Gate, Result, Run } from "../model/result.ts";
import { standsFor } from "../verdict/repeats.ts";
import type { Outcome } from "./outcomes.ts";
import { at, percentile, sizeOf } from "./select.ts";
import { show } from "./show.ts";

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
	return at(gate, runs).filter((run) => run.search === null);
}

/** p99 of the metric that a gate judges, in the worst of its repeats, as reports print it; null: there is none. */
export function p99Of(gate: Gate, result: Result): string | null {
	const [first, ...others] = runsOf(gate, result)
		.map((run) => percentile(run, gate.metric ?? run.main, 99))
		.filter(({ why }) => why === undefined || why === "stopped");
	if (first === undefined) return null;
	return show(others.reduce((a, b) => (sizeOf(b) > sizeOf(a) ? b : a), first));
}
