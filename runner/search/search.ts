import { largestOf, smallestOf } from "../extremes.ts";
/**
 * The search for the highest rate that meets the SLA (reports/README.md, "Searches"): double while it passes, halve the distance
 * between what passed and what failed until they are 5 % apart, confirm the lower one with a longer run, then measure the
 * curve below it. What comes next follows from what was found so far, and from nothing else.
 */

/** One run of a search. Rates are messages per second. */
export interface Step {
	readonly rate: number;
	/** probe: is it too fast? confirm: a longer run at the answer. curve: latency at a part of it. */
	readonly role: "probe" | "confirm" | "curve";
}

/**
 * What a run said. pass: every SLA line holds, nothing was lost, the system kept up, and the measurement is valid. invalid: the
 * generator kept it from saying anything. error: it could not be made. interrupted: the command was stopped.
 */
export type Outcome = "pass" | "fail" | "invalid" | "error" | "interrupted";

export interface Found {
	readonly step: Step;
	readonly outcome: Outcome;
}

/** What a search came to. */
export interface Answer {
	/** Highest rate that passed and was confirmed; null: none did. */
	readonly lo: number | null;
	/** Lowest rate that failed; null: none did. */
	readonly hi: number | null;
	/** Who ended it: the system under test, the generator (its own measurement became invalid), nobody (the highest rate passed), an error, or whoever stopped the command. */
	readonly limitedBy: "system" | "generator" | "nothing" | "error" | "interrupted";
	readonly confirmed: boolean;
}

export type Next = { readonly step: Step } | { readonly answer: Answer };

/** Where the search stops when nothing fails: no machine sends as much. */
export const HIGHEST = 20_000_000;
/** Where it stops when nothing passes: at this part of its first rate, and at one message in a second, below which a minute says nothing. */
export const LOWEST_PART = 0.01;
const LOWEST = 1;
/** hi / lo at which the search ends. */
export const PRECISION = 1.05;
/** By how much lo is lowered when a longer run does not confirm it, and how often. */
const BACK_OFF = 0.95;
const BACK_OFFS = 3;
/** Parts of the answer at which the curve is measured; 1 is the confirming run itself. */
export const CURVE = [0.5, 0.7, 0.8, 0.9, 0.95];

/** The run to make after those that were made, or the answer. `start` is the rate where the search begins. */
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

/** Three significant digits: a rate that a person can repeat. */
export function rounded(rate: number): number {
	return Number(rate.toPrecision(3));
}

/** The highest rate that passed, and the lowest above it that failed, of the probes. */
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

/** What a search that was stopped knew by then: no longer run refuted its `lo`. */
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

/** A rate that failed once is tried again, and a third time if the two disagree: one bad moment of the machine is not the answer. */
function undecided(probes: readonly Found[]): number | null {
	const last = probes.at(-1);
	if (last === undefined || isLimited(probes, last.step.rate)) return null;
	return decide(probes, last.step.rate) === null ? last.step.rate : null;
}

/** The generator was too slow at this rate twice: once may be a bad moment of the machine. */
function isLimited(probes: readonly Found[], rate: number): boolean {
	const invalid = probes.filter((f) => f.step.rate === rate && f.outcome === "invalid");
	return invalid.length >= 2 && decide(probes, rate) === null;
}

/** Of the runs at one rate: a pass at once passes; otherwise two of three decide. null: not yet. */
function decide(probes: readonly Found[], rate: number): boolean | null {
	const outcomes = probes
		.filter((f) => f.step.rate === rate && f.outcome !== "invalid")
		.map((f) => f.outcome);
	if (outcomes[0] === "pass") return true;
	if (outcomes.filter((o) => o === "fail").length >= 2) return false;
	if (outcomes.filter((o) => o === "pass").length >= 2) return true;
	return null;
}

function nextConfirmation(lo: number, runs: readonly Found[], answer: Answer): Next {
	let rate = lo;
	let steps = 0;
	/** The lowest rate that a longer run has refuted. */
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
			// A run that says nothing says nothing of the system.
			limitedBy: refuted === null ? "generator" : answer.limitedBy,
			confirmed: false,
		},
	};
}
