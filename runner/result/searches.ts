import { grouped } from "../grouped.ts";
import type { Plan } from "../model/plan.ts";
import type { Run, Search } from "../model/result.ts";
import { worst } from "../model/verdict.ts";
import { answerText, answerVerdict } from "../search/answer.ts";
import { outcomeOf, stepOf } from "../search/runs.ts";
import { next, soFar } from "../search/search.ts";
import { plural } from "../units.ts";
import { type RunVerdict, reasonOf } from "../verdict/run.ts";

export interface SearchRun {
	readonly collected: { readonly plan: Plan };
	readonly verdict: Pick<RunVerdict, "verdict" | "why" | "judgements">;
	readonly run: Run;
}

export function searchesOf(all: readonly SearchRun[]): Search[] {
	const own = all.filter(({ collected: { plan } }) => plan.search !== null);
	const groups = grouped(own, ({ collected: { plan } }) =>
		JSON.stringify([plan.system, plan.search?.of, plan.repeat]),
	);
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
	const [{ collected }] = runs as [SearchRun];
	const { system, case: name, repeat, sla, search } = collected.plan;
	// If a lower rate fails, the answer is not the system's limit: machine or system is not steady.
	const below = steps.filter(
		({ step, outcome }) =>
			!["pass", "interrupted"].includes(outcome) && answer.lo !== null && step.rate < answer.lo,
	).length;
	const but = `; but ${plural(below, "run")} at lower rates did not pass: not steady`;
	return {
		system,
		case: search?.of ?? name,
		repeat,
		sla: sla.map(({ text }) => text),
		verdict: worst([answerVerdict(answer), below === 0 ? "pass" : "inconclusive"]),
		...answer,
		answer: `${answerText(answer, steps)}${below === 0 ? "" : but}`,
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
