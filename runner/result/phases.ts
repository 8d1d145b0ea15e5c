import { largestOf } from "../extremes.ts";
import { EMPTY } from "../histogram/distribution.ts";
import { figuresOf as figuresOfPart } from "../histogram/merge.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Plan } from "../model/plan.ts";
import type { Phase, Run } from "../model/result.ts";
import { messagesBefore } from "../plan/offset.ts";
import { intendedInWindow, mainMetric, samplesPerMessage } from "../plan/samples.ts";
import { sum } from "../stats/sum.ts";
import {
	allOf,
	dueBySecond,
	type Facts,
	hasMetric,
	hoursOf,
	messagesDue,
	sumsOf,
} from "../verdict/facts.ts";
import { percentileOf } from "../verdict/quantile.ts";
import { figuresOf } from "./metrics.ts";
import { resourceSeries } from "./resources.ts";

/** Latencies by intended time, rates by real time. */
export function phasesOf(facts: Facts): Phase[] {
	const { plan, ticks, totals } = facts.collected;
	const { warmupNs, durationNs } = plan.schedule;
	const window = { fromNs: 0, toNs: durationNs };
	// Older files have no tick for a second in which the window ends: its counts are the totals less the ticks.
	const unticked = (counted: Counted) =>
		Math.max(0, (totals?.[`${counted}InWindow`] ?? 0) - countedIn(facts, counted, window));
	return plan.phases.map((phase, i) => {
		const { name, fromNs, toNs } = phase;
		const intended =
			messagesBefore(plan.schedule, warmupNs + toNs) -
			messagesBefore(plan.schedule, warmupNs + fromNs);
		const seconds = (toNs - fromNs) / 1e9;
		const perSecond = (counted: Counted) => {
			const all = countedIn(facts, counted, phase) + (toNs === durationNs ? unticked(counted) : 0);
			// An idle step measures only messages from before.
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

/** The hours of a long run. Undefined for a shorter one. */
export function hourly(facts: Facts): Run["hours"] {
	const { plan } = facts.collected;
	const metric = mainMetric(plan);
	const hours = hoursOf(plan);
	if (hours.length === 0 || !hasMetric(facts, metric)) return undefined;
	const due = dueBySecond(facts.collected);
	const points = resourceSeries(facts.collected);
	const counted = plan.pattern === "publish" ? "acked" : "received";
	return hours.map((hour, i) => {
		const [from, to] = [hour.fromNs / 1e9, hour.toNs / 1e9];
		const distribution = facts.merged.get(metric)?.phases[i] ?? EMPTY;
		const owed = sum([...(due ?? [])].map(([at, n]) => (at >= from && at < to ? n : 0)));
		const { count, p50, p99 } = figuresOfPart(distribution, owed);
		const { max, ...exact } = sumsOf(facts, metric, { from, to });
		const most = exact.count > 0 ? max : null;
		// A bucket's edge may lie above the exact maximum.
		const value = (ns: number | null) => ns && Math.min(ns, max);
		const memory = points.flatMap(({ at, broker }) => {
			const second = at - plan.schedule.warmupNs / 1e9;
			return second > from && second <= to ? (broker?.rssBytes ?? []) : [];
		});
		return {
			...hour,
			count,
			missing: due && Math.max(0, owed - count),
			p50: value(p50),
			p99: value(p99),
			max: most,
			perSecond: countedIn(facts, counted, hour) / (to - from),
			brokerBytes: memory.length === 0 ? null : largestOf(memory),
		};
	});
}

// --- internal ---

type Counted = "sent" | "acked" | "received";

/** Ticks end with seconds since T0; a part of a second counts as spread evenly. */
function countedIn(
	{ collected: { plan, ticks } }: Facts,
	counted: Counted,
	{ fromNs, toNs }: { readonly fromNs: number; readonly toNs: number },
): number {
	const { warmupNs } = plan.schedule;
	return ticks.reduce((sum, tick) => {
		const seconds = secondsOf(tick);
		const to = Math.min(tick.at, (warmupNs + toNs) / 1e9);
		const within = to - Math.max(tick.at - seconds, (warmupNs + fromNs) / 1e9);
		return sum + (tick[counted] ?? 0) * Math.min(1, Math.max(0, within / seconds));
	}, 0);
}

function latencyOf(facts: Facts, i: number, intended: number): Phase["latency"] {
	const { plan } = facts.collected;
	const metric = mainMetric(plan);
	if (!hasMetric(facts, metric)) return null;
	const span = spanOf(facts, i);
	const distribution = facts.merged.get(metric)?.phases[i] ?? EMPTY;
	const { count, min, max } = sumsOf(facts, metric, span);
	// It is unknown which messages a stopped run has offered.
	const due =
		messagesDue(facts) === intendedInWindow(plan) ? intended * samplesPerMessage(plan, metric) : 0;
	const n = Math.max(due, distribution.count);
	if (n === 0 && intended === 0) return null;
	const ends = count > 0 ? { min, max } : { min: null, max: null };
	return figuresOf(facts, metric, { distribution, n, ...ends }, span);
}

function lagOf(facts: Facts, i: number): Pick<Phase, "lagP99" | "lagP99Weak"> {
	const sample = allOf(facts.merged.get("lag")?.phases[i] ?? EMPTY);
	const p99 = percentileOf(facts, "lag", 99, sample, spanOf(facts, i));
	return { lagP99: p99.value, lagP99Weak: p99.support === "weak" };
}

/** In seconds of the window. */
function spanOf({ collected: { plan } }: Facts, i: number) {
	const { fromNs, toNs } = plan.phases[i] as Plan["phases"][number];
	return { from: fromNs / 1e9, to: toNs / 1e9 };
}
