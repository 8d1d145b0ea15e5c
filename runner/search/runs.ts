import { largestOf } from "../extremes.ts";
import type { Times } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import type { Verdict } from "../model/verdict.ts";
import { derivePlan } from "../plan/derive.ts";
import { samplesForBound, samplesForSupport } from "../stats/support.ts";
import { formatRate, type Rate, ratePerSecond } from "../units.ts";
import { stepText } from "./answer.ts";
import { type Answer, CURVE, type Found, next, type Outcome, type Step } from "./search.ts";

/** Shortest measurement of a probe, after the warm-up; the confirmation is longer. */
const PROBE_NS = 15e9;
const CONFIRM_NS = 60e9;
/** Limits the time for ten messages beyond a rare percentile, but never for the fewest samples that can pass. */
const LONGEST_NS = 120e9;

/** Yields the runs of one search, each the case `start` at another rate, and asks `judge` about each. Returns the answer and its runs. */
export function* searchRuns(
	start: Plan,
	firstIndex: number,
	judge: (plan: Plan) => Outcome,
	say: (text: string) => void = () => {},
): Generator<Plan, { readonly answer: Answer; readonly runs: Found[] }> {
	const { rate } = start.schedule;
	if (rate === null) throw new Error("a search needs a rate to begin with");
	const runs: Found[] = [];
	for (;;) {
		const what = next(ratePerSecond(rate), runs);
		if ("answer" in what) return { answer: what.answer, runs };
		const times = runs.filter(
			(f) => f.step.rate === what.step.rate && f.step.role === what.step.role,
		).length;
		const plan = planOf(start, what.step, firstIndex + runs.length, times);
		say(stepText(what.step, runs));
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
	switch (verdict) {
		case "pass":
		case "invalid":
		case "interrupted":
			return verdict;
		case "fail":
		case "inconclusive":
			return "fail";
		default:
			return "error";
	}
}

export function stepOf(plan: Plan): Step | null {
	const { search, schedule } = plan;
	if (search === null || search.role === "start" || schedule.rate === null) return null;
	return { rate: ratePerSecond(schedule.rate), role: search.role };
}

/** Known before the first run; warm-ups included. */
export function foreseen(start: Plan) {
	const rate = ratePerSecond(start.schedule.rate ?? { messages: 1, perNs: 1e9 });
	const { warmupNs } = start.schedule;
	return {
		probeNs: warmupNs + durationOf(start, { rate, role: "probe" }),
		/** If the first rate is the answer. */
		confirmNs: warmupNs + durationOf(start, { rate, role: "confirm" }),
		curve: CURVE.length,
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
		times: { ...start.schedule, rate, durationNs: durationOf(start, step) } as Times,
	});
}

/** A ratio of whole numbers; steps have three significant digits. */
function exact(perSecond: number): Rate {
	let [messages, perNs] = [perSecond, 1e9];
	while (!Number.isInteger(messages)) [messages, perNs] = [messages * 10, perNs * 10];
	return { messages, perNs };
}

/** Allows ten messages beyond the deepest percentile of the SLA. */
function durationOf(start: Plan, { rate, role }: Step): number {
	// The confirmation must support the percentile at least as well as the probe.
	if (role === "confirm")
		return Math.max(
			CONFIRM_NS,
			start.schedule.durationNs,
			durationOf(start, { rate, role: "probe" }),
		);
	const deepest = Math.max(
		largestOf(start.sla.map((s) => (s.kind === "percentile" ? s.percentile : 50))),
		50,
	);
	const lasting = (samples: number) => Math.ceil(samples / rate) * 1e9;
	return Math.max(
		PROBE_NS,
		Math.min(LONGEST_NS, lasting(samplesForSupport(deepest))),
		lasting(1.2 * samplesForBound(deepest)),
	);
}
