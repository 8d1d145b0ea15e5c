import { type Told, tell } from "../text/tell.ts";
import { boundsOf, CURVE, type Found, type Outcome, rounded, type Step } from "./search.ts";

/** What a search tries next, and why, in one sentence. `found`: what it made so far. */
export function stepText({ rate: perSecond, role }: Step, runs: readonly Found[]): string {
	const same = runs.filter((f) => f.step.role === role);
	const last = same.at(-1);
	const again = last?.step.rate === perSecond && tell(AGAIN[last.outcome]);
	switch (role) {
		case "probe":
			return again ? tell("probes-again", { perSecond, why: again }) : probeText(perSecond, runs);
		case "confirm":
			if (last === undefined) return tell("confirms", { perSecond });
			return again
				? tell("confirms-again", { perSecond, why: again })
				: tell("confirms-less", { lastPerSecond: last.step.rate, perSecond });
		case "curve":
			return tell("measures-latency", {
				perSecond,
				percent: Math.round(100 * (CURVE[same.length] ?? 1)),
			});
	}
}

// --- internal ---

const AGAIN = {
	pass: "runs-disagree",
	fail: "one-failure",
	invalid: "last-invalid",
	error: "last-not-made",
	interrupted: "last-not-made",
} as const satisfies Readonly<Record<Outcome, Told>>;

function probeText(perSecond: number, runs: readonly Found[]): string {
	const { lo, hi } = boundsOf(runs);
	if (runs.length === 0) return tell("search-starts", { perSecond });
	if (hi === null) {
		const loPerSecond = lo ?? rounded(perSecond / 2);
		return tell("tries-twice", { loPerSecond, perSecond });
	}
	return lo === null
		? tell("tries-half", { hiPerSecond: hi, perSecond })
		: tell("tries-between", { loPerSecond: lo, hiPerSecond: hi, perSecond });
}
