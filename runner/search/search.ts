import { largestOf, smallestOf } from "../extremes.ts";

/** The search for the highest rate that meets the SLA (reports/METHOD.md, "Searches"), a function of the runs so far. */

/** Rates in messages per second. */
export interface Step {
	readonly rate: number;
	/** probe: is it too fast? confirm: a longer run at the answer. curve: latency at part of it. */
	readonly role: "probe" | "confirm" | "curve";
}

/** pass: SLA met, nothing lost, the system kept up, valid measurement. invalid: spoiled by the generator. error: could not run. */
export type Outcome = "pass" | "fail" | "invalid" | "error" | "interrupted";

export interface Found {
	readonly step: Step;
	readonly outcome: Outcome;
}

export interface Answer {
	/** Highest rate that passed and was confirmed. */
	readonly lo: number | null;
	readonly hi: number | null;
	/** "generator": its measurement became invalid. "nothing": the highest rate passed. "interrupted": the command was stopped. */
	readonly limitedBy: "system" | "generator" | "nothing" | "error" | "interrupted";
	readonly confirmed: boolean;
}

type Next = { readonly step: Step } | { readonly answer: Answer };
/** Upper end of the search: no machine sends as much. */
const HIGHEST = 20_000_000;
/** Lower ends: this part of the first rate, and 1/s, below which a minute says nothing. */
export const LOWEST_PART = 0.01;
const LOWEST = 1;
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
	const measured = runs.filter((f) => f.step.role === "curve").length;
	const part = CURVE[measured];
	return part === undefined
		? confirmation
		: { step: { rate: rounded(answer.lo * part), role: "curve" } };
}

/** Three significant digits, so that people can repeat the rate. */
export function rounded(rate: number): number {
	return Number(rate.toPrecision(3));
}

/** The highest probe that passed, and the lowest above it that failed. */
export function boundsOf(runs: readonly Found[]): Pick<Answer, "lo" | "hi"> {
	const probes = runs.filter((f) => f.step.role === "probe");
	const rates = [...new Set(probes.map((f) => f.step.rate))];
	const failed = rates.filter((rate) => decide(probes, rate) === false);
	const hi = failed.length === 0 ? null : smallestOf(failed);
	const passed = rates.filter(
		(rate) => decide(probes, rate) === true && (hi === null || rate < hi),
	);
	return { lo: passed.length === 0 ? null : largestOf(passed), hi };
}

/** The answer of a stopped search; no longer run refuted its `lo`. */
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
	const probes = runs.filter((f) => f.step.role === "probe");
	const open = undecided(probes);
	if (open !== null) return { step: { rate: open, role: "probe" } };
	const { lo, hi } = boundsOf(runs);
	if (probes.length === 0) return { step: { rate: rounded(start), role: "probe" } };
	const limited = probes.some((f) => isLimited(probes, f.step.rate));
	const end = (limitedBy: Answer["limitedBy"]): Next => ({
		answer: { lo, hi, limitedBy, confirmed: false },
	});
	if (limited && hi === null) return end("generator");
	if (hi === null) {
		const doubled = rounded((lo ?? start) * 2);
		return doubled > HIGHEST ? end("nothing") : { step: { rate: doubled, role: "probe" } };
	}
	if (lo === null) {
		if (limited) return end("generator");
		const halved = rounded(hi / 2);
		return halved < Math.max(LOWEST, LOWEST_PART * start)
			? end("system")
			: { step: { rate: halved, role: "probe" } };
	}
	if (limited) return end("generator");
	const middle = rounded(Math.sqrt(lo * hi));
	return hi / lo <= PRECISION || middle <= lo || middle >= hi
		? end("system")
		: { step: { rate: middle, role: "probe" } };
}

/** Retries a failed rate, a third time if the first two disagree: one bad moment of the machine must not decide. */
function undecided(probes: readonly Found[]): number | null {
	const last = probes.at(-1);
	if (last === undefined || isLimited(probes, last.step.rate)) return null;
	return decide(probes, last.step.rate) === null ? last.step.rate : null;
}

/** Too slow at this rate twice: once may be a bad moment of the machine. */
function isLimited(probes: readonly Found[], rate: number): boolean {
	const invalid = probes.filter((f) => f.step.rate === rate && f.outcome === "invalid");
	return invalid.length >= 2 && decide(probes, rate) === null;
}

/** A pass at once passes; otherwise two of three decide. null: not yet. */
function decide(probes: readonly Found[], rate: number): boolean | null {
	const outcomes = probes
		.filter((f) => f.step.rate === rate && f.outcome !== "invalid")
		.map((f) => f.outcome);
	if (outcomes[0] === "pass") return true;
	if (outcomes.filter((o) => o === "fail").length >= 2) return false;
	return outcomes.filter((o) => o === "pass").length >= 2 ? true : null;
}

function nextConfirmation(lo: number, runs: readonly Found[], answer: Answer): Next {
	let rate = lo;
	let steps = 0;
	let refuted: number | null = null;
	let spoiled = 0;
	const lower = () => {
		rate = rounded(rate * BACK_OFF);
		steps++;
		spoiled = 0;
	};
	for (const { step, outcome } of runs) {
		if (step.role !== "confirm") continue;
		if (outcome === "pass")
			return { answer: { ...answer, lo: rate, hi: refuted ?? answer.hi, confirmed: true } };
		if (outcome === "fail") {
			refuted = rate;
			lower();
		} else if (++spoiled === 2) lower();
	}
	if (steps <= BACK_OFFS) return { step: { rate, role: "confirm" } };
	return {
		answer: {
			lo: null,
			hi: refuted ?? answer.hi,
			// An invalid run says nothing about the system.
			limitedBy: refuted === null ? "generator" : answer.limitedBy,
			confirmed: false,
		},
	};
}
