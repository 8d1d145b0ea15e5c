import type { Comparison } from "../model/comparison.ts";
import type { Cause, Gate, Result, Run, Search } from "../model/result.ts";
import { VERDICTS, type Verdict, worst } from "../model/verdict.ts";
import { causeOf, standsFor } from "../verdict/judgement.ts";
import { at, type Place } from "./select.ts";

/** A result before it is judged. */
export type Judgeable = Omit<Result, "verdict" | "cause" | "openBaselineOnly">;

/** One part of a result's verdict: a test case of JUnit, an annotation on GitHub. */
export interface Outcome extends Place {
	readonly kind: "damage" | "gate" | "run" | "search";
	readonly gate?: Gate;
	readonly search?: Search;
	readonly comparison?: Comparison;
	/** "p99 < 20ms", "the run itself", "highest rate"; the file that is damaged. */
	readonly what: string;
	readonly verdict: Verdict;
	readonly why: string;
	/** The cause of a FAIL, if not the system. */
	readonly cause: Cause | null;
	readonly compares: boolean;
	/** In scenario.yaml, from 1. */
	readonly line: number | null;
	readonly runs: readonly Run[];
	/** The worst repeat, or the lowest rate of a search that did not pass. */
	readonly run: Run | null;
}

/** In the report's order: damaged files, gates, runs that decide by themselves, searches. */
export function outcomesOf(result: Judgeable): Outcome[] {
	const single = result.runs.filter((run) => run.search === null);
	const gates = result.gates.map((gate) => ofGate(gate, at(gate, single)));
	return [
		...(result.damaged ?? []).map(({ file: what, why }) =>
			outcome("damage", { system: "", case: "" }, { what, verdict: "error", why, runs: [] }),
		),
		...gates,
		...single.flatMap((run) => ofRun(run, at(run, single), at(run, gates))),
		...result.searches.map((search) => ofSearch(search, result)),
	];
}

/** The worst verdict, the cause of all failures, and whether only comparisons are open. */
export function judge(result: Judgeable): Pick<Result, "verdict" | "cause" | "openBaselineOnly"> {
	const all = outcomesOf(result);
	const verdict = worst(all.map((one) => one.verdict));
	const deciding = all.filter((one) => one.verdict === verdict);
	return {
		verdict,
		cause: causeOf(verdict, deciding),
		openBaselineOnly: verdict === "inconclusive" && deciding.every(({ compares }) => compares),
	};
}

export function verdictAt(place: Place, outcomes: readonly Outcome[]): Verdict {
	const own = at(place, outcomes).filter(({ kind }) => kind !== "search");
	return worst(own.map(({ verdict }) => verdict));
}

/** "nats/256B 3000/s: p99 < 20ms" */
export function outcomeName({ kind, system, case: name, what }: Outcome): string {
	return kind === "damage" ? what : `${system}/${name}: ${what}`.replaceAll(/\s+/g, " ");
}

export function brokenOf(result: Judgeable): Outcome[] {
	return outcomesOf(result)
		.filter(({ verdict }) => verdict !== "pass")
		.sort((a, b) => rank(a.verdict) - rank(b.verdict));
}

export const NOTHING_JUDGED = "no SLA: nothing was judged";

// --- internal ---

type Parts = Partial<Outcome> & Pick<Outcome, "what" | "verdict" | "why" | "runs">;

function outcome(kind: Outcome["kind"], { system, case: name }: Place, parts: Parts): Outcome {
	const plain = { cause: null, compares: false, line: null, run: null };
	return { ...plain, kind, system, case: name, ...parts };
}

function rank(verdict: Verdict): number {
	return VERDICTS.indexOf(verdict);
}

function ofGate(gate: Gate, runs: readonly Run[]): Outcome {
	const { verdict, compares, comparison, sla, why, cause, line } = gate;
	const repeat = standsFor(gate.repeats)?.repeat ?? 1;
	const run = compares
		? (runs.find((one) => one.verdict === verdict) ?? runs[0])
		: runs.find((one) => one.repeat === repeat);
	const about = { gate, ...(comparison && { comparison }), runs, run: run ?? null };
	return outcome("gate", gate, { ...about, what: sla, verdict, why, cause, compares, line });
}

/** Nothing if a gate is equally bad already. One repeat of several whose queue grew leaves it open, as in a gate. */
function ofRun(run: Run, repeats: readonly Run[], own: readonly Outcome[]): Outcome[] {
	if (run.why === null && own.some(({ compares }) => !compares)) return [];
	const grew = (one: Run) => one.validity.some((c) => c.status === "fail");
	const alone = grew(run) && repeats.length > 1 && repeats.filter(grew).length === 1;
	const verdict = alone ? "inconclusive" : run.verdict;
	// A comparison may stay open, a run may not.
	const saysSo = (gate: Outcome) =>
		rank(gate.verdict) < rank(verdict) ||
		(gate.verdict === verdict && !(gate.compares && verdict === "inconclusive"));
	if (own.some(saysSo)) return [];
	const several = repeats.length > 1 ? `, repeat ${run.repeat} of ${repeats.length}` : "";
	const why = run.why ?? NOTHING_JUDGED;
	const about = { what: `the run itself${several}`, runs: [run], run };
	return [outcome("run", run, { ...about, verdict, why, cause: run.cause })];
}

function ofSearch(search: Search, { runs, searches }: Judgeable): Outcome {
	const several = at(search, searches).length > 1;
	const { verdict, answer: why } = search;
	// By rate, ascending.
	const own = search.runs.flatMap(({ index }) => runs.find((run) => run.index === index) ?? []);
	const failed = search.runs.find((one) => one.verdict !== "pass");
	const run = own.find(({ index }) => index === failed?.index) ?? null;
	const what = `highest rate${several ? `, repeat ${search.repeat}` : ""}`;
	return outcome("search", search, { search, what, verdict, why, runs: own, run });
}
