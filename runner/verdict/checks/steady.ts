import { median, type TrendPoint, trend } from "../../stats/trend.ts";
import { percent } from "../../text/percent.ts";
import { formatDuration } from "../../units.ts";
import { type Facts, tightestLimitNs } from "../facts.ts";
import type { Judgement } from "../judgement.ts";
import { type Check, unknown } from "./check.ts";
import {
	STEADY_CHANGE,
	STEADY_LIMIT_SHARE,
	STEADY_MARGIN,
	STEADY_SECONDS,
	STEADY_WARNING,
} from "./limits.ts";

/** Did the median of response drift over the window? Then a percentile of the whole depends on when one looks. */
export const steady: Check = {
	name: "steady",
	/** A load that changes moves p50 by itself; consumers that pause have none. */
	applies: ({ plan: { schedule, pattern } }) =>
		schedule.kind !== "closed" && schedule.kind !== "stages" && pattern !== "backlog",
	judge(facts, judgements) {
		const rise = drift(facts);
		if (rise === null)
			return {
				...unknown(
					`a drift of p50 needs at least ${STEADY_SECONDS} whole seconds of a completed run`,
					"measure for longer",
				),
				limit: `${STEADY_SECONDS}s`,
			};
		const { change, significant, median: medianNs } = rise;
		const share = Math.abs(change);
		const matters = share > STEADY_WARNING || judgements.some((j) => leavesOpen(j, rise));
		// Nothing falls by more than 100 % of what it was.
		const by = share > 1 ? formatDuration(share * medianNs) : percent(share);
		return {
			status: significant && matters ? "warn" : "ok",
			code: significant ? "drifted" : "steady",
			text: significant
				? `p50 ${change > 0 ? "rose" : "fell"} by ${by} over the window; the median second's p50 is ${formatDuration(medianNs)}`
				: "p50 did not drift over the window, or too little to matter",
			values: { share: change, medianNs },
			figure: `${change < 0 ? "-" : "+"}${percent(share)} of p50`,
			limit: percent(STEADY_WARNING),
			remedy: "warm up for longer, and measure for longer",
		};
	},
};

/**
 * The drift of p50 by second of the window: Theil-Sen slope times duration, as a part of the median. null: too few seconds, or a load
 * that changes by itself.
 * significant: more than a fifth of it and a hundredth of the tightest limit, and the slope's 95 % interval excludes 0.
 */
export function drift(facts: Facts): Drift | null {
	const { plan, state } = facts.collected;
	if (plan.schedule.kind === "stages") return null;
	const points = mediansBySecond(facts);
	const middle = median(points.map(({ y }) => y));
	const fitted = points.length < STEADY_SECONDS ? null : trend(points);
	if (state !== "complete" || !fitted || !middle) return null;
	// A line through the medians after a long pause is steeper than they are high.
	const highest = points.reduce((most, { y }) => Math.max(most, y), 0);
	const ns = (fitted.slope * plan.schedule.durationNs) / 1e9;
	const change = Math.max(-highest, Math.min(highest, ns)) / middle;
	const limitNs = tightestLimitNs(facts, "response") ?? 0;
	const least = Math.max(STEADY_CHANGE * middle, STEADY_LIMIT_SHARE * limitNs);
	return {
		change,
		significant: Math.abs(change) * middle > least && (fitted.low > 0 || fitted.high < 0),
		median: middle,
	};
}

/** A latency that passes, and would not for long if p50 went on to rise. */
export function leavesOpen(
	{ verdict, n, margin }: Judgement,
	{ significant, change }: Drift,
): boolean {
	const near = margin !== null && margin < STEADY_MARGIN;
	return verdict === "pass" && n !== null && near && significant && change > 0;
}

// --- internal ---

interface Drift {
	readonly change: number;
	readonly significant: boolean;
	readonly median: number;
}

function mediansBySecond({ collected, merged }: Facts): TrendPoint[] {
	const { schedule, intervalSeconds = 1 } = collected.plan;
	const last = Math.floor(schedule.durationNs / 1e9) - intervalSeconds;
	return [...(merged.get("response")?.seconds ?? [])].flatMap(([second, { p50 }]) =>
		second < 0 || second > last || p50 === null ? [] : [{ x: second, y: p50 }],
	);
}
