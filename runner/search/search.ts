import { largestOf, smallestOf } from "../extremes.ts";
import type { Search } from "../model/result.ts";

/** The search for the highest rate that meets the SLA (reports/METHOD.md, "Searches"), a function of the runs so far. */

/** probe: is it too fast? confirm: another run at the answer, longer if steps are short. curve: latency at part of it. */
export type Step = Readonly<Pick<Search["runs"][number], "rate" | "role">>;

/** pass: SLA met, nothing lost, the system kept up, valid measurement. invalid: spoiled by the generator. error: could not run. */
export type Outcome = "pass" | "fail" | "invalid" | "error" | "interrupted";

export interface Found {
	readonly step: Step;
	readonly outcome: Outcome;
}

/** `lo`: the highest rate that passed. "generator": its measurement became invalid. "nothing": the highest rate passed. */
export type Answer = Readonly<Pick<Search, "lo" | "hi" | "limitedBy" | "confirmed">>;

type Next = { readonly step: Step } | { readonly answer: Answer };
/** Upper end of the search: no machine sends as much. */
export const HIGHEST = 20_000_000;
/** Lower ends: this part of the first rate, and 1/s, below which a minute has too few messages. */
export const LOWEST_PART = 0.01;
/** hi / lo at which the search ends. */
export const PRECISION = 1.05;
/** Factor by which lo falls after a failed confirmation, and how often. */
const BACK_OFF = 0.95;
const BACK_OFFS = 3;
/** Parts of the answer for the curve; the confirming run is 1. */
export const CURVE = [0.5, 0.7, 0.8, 0.9, 0.95];

/** The next run, or the answer. `start`: the first rate. */
export function next(start: number, runs: readonly Found[]): Next {
	if (runs.some((f) => f.outcome === "interrupted")) return { answer: soFar(runs) };
	if (runs.some((f) => f.outcome === "error"))
		return { answer: { ...boundsOf(runs), limitedBy: "error", confirmed: false } };
	const probe = nextProbe(start, runs);
	if ("step" in probe) return probe;
	const { lo } = probe.answer;
	if (lo === null) return probe;
	const confirmation = nextConfirmation(lo, runs, probe.answer);
	if ("step" in confirmation) return confirmation;
	const { answer } = confirmation;
	if (answer.lo === null) return confirmation;
	const part = CURVE[runs.filter((f) => f.step.role === "curve").length];
	return part === undefined
		? confirmation
		: { step: { rate: rounded(answer.lo * part), role: "curve" } };
}

/** Three significant digits make the rate easy to repeat. */
export function rounded(rate: number): number {
	return Number(rate.toPrecision(3));
}

export function lowestOf(start: number): number {
	return Math.max(1, LOWEST_PART * start);
}

/** The highest probe that passed, and the lowest above it that failed. */
export function boundsOf(runs: readonly Found[]): Pick<Answer, "lo" | "hi"> {
	const hi = smallestOf(decided(runs, "fail"));
	const lo = largestOf(decided(runs, "pass").filter((rate) => rate < hi));
	return { lo: lo === -Infinity ? null : lo, hi: hi === Infinity ? null : hi };
}

/** The answer of a stopped search; no confirming run refuted its `lo`. */
export function soFar(runs: readonly Found[]): Answer {
	const longer = (is: Outcome) =>
		runs.filter((f) => f.step.role === "confirm" && f.outcome === is).map((f) => f.step.rate);
	const hi = Math.min(boundsOf(runs).hi ?? Infinity, smallestOf(longer("fail")));
	const { lo } = boundsOf(runs.filter((f) => f.step.rate < hi));
	const [confirmed] = longer("pass");
	return {
		lo: confirmed ?? lo,
		hi: hi === Infinity ? null : hi,
		limitedBy: "interrupted",
		confirmed: confirmed !== undefined,
	};
}

// --- internal ---

function nextProbe(start: number, runs: readonly Found[]): Next {
	const probe = (rate: number): Next => ({ step: { rate: rounded(rate), role: "probe" } });
	const last = runs.findLast((f) => f.step.role === "probe");
	if (last === undefined) return probe(start);
	// One bad moment of the machine must not decide.
	if (decide(runs, last.step.rate) === null) return probe(last.step.rate);
	const { lo, hi } = boundsOf(runs);
	const spoiled = smallestOf(decided(runs, "invalid"));
	const limited = spoiled < (hi ?? Infinity);
	const end = (limitedBy: Answer["limitedBy"]): Next => ({
		answer: { lo, hi, limitedBy, confirmed: false },
	});
	if (lo === null) {
		const halved = rounded(Math.min(spoiled, hi ?? Infinity) / 2);
		if (halved >= lowestOf(start)) return probe(halved);
		return end(limited ? "generator" : "system");
	}
	if (limited) return end("generator");
	if (hi === null) return rounded(lo * 2) > HIGHEST ? end("nothing") : probe(lo * 2);
	const middle = rounded(Math.sqrt(lo * hi));
	return hi / lo <= PRECISION || middle <= lo || middle >= hi ? end("system") : probe(middle);
}

function decided(runs: readonly Found[], outcome: Outcome): number[] {
	const rates = new Set(runs.filter((f) => f.step.role === "probe").map((f) => f.step.rate));
	return [...rates].filter((rate) => decide(runs, rate) === outcome);
}

/** A pass at once passes; otherwise two of three decide, or two that are invalid. Null if undecided. */
function decide(runs: readonly Found[], rate: number): Outcome | null {
	const own = runs.filter(({ step }) => step.role === "probe" && step.rate === rate);
	const outcomes = own.map((f) => f.outcome);
	if (outcomes.find((o) => o !== "invalid") === "pass") return "pass";
	const twice = (outcome: Outcome) => outcomes.filter((o) => o === outcome).length >= 2;
	return (["pass", "fail", "invalid"] as const).find(twice) ?? null;
}

function nextConfirmation(lo: number, runs: readonly Found[], answer: Answer): Next {
	let [rate, steps, spoiled] = [lo, 0, 0];
	let refuted: number | null = null;
	for (const { step, outcome } of runs) {
		if (step.role !== "confirm") continue;
		if (outcome === "pass")
			return { answer: { ...answer, lo: rate, hi: refuted ?? answer.hi, confirmed: true } };
		if (outcome === "fail") refuted = rate;
		else if (++spoiled < 2) continue;
		[rate, steps, spoiled] = [rounded(rate * BACK_OFF), steps + 1, 0];
	}
	if (steps <= BACK_OFFS) return { step: { rate, role: "confirm" } };
	return {
		answer: {
			lo: null,
			hi: refuted ?? answer.hi,
			// An invalid run is no evidence about the system.
			limitedBy: refuted === null ? "generator" : answer.limitedBy,
			confirmed: false,
		},
	};
}
