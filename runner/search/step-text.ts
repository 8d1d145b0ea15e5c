import { formatCount } from "../units.ts";
import {
	boundsOf,
	CURVE,
	type Found,
	type Outcome,
	rounded,
	type Step,
} from "./search.ts";

/** What a search tries next, and why, in one sentence. `found`: what it made so far. */
export function stepText(
	{ rate, role }: Step,
	found: readonly Found[],
): string {
	const at = perSecond(rate);
	const same = found.filter((f) => f.step.role === role);
	const last = same.at(-1);
	switch (role) {
		case "probe":
			return last?.step.rate === rate
				? `tries ${at} again, because ${AGAIN[last.outcome]}`
				: probeText(rate, found);
		case "confirm":
			if (last === undefined)
				return `confirms ${at} with a longer run, the highest rate that passed`;
			return last.step.rate === rate
				? `tries to confirm ${at} again, because ${AGAIN[last.outcome]}`
				: `${perSecond(last.step.rate)} was not confirmed; tries 5 % less, ${at}`;
		case "curve":
			return `measures latency at ${at}, ${formatCount(100 * (CURVE[same.length] ?? 1))} % of the answer`;
	}
}

// --- internal ---

const AGAIN: Readonly<Record<Outcome, string>> = {
	pass: "the runs there disagree",
	fail: "one failed run does not decide",
	invalid: "the last run there was INVALID",
	error: "the last run there was not made",
};

function probeText(rate: number, found: readonly Found[]): string {
	const at = perSecond(rate);
	const { lo, hi } = boundsOf(found);
	if (found.length === 0) return `starts at ${at}`;
	if (hi === null)
		return `${perSecond(lo ?? rounded(rate / 2))} passed; tries twice as much, ${at}`;
	if (lo === null) return `${perSecond(hi)} failed; tries half of it, ${at}`;
	return `${perSecond(lo)} passed and ${perSecond(hi)} failed; tries ${at} between them`;
}

function perSecond(rate: number): string {
	return `${formatCount(rate)}/s`;
}
