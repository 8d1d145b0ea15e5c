import { largestOf } from "../extremes.ts";
import type { Times } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import type { Verdict } from "../model/verdict.ts";
import { derivePlan } from "../plan/derive.ts";
import { afterText } from "../plan/load-text.ts";
import { sum } from "../stats/sum.ts";
import { samplesForBound, samplesForSupport } from "../stats/support.ts";
import {
	formatCount,
	formatDuration,
	formatRate,
	plural,
	type Rate,
	ratePerSecond,
} from "../units.ts";
import { stepText } from "./answer.ts";
import {
	type Answer,
	type Found,
	HIGHEST,
	lowestOf,
	next,
	type Outcome,
	type Step,
} from "./search.ts";

/** Limits of the confirmation, in steps and in time. */
const CONFIRM = { steps: 4, ns: 60e9 };
/** Limits of the time for ten messages beyond a rare percentile, but never for the fewest samples that can pass. */
const LONGEST = { steps: 8, ns: 120e9 };

/** Yields the runs of one search, each the case `start` at another rate, and asks `judge` about each. Returns the answer and its runs. */
export function* searchRuns(
	start: Plan,
	firstIndex: number,
	judge: (plan: Plan) => Outcome,
	begin: (plan: Plan, text: string) => void = () => {},
): Generator<Plan, { readonly answer: Answer; readonly runs: Found[] }> {
	const first = firstRate(start);
	const runs: Found[] = [];
	for (;;) {
		const what = next(first, runs);
		if ("answer" in what) return { answer: what.answer, runs };
		const times = runs.filter(
			(f) => f.step.rate === what.step.rate && f.step.role === what.step.role,
		).length;
		const plan = planOf(start, what.step, firstIndex + runs.length, times);
		begin(plan, stepText(what.step, runs));
		yield plan;
		runs.push({ step: what.step, outcome: judge(plan) });
	}
}

/** Index of the first search run. The case that a search starts from is not a run. */
export function firstIndex(plans: readonly Plan[]): number {
	const runs = plans.filter(({ search }) => search === null);
	return 1 + Math.max(0, largestOf(runs.map(({ index }) => index)));
}

/** An undecided SLA was not met. */
export function outcomeOf(verdict: Verdict): Outcome {
	return verdict === "inconclusive" ? "fail" : verdict;
}

export function stepOf(plan: Plan): Step | null {
	const { search, schedule } = plan;
	if (search === null || search.role === "start" || schedule.rate === null) return null;
	return { rate: ratePerSecond(schedule.rate), role: search.role };
}

/** Text about a search before its first run. */
export function foreseenText(start: Plan): string {
	const { durationNs } = start.schedule;
	const deepest = deepestOf(start);
	const longestNs = windowNs(start, { rate: lowestOf(firstRate(start)), role: "probe" });
	const enough = Math.ceil((samplesForSupport(deepest) * 1e9) / durationNs);
	const longer =
		longestNs > durationNs
			? ` (below ${formatCount(enough)}/s longer, up to ${formatDuration(longestNs)}, because p${deepest} needs the messages)`
			: "";
	const confirmNs = windowNs(start, { rate: firstRate(start), role: "confirm" });
	const { runs, ns } = foreseen(start);
	return `a search, find: max-rate, in steps of ${formatDuration(durationNs)}${longer}, each ${afterText(start.schedule)}. A run of ${formatDuration(confirmNs)} confirms an answer at this rate. At most ${plural(runs, "run")} and ${formatDuration(ns)} of sending, up to four times as much if runs at one rate disagree; starting brokers and waiting for the last messages come on top`;
}

/** At most, if a rate always passes or always fails; `ns`: of sending, warm-ups included. */
export function foreseen(start: Plan) {
	const first = firstRate(start);
	const play = (limit: number): Found[] => {
		const runs: Found[] = [];
		for (;;) {
			const what = next(first, runs);
			if ("answer" in what) return runs;
			runs.push({ step: what.step, outcome: what.step.rate <= limit ? "pass" : "fail" });
		}
	};
	// The longest searches end at the highest and the lowest rates. A search cannot separate limits closer than its precision.
	const plays = [HIGHEST, 4 * lowestOf(first)].flatMap((top) =>
		Array.from({ length: 48 }, (_, i) => play(top / 1.03 ** i)),
	);
	const nsOf = ({ step }: Found) => start.schedule.warmupNs + windowNs(start, step);
	return {
		runs: largestOf(plays.map((runs) => runs.length)),
		ns: largestOf(plays.map((runs) => sum(runs.map(nsOf)))),
	};
}

// --- internal ---

function planOf(start: Plan, step: Step, index: number, times: number): Plan {
	const rate = exact(step.rate);
	const again = times === 0 ? "" : `, ${times + 1}`;
	return derivePlan(start, {
		index,
		// Each step is its own case, never pooled with or repeating another.
		case: `${start.case} @ ${formatRate(rate)} (${step.role}${again})`,
		search: { role: step.role, of: start.case },
		// Each run has a new, cold broker, so warm-ups stay.
		times: { ...start.schedule, rate, durationNs: windowNs(start, step) } as Times,
	});
}

/** A ratio of whole numbers; steps have three significant digits. */
function exact(perSecond: number): Rate {
	let [messages, perNs] = [perSecond, 1e9];
	while (!Number.isInteger(messages)) [messages, perNs] = [messages * 10, perNs * 10];
	return { messages, perNs };
}

function firstRate({ schedule: { rate } }: Plan): number {
	if (rate === null) throw new Error("a search needs a rate to begin with");
	return ratePerSecond(rate);
}

/** The window of one run: the scenario's duration, or longer if a percentile of the SLA needs the messages. */
function windowNs(start: Plan, { rate, role }: Step): number {
	const stepNs = start.schedule.durationNs;
	// The confirmation must support the percentile at least as well as the probe.
	if (role === "confirm")
		return Math.max(
			Math.min(CONFIRM.steps * stepNs, CONFIRM.ns),
			windowNs(start, { rate, role: "probe" }),
		);
	const deepest = deepestOf(start);
	const lasting = (samples: number) => Math.ceil(samples / rate) * 1e9;
	return Math.max(
		stepNs,
		Math.min(LONGEST.steps * stepNs, LONGEST.ns, lasting(samplesForSupport(deepest))),
		lasting(1.2 * samplesForBound(deepest)),
	);
}

/** The deepest percentile of the SLA; reports show a median in any case. */
function deepestOf({ sla }: Plan): number {
	return Math.max(largestOf(sla.map((s) => (s.kind === "percentile" ? s.percentile : 50))), 50);
}
