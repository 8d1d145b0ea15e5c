import { EMPTY } from "../histogram/distribution.ts";
import type { Tick } from "../model/client-file.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Plan } from "../model/plan.ts";
import type { Phase } from "../model/result.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, mainMetric, samplesPerMessage } from "../plan/samples.ts";
import { type Facts, hasMetric, messagesDue, sumsOf } from "../verdict/facts.ts";
import { percentileOf } from "../verdict/quantile.ts";
import { figuresOf } from "./metrics.ts";

/** The figures of each part of the window: latencies by when messages were due, rates by when things really happened. */
export function phasesOf(facts: Facts): Phase[] {
	const { plan, ticks } = facts.collected;
	const { warmupNs } = plan.schedule;
	const last = plan.phases.at(-1);
	return plan.phases.map((phase, i) => {
		const { name, fromNs, toNs } = phase;
		const intended =
			messagesBefore(plan.schedule, warmupNs + toNs) -
			messagesBefore(plan.schedule, warmupNs + fromNs);
		const seconds = (toNs - fromNs) / 1e9;
		const perSecond = (counted: Counted) => {
			const all =
				happened(
					ticks,
					(warmupNs + fromNs) / 1e9,
					(warmupNs + toNs) / 1e9,
					(tick) => tick[counted],
				) + (phase === last ? unticked(facts, counted) : 0);
			// Of an idle step that is no measurement; what came from before is.
			return intended === 0 && all === 0 ? null : all / seconds;
		};
		return {
			name,
			fromNs,
			toNs,
			intended,
			rate: intended / seconds,
			metric: mainMetric(plan),
			latency: latencyOf(facts, i, intended),
			...lagOf(facts, i),
			throughput: {
				sent: perSecond("sent"),
				acked: ticks.some((t) => t.acked === null) ? null : perSecond("acked"),
				received: plan.pattern === "publish" ? null : perSecond("received"),
			},
		};
	});
}

/**
 * What happened in [fromS, toS) since T0. Ticks are whole seconds since T0: where a warm-up is no whole number of seconds, their parts
 * are taken to be spread evenly.
 */
export function happened(
	ticks: readonly Tick[],
	fromS: number,
	toS: number,
	of: (tick: Tick) => number | null,
): number {
	return ticks.reduce((sum, tick) => {
		const seconds = secondsOf(tick);
		const within = Math.min(tick.at, toS) - Math.max(tick.at - seconds, fromS);
		return sum + (of(tick) ?? 0) * Math.min(1, Math.max(0, within / seconds));
	}, 0);
}

// --- internal ---

type Counted = "sent" | "acked" | "received";

/**
 * What the window's own totals have beyond its ticks: a window may end before the last second is over, and in older files that second has no
 * tick. It belongs to the last part of the window.
 */
function unticked({ collected }: Facts, counted: Counted): number {
	const { ticks, totals, plan } = collected;
	const { warmupNs, durationNs } = plan.schedule;
	const whole = totals?.[`${counted}InWindow`] ?? 0;
	const end = (warmupNs + durationNs) / 1e9;
	if (plan.phases.at(-1)?.toNs !== durationNs) return 0;
	const told = happened(ticks, warmupNs / 1e9, end, (tick) => tick[counted]);
	return Math.max(0, whole - told);
}

function latencyOf(facts: Facts, i: number, intended: number): Phase["latency"] {
	const { plan } = facts.collected;
	const metric = mainMetric(plan);
	if (!hasMetric(facts, metric)) return null;
	const span = spanOf(facts, i);
	const distribution = facts.merged.get(metric)?.phases[i] ?? EMPTY;
	const { count, min, max } = sumsOf(facts, metric, span);
	// Of a run that was stopped nobody knows which of them were offered.
	const due =
		messagesDue(facts) === intendedInWindow(plan) ? intended * samplesPerMessage(plan, metric) : 0;
	const n = Math.max(due, distribution.count);
	if (n === 0 && intended === 0) return null;
	const ends = count > 0 ? { min, max } : { min: null, max: null };
	return figuresOf(facts, metric, { distribution, n, ...ends }, span);
}

function lagOf(facts: Facts, i: number): Pick<Phase, "lagP99" | "lagP99Weak"> {
	const distribution = facts.merged.get("lag")?.phases[i] ?? EMPTY;
	const sample = { distribution, n: distribution.count, min: null, max: null };
	const p99 = percentileOf(facts, "lag", 99, sample, spanOf(facts, i));
	return { lagP99: p99.value, lagP99Weak: p99.support === "weak" };
}

/** In seconds of the window. */
function spanOf({ collected: { plan } }: Facts, i: number) {
	const { fromNs, toNs } = plan.phases[i] as Plan["phases"][number];
	return { from: fromNs / 1e9, to: toNs / 1e9 };
}
