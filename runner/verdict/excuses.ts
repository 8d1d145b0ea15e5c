import { tail } from "../histogram/percentiles.ts";
import type { LatencySla, Sla } from "../model/plan.ts";
import { sum } from "../stats/sum.ts";
import { type Said, said, sayBut, type Values } from "../text/say.ts";
import { formatCount as count, formatDuration as duration, plusMinus } from "../units.ts";
import { bufferedIn, bufferedText } from "./buffered.ts";
import { burstOf } from "./burst.ts";
import { floorOver } from "./checks/generator.ts";
import { boundOfMetric } from "./checks/run.ts";
import { drift, leavesOpen, QUEUE_GREW, STEADY_MARGIN } from "./checks/trend.ts";
import { containsLag, distributionOf, type Facts, RECEIVES, sampleOf } from "./facts.ts";
import { intervalNs, type LimitInterval, receivedTwice, without } from "./intervals.ts";
import { because, type ExcuseName, type Judgement } from "./judgement.ts";
import { machineName, machinesOf, saturatedText, saturationOf } from "./saturation.ts";
import { fails, type OverTest } from "./statistics.ts";
import { stopsIn } from "./stops.ts";
import { rateWithoutStops } from "./tally.ts";

/** An SLA line on one run, as far as excuses ask about it. */
export interface Line {
	readonly sla: Sla;
	readonly facts: Facts;
	readonly judgement: Judgement;
	/** What it counts, by 100 ms of the window; nothing of counts, rates and times of faults. */
	readonly intervals: readonly LimitInterval[];
	/** What it would come to with other intervals. */
	test(intervals: readonly LimitInterval[]): OverTest["verdict"];
	/** The latency that late messages decided; null: it is none, or messages that never came decided. */
	readonly late: LatencySla | null;
	/** It stopped the run. */
	readonly stopped: boolean;
}

interface Excuse {
	readonly name: ExcuseName;
	/** In result.json. */
	readonly code: string;
	/** Verdicts in whose place it may stand. */
	readonly overturns: readonly Judgement["verdict"][];
	/** null: it was not so. */
	applies(line: Line, queueGrew: boolean): Found | false | null;
	/** "cause": a FAIL stays one, and has its cause; under `strict` it is INVALID. */
	readonly becomes: "invalid" | "inconclusive" | "cause";
}

interface Found {
	/** "the load generator was late" */
	readonly wrong: string;
	readonly values?: Values;
	/** What is left without it: it decides when the line then does not FAIL, or of an open one passes. Absent: it decides as it is. */
	readonly left?: readonly LimitInterval[];
	/** Of what makes a line INVALID, what is taken away: "without its own lateness". */
	readonly without?: string;
	/** And how a line without intervals would come out then. */
	readonly would?: string;
}

/** Those that checks tell of: the first that decided a line counts. */
export const BEFORE_CHECKS: readonly Excuse[] = [
	{
		name: "lag",
		code: "late-by-lag",
		overturns: ["fail", "inconclusive"],
		applies: ({ late, intervals }) =>
			late !== null &&
			containsLag(late.metric) && {
				wrong: "the load generator was late",
				left: onTime(intervals),
				without: "its own lateness",
			},
		becomes: "invalid",
	},
	{
		name: "burst",
		code: "late-by-burst",
		overturns: ["fail", "inconclusive"],
		applies({ late, intervals, facts: { collected } }) {
			const burst = late && burstOf(collected, intervals, late.limitNs);
			return (
				burst && {
					wrong: `the load generator was late for ${burst.lateSeconds}s and then sent a burst`,
					values: { lateSeconds: burst.lateSeconds },
					left: burst.without,
					without: "those seconds and the one after each",
				}
			);
		},
		becomes: "invalid",
	},
	{
		name: "stops",
		code: "late-by-stops",
		overturns: ["fail"],
		applies({ sla, late, intervals, facts: { collected } }) {
			const rate = sla.kind === "tally" ? rateWithoutStops(sla, collected) : null;
			const near = late && stopsIn(collected, late.limitNs);
			const { stops, stoppedNs } = rate ?? near ?? { stops: 0, stoppedNs: 0 };
			const times = stops === 1 ? "once" : `${count(stops)} times`;
			const found = {
				wrong: `the load generator was stopped ${times}, for ${duration(stoppedNs)}`,
				values: { stops, stoppedNs },
			};
			if (rate) return { ...found, without: "that time", would: `it would be ${rate.without}` };
			if (!late || !near?.intervals.size) return null;
			const rest = containsLag(late.metric) ? onTime(intervals) : intervals;
			const left = without(rest, near.intervals);
			return { ...found, left, without: "its lag and the messages due around that" };
		},
		becomes: "invalid",
	},
	{
		name: "held",
		code: "late-by-held",
		overturns: ["fail"],
		applies({ late, intervals, facts: { collected } }) {
			const held = late && RECEIVES.has(late.metric) && bufferedIn(collected, late.limitNs);
			if (!held || held.intervals.size === 0) return null;
			const heldNs = held.intervals.size * intervalNs(collected.plan);
			return {
				wrong: bufferedText(held, late.limitNs),
				values: { held: held.most, explained: held.explained, heldNs },
				left: without(intervals, held.intervals),
				without: `the ${duration(heldNs)} of load that waited there`,
			};
		},
		becomes: "invalid",
	},
	{
		name: "receipts",
		code: "duplicate-receipts",
		overturns: ["fail"],
		applies({ late, stopped, intervals, facts: { collected } }) {
			const second = late && !stopped ? receivedTwice(collected, late.metric) : 0;
			const are = second === 1 ? "is a second receipt" : "are second receipts";
			return (
				second > 0 && {
					wrong: `maybe ${count(second)} of them ${are} by another client`,
					values: { second },
					left: withoutOver(intervals, second),
				}
			);
		},
		becomes: "inconclusive",
	},
	{
		// Messages that never completed are the system's all the same: a FAIL by these alone stands.
		name: "floor",
		code: "floor-over-limit",
		overturns: ["fail"],
		applies({ sla, intervals, facts }) {
			const floorNs = floorOver(sla, facts);
			return (
				floorNs !== null && {
					wrong: `without any broker this generator needs ${duration(floorNs)}, which is above the limit as well`,
					values: { floorNs },
					left: intervals.map((i) => ({ ...i, over: i.censored })),
				}
			);
		},
		becomes: "inconclusive",
	},
	{
		// Of a rate: what was reached is no less than what the rest of the window allows for. Where nobody knows when messages were due, it has to be most of the window.
		name: "machine",
		code: "machine-saturated",
		overturns: ["fail"],
		applies({ sla, judgement, intervals, test, facts }) {
			const { state, plan } = facts.collected;
			if (state !== "complete" && state !== "aborted") return null;
			for (const machine of machinesOf(facts)) {
				const found = saturationOf(machine, facts);
				if (!found) continue;
				const { share, idle: idleShare, wait: waitShare } = found;
				const { tally } = judgement;
				const known = state === "complete" && plan.schedule.kind !== "closed";
				const explained =
					sla.kind === "tally"
						? tally?.unit === "messages/s" && (tally.value ?? 0) >= tally.limit * (1 - share)
						: known
							? test(without(intervals, found.intervals)) !== "fail"
							: share > 0.5;
				const where = machineName(machine);
				if (explained)
					return {
						wrong: `the machine was saturated (${where}): ${saturatedText(found)}`,
						values: { idleShare, waitShare, share, where },
					};
			}
			return null;
		},
		becomes: "cause",
	},
];

/** Those that leave a line open once the run itself is to be trusted. A FAIL that a machine explains keeps its cause where clocks leave it open. */
export const AFTER_CHECKS: readonly Excuse[] = [
	{
		name: "clocks",
		code: "clocks",
		overturns: ["fail", "pass"],
		applies(line) {
			const boundNs = line.sla.kind === "tally" ? 0 : boundOfMetric(line.facts, line.sla.metric);
			return boundNs === 0 || line.judgement.n === null || holdsWithin(line, boundNs)
				? null
				: { wrong: `within the clocks' bound of ${plusMinus(boundNs)}`, values: { boundNs } };
		},
		becomes: "inconclusive",
	},
	{
		name: "queue",
		code: "queue-growing",
		overturns: ["pass"],
		applies: ({ judgement }, queueGrew) =>
			queueGrew && judgement.n !== null ? { wrong: QUEUE_GREW } : null,
		becomes: "inconclusive",
	},
	{
		name: "drift",
		code: "p50-rose",
		overturns: ["pass"],
		applies({ judgement, facts }) {
			const rise = judgement.n === null ? null : drift(facts);
			return rise !== null && leavesOpen(judgement, rise)
				? {
						wrong: `p50 rose over the window, and the limit is less than ${STEADY_MARGIN} times what was measured`,
						values: { factor: STEADY_MARGIN },
					}
				: null;
		},
		becomes: "inconclusive",
	},
];

/** A line's judgement with the first excuse that decided it. */
export function excused(
	line: Line,
	excuses: readonly Excuse[],
	judgement = line.judgement,
	queueGrew = false,
): Judgement {
	for (const excuse of excuses) {
		if (!excuse.overturns.includes(judgement.verdict)) continue;
		const found = excuse.applies({ ...line, judgement }, queueGrew);
		if (!found) continue;
		const left = found.left && line.test(found.left);
		if (left !== undefined && (judgement.verdict === "fail" ? left === "fail" : left !== "pass"))
			continue;
		const { name, code, becomes } = excuse;
		const { why: text, code: of, values } = judgement;
		const strict = line.facts.collected.plan.strict ? "invalid" : "fail";
		return {
			...judgement,
			verdict: becomes === "cause" ? strict : becomes,
			excuse: name,
			cause: becomes === "cause" ? "machine" : judgement.cause,
			...because(
				becomes === "invalid"
					? insteadSaid(line, judgement, code, found)
					: sayBut({ code: of, values, text }, said(code, `but ${found.wrong}`, found.values)),
			),
		};
	}
	return judgement;
}

// --- internal ---

/** "the load generator was late, so ...: 490 of 10 000 took longer than 10ms; without its own lateness none of 10 000 did, ..." */
function insteadSaid(line: Line, { verdict, ...j }: Judgement, code: string, found: Found): Said {
	const { wrong, without, would, left = [] } = found;
	const nWithout = sum(left.map((i) => i.n));
	const overWithout = sum(left.map((i) => i.over));
	const then = line.stopped
		? "and the run would have gone on"
		: `which would be ${line.test(left).toUpperCase()} instead of ${verdict.toUpperCase()}`;
	const rest =
		would ??
		`${overWithout === 0 ? "none" : count(overWithout)} of ${count(nWithout)} did, ${then}`;
	return said(
		code,
		`${wrong}, so this says nothing about the system: ${j.why}; without ${without}, ${rest}`,
		{ ...j.values, ...found.values, nWithout, overWithout, of: j.code },
	);
}

function onTime(intervals: readonly LimitInterval[]): LimitInterval[] {
	return intervals.map((i) => ({ ...i, over: i.overWithoutLag }));
}

/** Without so many of those over the limit that have a value: where most are, as they cluster there. */
function withoutOver(intervals: readonly LimitInterval[], second: number): LimitInterval[] {
	const all = [...intervals];
	const valued = (i: LimitInterval) => Math.max(0, i.over - i.censored);
	const mostFirst = [...all.entries()].sort(([, a], [, b]) => valued(b) - valued(a));
	let left = second;
	for (const [at, interval] of mostFirst) {
		const fewer = Math.min(left, valued(interval));
		left -= fewer;
		all[at] = { ...interval, over: interval.over - fewer };
	}
	return all;
}

/**
 * Does the verdict stand whatever two clocks of that bound hide? PASS: the upper end of the interval (without one the largest of all samples)
 * keeps the limit with it. FAIL: the lower end is above the limit without it, or those that took longer than limit and bound spend the budget twice.
 */
function holdsWithin({ sla, facts, judgement: j }: Line, boundNs: number): boolean {
	if (sla.kind === "tally") return true;
	const { limitNs } = sla;
	const censored = j.censored ?? 0;
	if (j.verdict === "pass") {
		const { max } = sampleOf(facts, sla.metric);
		const highest = censored > 0 ? Number.POSITIVE_INFINITY : (max ?? 0);
		return (sla.kind === "max" ? highest : (j.highNs ?? highest)) + boundNs <= limitNs;
	}
	if (sla.kind === "max") return censored > 0 || (j.valueNs ?? 0) - boundNs > limitNs;
	if (j.lowNs !== null && j.lowNs - boundNs > limitNs) return true;
	const [n, share] = [j.n ?? 0, tail(sla.percentile)];
	const { count: all, low, upTo } = distributionOf(facts, sla.metric);
	// Samples whose whole bucket lies above.
	const first = low.findIndex((ns) => ns > limitNs + boundNs);
	const over = censored + (first < 0 ? 0 : all - (upTo[first - 1] ?? 0));
	return fails(over, n, share) && over >= 2 * n * share;
}
