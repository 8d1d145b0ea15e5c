import { faultsDone } from "../../evidence/members.ts";
import { largestOf } from "../../extremes.ts";
import { secondsOf } from "../../model/line-seconds.ts";
import type { Plan } from "../../model/plan.ts";
import { faultZeroNs } from "../../model/run-file.ts";
import { messagesBefore } from "../../plan/offset.ts";
import { consuming } from "../../plan/warnings.ts";
import { busy, busyShare, idle } from "../../scenario/consumers.ts";
import { median, type TrendPoint, trend } from "../../stats/trend.ts";
import { percent } from "../../text/percent.ts";
import type { Values } from "../../text/say.ts";
import { formatCount, formatDuration, plural, ratePerSecond } from "../../units.ts";
import { type Facts, sumsOf, tightestLimitNs } from "../facts.ts";
import { intervalNs } from "../intervals.ts";
import type { Judgement } from "../judgement.ts";
import { BACKLOG_MESSAGES, drainedOf, EDGE_S, neverCompleted, waiting } from "../queue.ts";
import { meanRate, ratesOf } from "../rates.ts";
import { workedOffNs } from "../stops.ts";
import { type Check, type Finding, ok, unknown } from "./check.ts";

/** Would a longer run show the same, or is there a trend in queue or latency? */

/** Fewer queue samples (10 a second) show no trend. */
const BACKLOG_SAMPLES = 30;
/** Growth above this share of the rate: less than 99.5 % of the load is sustained. */
const BACKLOG_SHARE = 0.005;

/** Quartiles and Theil-Sen ignore stalls that were worked off, and queues that wander. Each step of a load is judged by itself. */
export const backlog: Check = {
	name: "backlog",
	comesTo: "fail",
	when: "the queue [grew](#slopes). Not for closed loops and pattern backlog",
	applies: ({ plan }) => plan.schedule.kind !== "closed" && plan.pattern !== "backlog",
	judge(facts) {
		const tooFew = (text: string): Finding => ({
			...unknown(text, "measure for longer"),
			limit: `${BACKLOG_SAMPLES} samples`,
		});
		if (facts.collected.state !== "complete") return tooFew("the run was not completed");
		const points = queue(facts);
		if (points.length < BACKLOG_SAMPLES)
			return tooFew(`the queue has ${plural(points.length, "sample")}, too few for a trend`);
		const found = growthOf(facts, points);
		if (found.status !== "fail") return found;
		// Messages left by a fault or a generator stop do not show that the rate is too high.
		const calm = calmOf(facts, points);
		if (calm.length === points.length) return found;
		return calm.length < BACKLOG_SAMPLES
			? tooFew(
					`the queue grew during a fault or a stop of the load generator, and has ${plural(calm.length, "sample")} outside of that, too few for a trend`,
				)
			: growthOf(facts, calm, "outside of faults and stops of the load generator ");
	},
};

/** If mqbench's consumers work longer than the rate allows, the queue grows whatever the broker does. */
export const consumers: Check = {
	name: "consumers",
	comesTo: "warn, invalid",
	when: "consumers get nothing, because there are fewer partitions; or the busiest worked > 85 % of the time at the mean rate (of steps: the highest). Invalid: it needs > 100 %, and an SLA line does not pass or the queue grew",
	applies: ({ plan }) => plan.consumers > 0 && (plan.work !== null || plan.groupsByPartition),
	judge(facts, judgements) {
		const { collected } = facts;
		const { plan } = collected;
		const { rate, kind } = plan.schedule;
		const of = consuming(plan);
		// The mean, for a load without steps: the queue of its peak may be worked off.
		const stepped = plan.phases.length > 0 && rate !== null;
		const open = stepped ? ratePerSecond(rate) : meanRate(plan);
		const perSecond = kind === "closed" ? ratesOf(collected).received : open;
		const busiest = perSecond === null ? null : busy(of, perSecond);
		const figure =
			plan.work === null || perSecond === null ? null : percent(busyShare(of, perSecond));
		const invalid =
			busiest?.beyond &&
			(judgements.some(({ verdict }) => verdict === "fail" || verdict === "inconclusive") ||
				(backlog.applies?.(collected) && backlog.judge(facts, judgements).status === "fail"));
		const found = invalid ? busiest : (idle(of) ?? busiest);
		if (found === null)
			return ok("every consumer got messages, and was not always busy", { figure });
		const { said, remedy } = found;
		return { ...said, status: invalid ? "invalid" : "warn", remedy, figure };
	},
};

/**
 * Warning without an open gate: p50 of half of the window is a quarter off. Smaller drifts are common: one in five healthy runs drifts, and
 * p50 of published repeats differs by 16 % in the median case, by 31 % in a quarter of some.
 */
const STEADY_WARNING = 0.5;
/** A smaller drift of the median over the window is noise. */
export const STEADY_CHANGE = 0.2;
/** Smallest drift as a share of the tightest response limit: 60us to 90us, common on shared machines, does not matter at 20 ms. */
const STEADY_LIMIT_SHARE = 0.01;
/** Fewer points are too weak: of the 28 pairs of 8 points, at most 5 may point the other way. */
export const STEADY_SECONDS = 8;
/** A rising p50 leaves a gate open if the limit is nearer than this factor. */
export const STEADY_MARGIN = 2;

/** If p50 drifts, percentiles of the whole window depend on when they are measured. */
export const steady: Check = {
	name: "steady",
	comesTo: "warn",
	when: "p50 [drifted](#slopes) by > 50 %, or leaves an SLA line open. Not where the rate changes",
	/** A changing load moves p50 itself; paused consumers have none. */
	applies: ({ plan: { schedule, pattern } }) =>
		schedule.kind !== "closed" && schedule.kind !== "stages" && pattern !== "backlog",
	judge(facts, judgements) {
		const rise = drift(facts);
		if (rise === null) {
			const text = `a drift of p50 needs at least ${STEADY_SECONDS} whole seconds of a completed run`;
			return { ...unknown(text, "measure for longer"), limit: `${STEADY_SECONDS}s` };
		}
		const { change, significant, median: medianNs } = rise;
		const share = Math.abs(change);
		const matters = share > STEADY_WARNING || judgements.some((j) => leavesOpen(j, rise));
		// A fall is at most 100 %.
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

/** Theil-Sen drift of p50 over the window, as a share of its median. Null with too few seconds, or a changing load. */
export function drift(facts: Facts) {
	const { plan, state } = facts.collected;
	const { kind, durationNs } = plan.schedule;
	if (kind === "stages" || state !== "complete") return null;
	const last = Math.floor(durationNs / 1e9) - (plan.intervalSeconds ?? 1);
	const points = [...(facts.merged.get("response")?.seconds ?? [])].flatMap(([x, { p50: y }]) =>
		x < 0 || x > last || y === null ? [] : [{ x, y }],
	);
	const heights = points.map(({ y }) => y);
	const middle = median(heights);
	const fitted = points.length < STEADY_SECONDS ? null : trend(points);
	if (!fitted || !middle) return null;
	// After a long pause, a line through the medians is steeper than they are high.
	const highest = largestOf(heights);
	const ns = (fitted.slope * durationNs) / 1e9;
	const change = Math.max(-highest, Math.min(highest, ns)) / middle;
	const limitNs = tightestLimitNs(facts, "response") ?? 0;
	const least = Math.max(STEADY_CHANGE * middle, STEADY_LIMIT_SHARE * limitNs);
	return {
		change,
		significant: Math.abs(change) * middle > least && (fitted.low > 0 || fitted.high < 0),
		median: middle,
	};
}

/** A passing latency that would soon fail if p50 kept rising. */
export function leavesOpen({ verdict, n, margin }: Judgement, rise: ReturnType<typeof drift>) {
	if (verdict !== "pass" || n === null || margin === null || rise === null) return false;
	return margin < STEADY_MARGIN && rise.significant && rise.change > 0;
}

/** Waiting messages of the window, 10 samples a second, x in seconds since T0: in flight and, if blocking explains it, due but unsent. */
export function queue(facts: Facts): TrendPoint[] {
	const { plan, ticks } = facts.collected;
	const { messages, warmupNs, durationNs } = plan.schedule;
	const blocked = sumsOf(facts, "queued").sum > sumsOf(facts, "lag").sum;
	const from = warmupNs / 1e9 - 1e-9;
	const to = (warmupNs + durationNs) / 1e9 + 1e-9;
	let [sent, before] = [0, 0];
	return ticks.flatMap((tick) => {
		sent += tick.sent;
		const due = Math.min(messages, messagesBefore(plan.schedule, Math.round(tick.at * 1e9)));
		const unsent = blocked ? Math.max(0, due - sent) : 0;
		const [was, seconds] = [before, secondsOf(tick)];
		before = unsent;
		return waiting({ ticks: [tick] }).flatMap(({ x, y }) => {
			const share = (x - (tick.at - seconds)) / seconds;
			return x < from || x > to ? [] : [{ x, y: y + was + (unsent - was) * share }];
		});
	});
}

// --- internal ---

/** Points outside faults, generator stops, and the time to work off the queue after them. */
function calmOf({ collected }: Facts, points: readonly TrendPoint[]): TrendPoint[] {
	const faults = faultsDone(collected).filter((f) => f.error === null);
	const { warmupNs, durationNs } = collected.plan.schedule;
	const spans = faults.map((fault, i) => {
		const beganNs = faultZeroNs(fault);
		const next = faults[i + 1];
		const untilNs = next ? faultZeroNs(next) : warmupNs + durationNs;
		const { drainedNs } = drainedOf(collected, { beganNs, untilNs });
		const overNs = drainedNs === null ? untilNs : beganNs + drainedNs;
		return [beganNs, Math.max(overNs, fault.endedNs ?? untilNs)];
	});
	for (const stop of collected.stops.filter(([a, b]) => b - a >= intervalNs(collected.plan)))
		spans.push([stop[0], workedOffNs(collected, stop)]);
	return points.filter(
		({ x }) => !spans.some(([from = 0, to = 0]) => x > from / 1e9 && x <= to / 1e9 + EDGE_S),
	);
}

/** Growth of the window's queue, or of the first step that grew too much, else the last. */
function growthOf(facts: Facts, points: readonly TrendPoint[], outside = ""): Finding {
	const { plan } = facts.collected;
	const { warmupNs } = plan.schedule;
	const steps = plan.phases
		.map(({ name, fromNs, toNs }): Step => {
			const [from, to] = [warmupNs + fromNs, warmupNs + toNs];
			const within = ({ x }: TrendPoint) => x > from / 1e9 + EDGE_S && x <= to / 1e9 + EDGE_S;
			return { name, rate: rateBetween(plan, from, to), points: points.filter(within) };
		})
		.filter((step) => step.points.length >= BACKLOG_SAMPLES);
	const whole = { name: null, rate: meanRate(plan) ?? 0, points };
	const all = (steps.length > 0 ? steps : [whole]).map((step) => stepGrowth(facts, step, outside));
	return (all.find((found) => found.status === "fail") ?? all.at(-1)) as Finding;
}

interface Step {
	readonly name: string | null;
	readonly rate: number;
	readonly points: readonly TrendPoint[];
}

/** Scales the queue to the mean rate while the load is faster, and subtracts messages that never came: these stay in flight. */
function stepGrowth(facts: Facts, { name, rate, points }: Step, outside: string): Finding {
	const { plan } = facts.collected;
	const level = points.map(({ x, y }) => ({
		x,
		y: y * Math.min(1, rate / Math.max(rate, rateAround(plan, x))),
	}));
	const missing = neverCompleted(facts.collected);
	const seconds = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
	const { slope, low } = trend(level) ?? { slope: 0, low: 0 };
	const total = slope * seconds - missing;
	const perSecond = total / seconds;
	const third = Math.floor(points.length / 3);
	const first = level.slice(0, third).map(({ y }) => y);
	const last = level.slice(-third).map(({ y }) => y);
	// The middles of the thirds are two thirds of the window apart.
	const firstThird = Math.max(0, median(first) ?? 0);
	const lastThird = Math.max(0, (median(last) ?? 0) - missing);
	const figure = `${formatCount(firstThird)} waiting in the first third, ${formatCount(lastThird)} in the last`;
	const values = { phase: name, firstThird, lastThird };
	const fail = (by: string, limit: string, more: Values): Finding => ({
		status: "fail",
		text: `${name === null ? "" : `at ${name} `}the queue grew by ${by} (${figure}): percentiles depend on the duration`,
		values: { ...values, ...more },
		figure,
		limit,
		remedy: "find the rate that it carries: lower the rate until the queue stays level",
	});
	const most = BACKLOG_SHARE * rate;
	if (low > 0 && perSecond > most && total >= BACKLOG_MESSAGES)
		return fail(`${formatCount(perSecond)} messages per second`, `${formatCount(most)}/s`, {
			perSecond,
		});
	// Compares a small queue of the last third with a large one of the first.
	const step = quarter(last, 1) - missing - quarter(first, 3);
	const limitNs = tightestLimitNs(facts, "response");
	const room = limitNs === null ? Infinity : Math.max(BACKLOG_MESSAGES, (rate * limitNs) / 1e9);
	if (step > room)
		return fail(`more messages than pass in ${formatDuration(limitNs ?? 0)}`, formatCount(room), {
			limitNs,
		});
	// A freeze that was worked off shows only in between.
	const highest = largestOf(points.map(({ y }) => y));
	const between =
		highest > Math.max(firstThird, lastThird) ? `, at most ${formatCount(highest)} in between` : "";
	return ok(`${outside}the queue did not grow (${figure}${between})`, { values, figure });
}

/** Messages due per second around a time in s since T0; for constant and random schedules the rate. */
function rateAround(plan: Plan, atS: number): number {
	const fromNs = Math.max(0, Math.round((atS - 0.5) * 1e9));
	return plan.schedule.kind === "stages"
		? rateBetween(plan, fromNs, Math.round((atS + 0.5) * 1e9))
		: (meanRate(plan) ?? 0);
}

function rateBetween({ schedule }: Plan, fromNs: number, toNs: number): number {
	const due = messagesBefore(schedule, toNs) - messagesBefore(schedule, fromNs);
	return (due * 1e9) / (toNs - fromNs);
}

function quarter(values: readonly number[], which: 1 | 3): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.floor(((sorted.length - 1) * which) / 4)] ?? 0;
}
