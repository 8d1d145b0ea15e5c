import { median, type TrendPoint, trend } from "../stats/trend.ts";
import { formatDuration } from "../units.ts";
import { type CheckFunction, result } from "./check.ts";
import { type Facts, tightestLimitNs } from "./facts.ts";
import { STEADY_CHANGE, STEADY_LIMIT_SHARE, STEADY_SECONDS } from "./limits.ts";

/** Did the median of response drift over the window? Then a percentile of the whole depends on when one looks. */
export const steady: CheckFunction = (facts) => {
	const found = drift(facts);
	if (found === null)
		return result(
			"steady",
			"unknown",
			`a drift of p50 shows from ${STEADY_SECONDS} whole seconds on, of a run made to its end`,
			{ limit: `${STEADY_SECONDS}s`, remedy: "measure for longer" },
		);
	const { change, significant, median: middle } = found;
	const figure = `${change < 0 ? "-" : "+"}${percent(Math.abs(change))} of p50`;
	const limit = `${percent(STEADY_CHANGE)}`;
	if (!significant)
		return result(
			"steady",
			"ok",
			"p50 did not drift over the window, or too little to matter",
			{ figure, limit },
		);
	return result(
		"steady",
		"warn",
		`p50 ${change > 0 ? "rose" : "fell"} by ${percent(Math.abs(change))} of its median ${formatDuration(middle)} over the window`,
		{ figure, limit, remedy: "warm up for longer, and measure for longer" },
	);
};

/**
 * The drift of p50 by second of the window: Theil-Sen slope times duration, as a part of the median. null: too few seconds, or a load
 * that changes by itself.
 * significant: more than a fifth of it and a hundredth of the tightest limit, and the slope's 95 % interval excludes 0.
 */
export function drift(
	facts: Facts,
): { change: number; significant: boolean; median: number } | null {
	const { plan, state } = facts.collected;
	if (plan.schedule.kind === "stages") return null;
	const points = mediansBySecond(facts);
	const middle = median(points.map(({ y }) => y));
	const found = points.length < STEADY_SECONDS ? null : trend(points);
	if (state !== "complete" || !found || !middle) return null;
	const change = (found.slope * plan.schedule.durationNs) / 1e9 / middle;
	const limitNs = tightestLimitNs(facts, "response") ?? 0;
	const least = Math.max(STEADY_CHANGE * middle, STEADY_LIMIT_SHARE * limitNs);
	return {
		change,
		significant:
			Math.abs(change) * middle > least && (found.low > 0 || found.high < 0),
		median: middle,
	};
}

// --- internal ---

function mediansBySecond({ collected, merged }: Facts): TrendPoint[] {
	const whole = Math.floor(collected.plan.schedule.durationNs / 1e9);
	return [...(merged.get("response")?.seconds ?? [])].flatMap(
		([second, { p50 }]) =>
			second < 0 || second >= whole || p50 === null
				? []
				: [{ x: second, y: p50 }],
	);
}

function percent(share: number): string {
	return `${Number((share * 100).toPrecision(2))} %`;
}
