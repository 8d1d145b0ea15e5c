import { smallestOf } from "../extremes.ts";
import type { Verdict } from "../model/verdict.ts";
import { percent } from "../text/percent.ts";
import { formatCount } from "../units.ts";
import { type Answer, boundsOf, CURVE, type Found, LOWEST_PART, type Step } from "./search.ts";

export function answerText(answer: Answer, runs: readonly Found[]): string {
	const { lo, hi, limitedBy, confirmed } = answer;
	if (lo === null)
		return limitedBy === "error"
			? "no answer: a run could not be made"
			: limitedBy === "interrupted"
				? "stopped before the search was over"
				: noRateText(answer, runs);
	const rate = `${formatCount(lo)}/s`;
	const how = confirmed ? "confirmed by another run" : "not confirmed";
	const met = `${rate} meets the SLA, ${how}`;
	return {
		system: `${met}; ${formatCount(hi ?? 0)}/s does not`,
		generator: `at least ${met}; the generator or its consumers carry no more (generator-limited)`,
		nothing: `at least ${met}; the search ends there`,
		error: `${met}; then a run could not be made`,
		interrupted: `stopped before the search was over; the highest rate that passed so far is ${rate}, ${how}`,
	}[limitedBy];
}

/** For a scenario, finding a rate is passing. */
export function answerVerdict({ lo, limitedBy, confirmed }: Answer): Verdict {
	if (limitedBy === "error" || limitedBy === "interrupted") return limitedBy;
	if (lo === null) return limitedBy === "generator" ? "invalid" : "fail";
	return confirmed ? "pass" : "inconclusive";
}

export function stepText({ rate, role }: Step, runs: readonly Found[]): string {
	const same = runs.filter((f) => f.step.role === role);
	const again = role !== "curve" && same.some((f) => f.step.rate === rate) ? " again" : "";
	const { lo, hi } = boundsOf(runs);
	const known = [
		...(lo === null ? [] : [`${formatCount(lo)}/s passed`]),
		...(hi === null ? [] : [`${formatCount(hi)}/s failed`]),
	];
	const what = `${formatCount(rate)}/s${again}`;
	return {
		probe: `tries ${what}${known.length === 0 ? "" : ` (${known.join(", ")})`}`,
		confirm: `confirms ${what} with another run`,
		curve: `measures latency at ${what}, ${Math.round(100 * (CURVE[same.length] ?? 1))} % of the answer`,
	}[role];
}

// --- internal ---

function noRateText({ hi, limitedBy }: Answer, runs: readonly Found[]): string {
	const invalid = runs.filter((f) => f.outcome === "invalid");
	const all = runs.length;
	if (invalid.length === all) return `no answer: every run was INVALID (${all} of ${all})`;
	const { lo: probePerSecond } = boundsOf(runs);
	const longer = runs.filter((f) => f.step.role === "confirm");
	const lowestPerSecond = smallestOf(longer.map((f) => f.step.rate));
	const what =
		probePerSecond !== null
			? `no rate is confirmed: ${formatCount(probePerSecond)}/s passed as a probe, but no confirming run passed, down to ${formatCount(lowestPerSecond)}/s`
			: limitedBy === "generator"
				? `no answer: ${hi === null ? "no rate" : `${formatCount(hi)}/s does not meet the SLA, and no lower rate`} could be judged`
				: `no rate meets the SLA, not even ${formatCount(hi ?? 0)}/s, and the search ends at ${percent(LOWEST_PART)} of its first rate of ${formatCount(runs[0]?.step.rate ?? 0)}/s`;
	return invalid.length === 0
		? what
		: `${what}; ${invalid.length} of ${all} runs ${invalid.length === 1 ? "was" : "were"} INVALID`;
}
