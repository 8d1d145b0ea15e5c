import type { Comparison } from "../model/comparison.ts";
import type { Gate, Result, Run, Search } from "../model/result.ts";
import { VERDICTS, type Verdict } from "../model/verdict.ts";
import { say } from "../text/say.ts";

/**
 * One of the things that the verdict of a result is made of: its worst is the verdict. What JUnit calls a test case and GitHub an
 * annotation.
 */
export interface Outcome {
	readonly of:
		| { readonly kind: "gate"; readonly gate: Gate }
		| { readonly kind: "run"; readonly run: Run }
		| { readonly kind: "search"; readonly search: Search }
		| { readonly kind: "comparison"; readonly comparison: Comparison }
		| { readonly kind: "damage"; readonly file: string };
	readonly system: string;
	readonly case: string;
	/** What was asked: "p99 < 20ms", "the run itself", "highest rate". */
	readonly what: string;
	readonly verdict: Verdict;
	readonly why: string;
	/** False: shown only, as it must not decide (a comparison with another machine). */
	readonly decides: boolean;
	/** Where it stands in scenario.yaml, from 1; null: not known. */
	readonly line: number | null;
	/** Seconds that its runs took, warm-up included. */
	readonly seconds: number;
}

/** In the order of the report: damaged files, gates, runs that speak for themselves, searches, comparisons that are no gates. */
export function outcomesOf(result: Result): Outcome[] {
	const single = result.runs.filter((run) => run.search === null);
	return [
		...(result.damaged ?? []).map(ofDamage),
		...result.gates.map((gate) => ofGate(gate, single)),
		...single.flatMap((run) => ofRun(run, single, result.gates)),
		...result.searches.map((search) => ofSearch(search, result)),
		...result.comparisons
			.filter((c) => !result.gates.some((g) => isOf(g, c)))
			.map((c) => ofComparison(c, single)),
	];
}

/** "nats/256B 3000/s: p99 < 20ms" */
export function outcomeName({ of, system, case: name, what }: Outcome): string {
	if (of.kind === "damage") return of.file;
	return `${system}/${name}: ${what}`.replaceAll(/\s+/g, " ");
}

/** Those that kept the result from passing, the worst first; those that decide nothing are not among them. */
export function brokenOf(result: Result): Outcome[] {
	return outcomesOf(result)
		.filter((o) => o.decides && o.verdict !== "pass")
		.sort((a, b) => rank(a.verdict) - rank(b.verdict));
}

// --- internal ---

function rank(verdict: Verdict): number {
	return VERDICTS.indexOf(verdict);
}

function ofDamage({ file, why }: { file: string; why: string }): Outcome {
	return {
		of: { kind: "damage", file },
		system: "",
		case: "",
		what: file,
		verdict: "error",
		why,
		decides: true,
		line: null,
		seconds: 0,
	};
}

function ofGate(gate: Gate, runs: readonly Run[]): Outcome {
	return {
		of: { kind: "gate", gate },
		system: gate.system,
		case: gate.case,
		what: gate.sla,
		verdict: gate.verdict,
		why: gate.why,
		decides: true,
		line: gate.line,
		seconds: secondsOf(runs.filter((run) => alike(run, gate))),
	};
}

/** Without an SLA, or where something else decided, unless a gate says as bad already. One repeat alone that did not carry the rate leaves it open. */
function ofRun(run: Run, runs: readonly Run[], gates: readonly Gate[]): Outcome[] {
	const own = gates.filter((gate) => alike(run, gate));
	if (run.why === null && own.length > 0) return [];
	const repeats = runs.filter((other) => alike(run, other));
	const grew = (one: Run) => one.validity.some((c) => c.status === "fail");
	const alone = grew(run) && repeats.length > 1 && repeats.filter(grew).length === 1;
	const verdict = alone ? "inconclusive" : run.verdict;
	if (own.some((gate) => rank(gate.verdict) <= rank(verdict))) return [];
	return [
		{
			of: { kind: "run", run },
			system: run.system,
			case: run.case,
			what: `the run itself${repeats.length > 1 ? `, repeat ${run.repeat} of ${repeats.length}` : ""}`,
			verdict,
			why: run.why ?? say("nothing-judged").text,
			decides: true,
			line: null,
			seconds: secondsOf([run]),
		},
	];
}

function ofSearch(search: Search, { runs, searches }: Result): Outcome {
	const several =
		searches.filter((other) => alike(search, other)).length > 1 ? `, repeat ${search.repeat}` : "";
	const own = new Set(search.runs.map((run) => run.index));
	return {
		of: { kind: "search", search },
		system: search.system,
		case: search.case,
		what: `highest rate${several}`,
		verdict: search.verdict,
		why: search.answer,
		decides: true,
		line: null,
		seconds: secondsOf(runs.filter((run) => own.has(run.index))),
	};
}

const COMPARED: Readonly<Record<Comparison["verdict"], Verdict>> = {
	regressed: "fail",
	inconclusive: "inconclusive",
	improved: "pass",
	same: "pass",
};

function ofComparison(comparison: Comparison, runs: readonly Run[]): Outcome {
	return {
		of: { kind: "comparison", comparison },
		system: comparison.system,
		case: comparison.case,
		what: `${comparison.metric} against ${comparison.a.name}`,
		verdict: comparison.notWorse ? "pass" : COMPARED[comparison.verdict],
		why: comparison.why,
		decides: comparison.judged,
		line: null,
		seconds: secondsOf(runs.filter((run) => alike(run, comparison))),
	};
}

function isOf(gate: Gate, comparison: Comparison): boolean {
	return (
		gate.comparison !== null &&
		alike(gate, comparison) &&
		gate.comparison.metric === comparison.metric &&
		gate.comparison.a.name === comparison.a.name
	);
}

interface Place {
	readonly system: string;
	readonly case: string;
}

function alike(a: Place, b: Place): boolean {
	return a.system === b.system && a.case === b.case;
}

/** From T0 until all was settled; where nobody has said when that was, the end of the window; of a run without data nothing. */
function secondsOf(runs: readonly Run[]): number {
	return runs.reduce(
		(sum, run) =>
			run.state === "never" ? sum : sum + (run.generator?.endNs ?? run.window.endNs) / 1e9,
		0,
	);
}
