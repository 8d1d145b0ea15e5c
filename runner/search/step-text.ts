import { formatCount } from "../units.ts";
import { boundsOf, CURVE, type Found, type Outcome, rounded, type Step } from "./search.ts";

/** What a search tries next, and why, in one sentence. `found`: what it made so far. */
export function stepText({ rate: perSecond, role }: Step, runs: readonly Found[]): string {
	const same = runs.filter((f) => f.step.role === role);
	const last = same.at(-1);
	const again = last?.step.rate === perSecond && AGAIN[last.outcome];
	switch (role) {
		case "probe":
			return again
				? `tries ${formatCount(perSecond)}/s again, because ${again}`
				: probeText(perSecond, runs);
		case "confirm":
			if (last === undefined)
				return `confirms ${formatCount(perSecond)}/s with a longer run, the highest rate that passed`;
			return again
				? `tries to confirm ${formatCount(perSecond)}/s again, because ${again}`
				: `${formatCount(last.step.rate)}/s was not confirmed; tries 5 % less, ${formatCount(perSecond)}/s`;
		case "curve":
			return `measures latency at ${formatCount(perSecond)}/s, ${Math.round(100 * (CURVE[same.length] ?? 1))} % of the answer`;
	}
}

// --- internal ---

const AGAIN: Readonly<Record<Outcome, string>> = {
	pass: "the runs there disagree",
	fail: "one run that did not pass does not decide",
	invalid: "the last run there was INVALID",
	error: "the last run there was not made",
	interrupted: "the last run there was not made",
};

function probeText(perSecond: number, runs: readonly Found[]): string {
	const { lo, hi } = boundsOf(runs);
	if (runs.length === 0) return `starts at ${formatCount(perSecond)}/s`;
	if (hi === null) {
		const loPerSecond = lo ?? rounded(perSecond / 2);
		return `${formatCount(loPerSecond)}/s passed; tries twice as much, ${formatCount(perSecond)}/s`;
	}
	return lo === null
		? `${formatCount(hi)}/s failed; tries half of it, ${formatCount(perSecond)}/s`
		: `${formatCount(lo)}/s passed and ${formatCount(hi)}/s failed; tries ${formatCount(perSecond)}/s between them`;
}
