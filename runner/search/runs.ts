import { largestOf } from "../extremes.ts";
import type { Times } from "../model/load.ts";
import type { Plan } from "../model/plan.ts";
import type { Verdict } from "../model/verdict.ts";
import { derivePlan } from "../plan/derive.ts";
import { samplesForBound, samplesForSupport } from "../stats/support.ts";
import { formatRate, type Rate, ratePerSecond } from "../units.ts";
import { stepText } from "./answer.ts";
import { type Answer, CURVE, type Found, next, type Outcome, type Step } from "./search.ts";

/** A probe is measured this long at least, after the scenario's own warm-up; the confirmation longer. */
const PROBE_NS = 15e9;
const CONFIRM_NS = 60e9;
/** Ten messages beyond a rare percentile may take longer than anybody waits; what it takes to pass at all, it always gets. */
const LONGEST_NS = 120e9;

/**
 * The runs of one search, each made from the case as it is written (`start`), with another rate. Asks `judge` about every
 * run that it has yielded, says before each one why it makes it, and returns the answer with what it follows from.
 */
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

/** Of the first run of the searches: after the runs that are planned. The case that a search begins with is none. */
export function firstIndex(plans: readonly Plan[]): number {
	const runs = plans.filter(({ search }) => search === null);
	return 1 + Math.max(0, largestOf(runs.map(({ index }) => index)));
}

/** What a run's verdict means to a search: an undecided SLA was not met. */
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

/** The step that a run of a search was. */
export function stepOf(plan: Plan): Step | null {
	const { search, schedule } = plan;
	if (search === null || search.role === "start" || schedule.rate === null) return null;
	return { rate: ratePerSecond(schedule.rate), role: search.role };
}

/** What is known of a search before its first run; warm-ups included. */
export function foreseen(start: Plan) {
	const rate = ratePerSecond(start.schedule.rate ?? { messages: 1, perNs: 1e9 });
	const { warmupNs } = start.schedule;
	return {
		/** A probe at the first rate. */
		probeNs: warmupNs + durationOf(start, { rate, role: "probe" }),
		/** The run that confirms the answer, if that is the first rate. */
		confirmNs: warmupNs + durationOf(start, { rate, role: "confirm" }),
		/** Runs at parts of the answer, after it. */
		curve: CURVE.length,
	};
}

// --- internal ---

function planOf(start: Plan, step: Step, index: number, times: number): Plan {
	const rate = exact(step.rate);
	const again = times === 0 ? "" : `, ${times + 1}`;
	return derivePlan(start, {
		index,
		// Each step is a case of its own: never pooled with another, never its repeat.
		case: `${start.case} @ ${formatRate(rate)} (${step.role}${again})`,
		search: { role: step.role, of: start.case },
		// Every run has a broker of its own, which is as cold as that of any other run: warm-ups stay.
		times: { ...start.schedule, rate, durationNs: durationOf(start, step) } as Times,
	});
}

/** As a ratio of whole numbers; steps have three significant digits. */
function exact(perSecond: number): Rate {
	let [messages, perNs] = [perSecond, 1e9];
	while (!Number.isInteger(messages)) [messages, perNs] = [messages * 10, perNs * 10];
	return { messages, perNs };
}

/** Long enough for ten messages beyond the deepest percentile of the SLA. */
function durationOf(start: Plan, { rate, role }: Step): number {
	// What confirms has to carry the percentile as well as what it confirms.
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
