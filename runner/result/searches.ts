import type { Plan } from "../model/plan.ts";
import type { Run, Search } from "../model/result.ts";
import { worst } from "../model/verdict.ts";
import { answerText, answerVerdict } from "../search/answer.ts";
import { outcomeOf, stepOf } from "../search/runs.ts";
import { next, soFar } from "../search/search.ts";
import { plural } from "../units.ts";
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
		return step === null ? [] : [{ ...one, step, outcome: outcomeOf(one.verdict.verdict) }];
	});
	const what = next(steps[0]?.step.rate ?? 1, steps);
	// It may have been stopped between two runs.
	const answer = "answer" in what ? what.answer : soFar(steps);
	const plan = runs[0]?.collected.plan as Plan;
	// A rate that passes above others that do not is no limit of the system: the machine, or the system, is not steady.
	const below = steps.filter(
		({ step, outcome }) =>
			!["pass", "interrupted"].includes(outcome) && answer.lo !== null && step.rate < answer.lo,
	).length;
	const found = answerText(answer, steps);
	const verdict = answerVerdict(answer);
	return {
		system: plan.system,
		case: plan.search?.of ?? plan.case,
		repeat: plan.repeat,
		sla: plan.sla.map((line) => line.text),
		verdict: below === 0 ? verdict : worst([verdict, "inconclusive"]),
		...answer,
		answer:
			below === 0
				? found
				: `${found}; but ${plural(below, "run")} at lower rates did not pass: not steady`,
		runs: steps
			.map(({ run, step, verdict }) => {
				const summary = run.metrics[run.main];
				const at = (p: number) => summary?.percentiles.find((x) => x.p === p)?.value ?? null;
				return {
					index: run.index,
					...step,
					verdict: verdict.verdict,
					why: reasonOf(verdict),
					p50: at(50),
					p99: at(99),
					max: summary?.max ?? null,
				};
			})
			.sort((a, b) => a.rate - b.rate || a.index - b.index),
	};
}
