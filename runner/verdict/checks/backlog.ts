import { largestOf } from "../../extremes.ts";
import { secondsOf } from "../../model/line-seconds.ts";
import type { Plan } from "../../model/plan.ts";
import { faultZeroNs } from "../../model/run-file.ts";
import { consuming, idleProducers } from "../../plan/load-warnings.ts";
import { messagesBefore } from "../../plan/offset.ts";
import { busy, busyShare, idle, type LoadProblem } from "../../scenario/consumers.ts";
import { median, type TrendPoint, trend } from "../../stats/trend.ts";
import { percent } from "../../text/percent.ts";
import type { Values } from "../../text/say.ts";
import { formatCount, formatDuration, plural, ratePerSecond } from "../../units.ts";
import { drainOf, EDGE_S, waiting } from "../backlog-drain.ts";
import { type Facts, sumsOf, tightestLimitNs } from "../facts.ts";
import { drainedOf } from "../fault-drain.ts";
import { intervalNs } from "../intervals.ts";
import type { Judgement } from "../judgement.ts";
import { neverCompleted } from "../never-completed.ts";
import { ratesOf } from "../rates.ts";
import { workedOffNs } from "../stops.ts";
import { meanRate } from "../window-length.ts";
import { type Check, type Finding, NOT_COUNTED, unknown } from "./check.ts";
import { BACKLOG_MESSAGES, BACKLOG_SAMPLES, BACKLOG_SHARE } from "./limits.ts";

/**
 * Does the system carry the rate? FAIL when the messages that wait became more over the window: by their trend, or by the last third against
 * the first. Quartiles and Theil-Sen: neither a stall that has been worked off moves them, nor a queue that wanders. Each step of a load is
 * judged by itself.
 */
export const backlog: Check = {
	name: "backlog",
	applies: ({ plan }) => plan.schedule.kind !== "closed" && plan.pattern !== "backlog",
	judge(facts) {
		const { state } = facts.collected;
		const tooFew = (text: string): Finding => ({
			...unknown(text, "measure for longer"),
			limit: `${BACKLOG_SAMPLES} samples`,
		});
		if (state !== "complete") return tooFew("the run was not completed");
		const points = queue(facts);
		if (points.length < BACKLOG_SAMPLES)
			return tooFew(`the queue has ${plural(points.length, "sample")}, too few for a trend`);
		const judgement = judged(facts, points, false);
		if (judgement.status !== "fail") return judgement;
		// What a fault or a stop of the generator has left waiting is no sign that the rate is too high: outside of it the queue has to be level.
		const calm = calmOf(facts, points);
		if (calm.length === points.length) return judgement;
		if (calm.length < BACKLOG_SAMPLES)
			return tooFew(
				`the queue grew during a fault or a stop of the load generator, and has ${plural(calm.length, "sample")} outside of that, too few for a trend`,
			);
		return judged(facts, calm, true);
	},
};

/** Was the backlog that consumers found when they went on worked off? */
export const backlogDrain: Check = {
	name: "backlogDrain",
	applies: ({ plan }) => plan.pattern === "backlog",
	judge({ collected }) {
		const drain = drainOf(collected);
		if (drain === null) return NOT_COUNTED;
		if (drain.drainNs === null)
			return {
				status: "warn",
				text: "the backlog was not drained",
				...drain.open,
				limit: `${formatCount(drain.drainedAt)} waiting`,
				remedy: "see what consumers wait for, or give the drain a longer part of the window",
			};
		const { peak, drainNs } = drain;
		return {
			status: "ok",
			text: `a backlog of ${plural(peak ?? 0, "message")} was drained in ${formatDuration(drainNs)}`,
			values: { peak, drainNs },
			figure: formatDuration(drainNs),
		};
	},
};

/**
 * Messages that waited, ten times a second of the window: those in flight and, when sends that block explain it, those that were due and could
 * not leave. x: seconds since T0.
 */
export function queue(facts: Facts): TrendPoint[] {
	const { plan, ticks } = facts.collected;
	const { messages, warmupNs, durationNs } = plan.schedule;
	const blocked = sumsOf(facts, "queued").sum > sumsOf(facts, "lag").sum;
	const from = warmupNs / 1e9 - 1e-9;
	const to = (warmupNs + durationNs) / 1e9 + 1e-9;
	const points: TrendPoint[] = [];
	let sent = 0;
	let unsentBefore = 0;
	for (const tick of ticks) {
		sent += tick.sent;
		const due = Math.min(messages, messagesBefore(plan.schedule, Math.round(tick.at * 1e9)));
		const unsent = blocked ? Math.max(0, due - sent) : 0;
		for (const { x, y } of waiting({ ticks: [tick] })) {
			if (x < from || x > to) continue;
			const seconds = secondsOf(tick);
			const share = (x - (tick.at - seconds)) / seconds;
			points.push({ x, y: y + unsentBefore + (unsent - unsentBefore) * share });
		}
		unsentBefore = unsent;
	}
	return points;
}

/**
 * Did messages wait for our own consumers? Where their work takes longer than the rate leaves them, the queue grows whatever the broker does:
 * what fails then says nothing about it.
 */
export const consumers: Check = {
	name: "consumers",
	applies: ({ plan }) => plan.consumers > 0 && (plan.work !== null || plan.groupsByPartition),
	judge(facts, judgements) {
		const { plan } = facts.collected;
		const of = consuming(plan);
		const perSecond = highestRate(facts);
		const busiest = perSecond === null ? null : busy(of, perSecond);
		const figure =
			plan.work === null || perSecond === null ? null : percent(busyShare(of, perSecond));
		if (busiest?.beyond && decided(facts, judgements))
			return { status: "invalid", ...finding(busiest), figure };
		const warning = idle(of) ?? busiest;
		return warning === null
			? { status: "ok", text: "every consumer got messages, and was not always busy", figure }
			: { status: "warn", ...finding(warning), figure };
	},
};

/** Had every producer something to send? */
export const producers: Check = {
	name: "producers",
	applies: ({ plan }) => idleProducers(plan) !== null,
	judge({ collected }): Finding {
		const idle = idleProducers(collected.plan);
		return idle === null
			? { status: "ok", text: "every producer had messages to send" }
			: { status: "warn", ...finding(idle) };
	},
};

/** What a queue that grows means, whatever the percentiles say. */
export const QUEUE_GREW = "the queue grew over the run: percentiles depend on the duration";

// --- internal ---

function finding({
	said,
	remedy,
}: LoadProblem): Pick<Finding, "text" | "code" | "values" | "remedy"> {
	return { ...said, remedy: remedy.text };
}

/** The window, or each of its steps. */
function judged(facts: Facts, points: readonly TrendPoint[], outsideFaults: boolean): Finding {
	const { plan } = facts.collected;
	const { warmupNs } = plan.schedule;
	const steps = plan.phases
		.map(({ name, fromNs, toNs }) => ({
			name,
			rate: rateBetween(plan, warmupNs + fromNs, warmupNs + toNs),
			points: points.filter(
				({ x }) => x > (warmupNs + fromNs) / 1e9 + EDGE_S && x <= (warmupNs + toNs) / 1e9 + EDGE_S,
			),
		}))
		.filter((step) => step.points.length >= BACKLOG_SAMPLES);
	const whole = { name: null, rate: meanRate(plan) ?? 0, points };
	const all = (steps.length > 0 ? steps : [whole]).map((step) =>
		growthOf(facts, step, outsideFaults),
	);
	return (all.find((check) => check.status === "fail") ?? all.at(-1)) as Finding;
}

/** Those before a fault or a stop of the generator, and after what that left waiting was worked off. */
function calmOf({ collected }: Facts, points: readonly TrendPoint[]): TrendPoint[] {
	const faults = (collected.run?.faults ?? []).filter((f) => f.error === null);
	const { warmupNs, durationNs } = collected.plan.schedule;
	const spans = faults.map((fault, i) => {
		const { endedNs } = fault;
		const beganNs = faultZeroNs(fault);
		const next = faults[i + 1];
		const untilNs = next ? faultZeroNs(next) : warmupNs + durationNs;
		const { drainedNs } = drainedOf(collected, { beganNs, untilNs });
		const overNs = drainedNs === null ? untilNs : beganNs + drainedNs;
		const toNs = Math.max(overNs, endedNs ?? untilNs);
		return { from: beganNs / 1e9, to: toNs / 1e9 };
	});
	for (const stop of collected.stops.filter(([a, b]) => b - a >= intervalNs(collected.plan)))
		spans.push({ from: stop[0] / 1e9, to: workedOffNs(collected, stop) / 1e9 });
	return points.filter(({ x }) => !spans.some(({ from, to }) => x > from && x <= to + EDGE_S));
}

interface Step {
	/** Of a step; null: the whole window. */
	readonly name: string | null;
	/** Messages per second that are due, on average. */
	readonly rate: number;
	readonly points: readonly TrendPoint[];
}

function growthOf(facts: Facts, { name, rate, points }: Step, outsideFaults: boolean): Finding {
	const { plan } = facts.collected;
	// A load that rises is no queue that grows: while it is faster than its mean, the queue is counted at the mean rate.
	const level = points.map(({ x, y }) => ({
		x,
		y: y * Math.min(1, rate / Math.max(rate, rateAround(plan, x))),
	}));
	const rise = growth(facts, level);
	const limitNs = tightestLimitNs(facts, "response");
	const ends = [rise.first, rise.last].map((y) => Math.max(0, y));
	const [firstThird = 0, lastThird = 0] = ends;
	// Medians: between their middles lie two thirds of the window.
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
	const { perSecond } = rise;
	if (rise.low > 0 && perSecond > BACKLOG_SHARE * rate && rise.total >= BACKLOG_MESSAGES)
		return fail(
			`${formatCount(perSecond)} messages per second`,
			`${formatCount(BACKLOG_SHARE * rate)}/s`,
			{ perSecond },
		);
	const room =
		limitNs === null
			? Number.POSITIVE_INFINITY
			: Math.max(BACKLOG_MESSAGES, (rate * limitNs) / 1e9);
	if (rise.step > room)
		return fail(`more messages than pass in ${formatDuration(limitNs ?? 0)}`, formatCount(room), {
			limitNs,
		});
	// A freeze that was worked off shows in between, and in neither.
	const highest = largestOf(points.map(({ y }) => y));
	const most = highest > largestOf(ends) ? `, at most ${formatCount(highest)} in between` : "";
	const outside = outsideFaults ? "outside of faults and stops of the load generator " : "";
	return {
		status: "ok",
		text: `${outside}the queue did not grow (${figure}${most})`,
		values,
		figure,
	};
}

/** Messages per second that are due around a time, in seconds since T0. Of a constant or random schedule its rate. */
function rateAround(plan: Plan, atS: number): number {
	const fromNs = Math.max(0, Math.round((atS - 0.5) * 1e9));
	return plan.schedule.kind === "stages"
		? rateBetween(plan, fromNs, Math.round((atS + 0.5) * 1e9))
		: (meanRate(plan) ?? 0);
}

/** The same between two times, ns since T0. */
function rateBetween({ schedule }: Plan, fromNs: number, toNs: number): number {
	const due = messagesBefore(schedule, toNs) - messagesBefore(schedule, fromNs);
	return (due * 1e9) / (toNs - fromNs);
}

/**
 * How the queue grew. A message that never came is in flight for the rest of the run: all of those are taken off the growth,
 * as loss is judged elsewhere.
 */
function growth(facts: Facts, points: readonly TrendPoint[]) {
	const missing = neverCompleted(facts.collected);
	const seconds = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
	const line = trend(points) ?? { slope: 0, low: 0, high: 0 };
	const third = Math.floor(points.length / 3);
	const first = points.slice(0, third).map(({ y }) => y);
	const last = points.slice(-third).map(({ y }) => y);
	const total = line.slope * seconds - missing;
	return {
		low: line.low,
		total,
		perSecond: total / seconds,
		first: median(first) ?? 0,
		last: (median(last) ?? 0) - missing,
		/** Even a short queue of the last third against a long one of the first. */
		step: quarter(last, 1) - missing - quarter(first, 3),
	};
}

/** The first or third quartile. */
function quarter(values: readonly number[], which: 1 | 3): number {
	const sorted = values.toSorted((a, b) => a - b);
	return sorted[Math.floor(((sorted.length - 1) * which) / 4)] ?? 0;
}

/** The rate of the step that asks the most of consumers. Of a closed load what was received; of one that changes without steps its mean: a queue of its peak may be worked off. */
function highestRate({ collected }: Facts): number | null {
	const { plan } = collected;
	const { rate, kind } = plan.schedule;
	if (kind === "closed") return ratesOf(collected).received;
	return plan.phases.length > 0 && rate !== null ? ratePerSecond(rate) : meanRate(plan);
}

/** Was something judged that did not pass, or did the queue grow? */
function decided(facts: Facts, judgements: readonly Judgement[]): boolean {
	return (
		judgements.some(({ verdict }) => verdict === "fail" || verdict === "inconclusive") ||
		(backlog.applies?.(facts.collected) !== false &&
			backlog.judge(facts, judgements).status === "fail")
	);
}
