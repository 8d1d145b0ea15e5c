import type { Plan } from "../model/plan.ts";
import type { Run, Search } from "../model/result.ts";
import { worst } from "../model/verdict.ts";
import { answerText, answerVerdict } from "../search/answer.ts";
import { outcomeOf, stepOf } from "../search/runs.ts";
import { next, soFar } from "../search/search.ts";
import { tell } from "../text/tell.ts";
import { type RunVerdict, reasonOf } from "../verdict/run.ts";

/** A run of a search, judged. */
export interface SearchRun {
	readonly collected: { readonly plan: Plan };
	readonly verdict: Pick<RunVerdict, "verdict" | "why" | "judgements">;
	readonly run: Run;
}

/** What each search came to: computed again from its runs, as everything in a report is. */
export function searchesOf(all: readonly SearchRun[]): Search[] {
	const groups = new Map<string, SearchRun[]>();
	for (const one of all) {
		const { search, system, repeat } = one.collected.plan;
		if (search === null) continue;
		const key = JSON.stringify([system, search.of, repeat]);
		groups.set(key, [...(groups.get(key) ?? []), one]);
	}
	return [...groups.values()].map(searchOf);
}

// --- internal ---

function searchOf(runs: readonly SearchRun[]): Search {
	const steps = runs.flatMap((one) => {
		const step = stepOf(one.collected.plan);
		return step === null ? [] : [{ one, step }];
	});
	const outcomes = steps.map(({ one, step }) => ({
		step,
		outcome: outcomeOf(one.verdict.verdict),
	}));
	const what = next(outcomes[0]?.step.rate ?? 1, outcomes);
	// It may have been stopped between two runs.
	const answer = "answer" in what ? what.answer : soFar(outcomes);
	const plan = runs[0]?.collected.plan as Plan;
	// A rate that passes above others that do not is no limit of the system: the machine, or the system, is not steady.
	const below = outcomes.filter(
		({ step, outcome }) =>
			!["pass", "interrupted"].includes(outcome) && answer.lo !== null && step.rate < answer.lo,
	).length;
	const steady = below === 0;
	return {
		system: plan.system,
		case: plan.search?.of ?? plan.case,
		repeat: plan.repeat,
		sla: plan.sla.map((line) => line.text),
		verdict: steady ? answerVerdict(answer) : worst([answerVerdict(answer), "inconclusive"]),
		...answer,
		answer: `${answerText(answer, outcomes)}${steady ? "" : tell("search-not-steady", { below, runs: below === 1 ? "run" : "runs" })}`,
		runs: steps
			.map(({ one, step }) => ({
				index: one.run.index,
				...step,
				verdict: one.verdict.verdict,
				why: reasonOf(one.verdict),
				p50: percentile(one.run, 50),
				p99: percentile(one.run, 99),
				max: one.run.metrics[one.run.main]?.max ?? null,
			}))
			.sort((a, b) => a.rate - b.rate || a.index - b.index),
	};
}

function percentile(run: Run, p: number): number | null {
	const summary = run.metrics[run.main];
	return summary?.percentiles.find((x) => x.p === p)?.value ?? null;
}
