import type { Collected } from "../evidence/collect.ts";
import { tail } from "../histogram/percentiles.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { LatencySla, Sla } from "../model/plan.ts";
import type { Cause } from "../model/result.ts";
import { sum } from "../stats/sum.ts";
import { type Said, said, sayBut, type Values } from "../text/say.ts";
import { formatCount as count, formatDuration as duration, plusMinus } from "../units.ts";
import { bufferedIn, bufferedText } from "./buffered.ts";
import { floorOver } from "./checks/generator.ts";
import { clockBoundNs } from "./checks/run.ts";
import { drift, leavesOpen, STEADY_MARGIN } from "./checks/trend.ts";
import { containsLag, distributionOf, type Facts, RECEIVES, sampleOf } from "./facts.ts";
import { disturbedIn } from "./faults.ts";
import { intervalNs, type LimitInterval, receivedTwice, secondOf, without } from "./intervals.ts";
import { because, type Judgement } from "./judgement.ts";
import { achievedText } from "./rates.ts";
import { type Saturation, saturatedText, saturationsOf } from "./saturation.ts";
import { fails, type OverTest } from "./statistics.ts";
import { stopsIn } from "./stops.ts";
import { rateWithoutStops } from "./tally.ts";

export interface Line {
	readonly sla: Sla;
	readonly facts: Facts;
	readonly judgement: Judgement;
	/** Per 100 ms of the window; empty for counts, rates and fault times. */
	readonly intervals: readonly LimitInterval[];
	test(intervals: readonly LimitInterval[]): OverTest["verdict"];
	/** Set if late messages decided the latency, rather than messages that never came. */
	readonly late: LatencySla | null;
	readonly stopped: boolean;
}

interface Excuse {
	readonly code: string;
	readonly overturns: readonly Judgement["verdict"][];
	applies(line: Line, queueGrew: boolean): Found | false | null;
	/** A cause keeps a FAIL and explains it; "machine" becomes INVALID under `strict`. */
	readonly becomes: "invalid" | "inconclusive" | Cause;
	readonly check?: Judgement["check"];
}

interface Found {
	/** "the load generator was late" */
	readonly wrong: string;
	readonly values?: Values;
	/** Intervals without its effect: it decides if the line then does not FAIL, or an open line passes. Without them, it always decides. */
	readonly left?: readonly LimitInterval[];
	/** For INVALID, the part to take away: "without its own lateness". */
	readonly without?: string;
	/** For a line without intervals, how it would come out. */
	readonly would?: string;
}

/** Reported by checks too; the first that decided a line counts. */
export const BEFORE_CHECKS: readonly Excuse[] = [
	{
		code: "late-by-lag",
		overturns: ["fail", "inconclusive"],
		applies: ({ late, intervals, facts: { collected } }) =>
			late !== null &&
			containsLag(late.metric) && {
				wrong: `the load generator was late${achievedText(collected)}`,
				left: onTime(intervals),
				without: "its own lateness",
			},
		becomes: "invalid",
		check: "lag",
	},
	{
		code: "late-by-burst",
		overturns: ["fail", "inconclusive"],
		applies: ({ late, intervals, facts: { collected } }) =>
			late && burstIn(collected, intervals, late.limitNs),
		becomes: "invalid",
		check: "lag",
	},
	{
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
		check: "lag",
	},
	{
		code: "late-by-held",
		overturns: ["fail"],
		applies({ late, intervals, facts: { collected } }) {
			const queue = late && RECEIVES.has(late.metric) && bufferedIn(collected, late.limitNs);
			if (!queue || queue.intervals.size === 0) return null;
			const heldNs = queue.intervals.size * intervalNs(collected.plan);
			return {
				wrong: bufferedText(queue, late.limitNs),
				values: { held: queue.most, explained: queue.explained, heldNs },
				left: without(intervals, queue.intervals),
				without: `the ${duration(heldNs)} of load that waited there`,
			};
		},
		becomes: "invalid",
		check: "held",
	},
	{
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
		// A FAIL by messages that never completed stands: these are the system's.
		code: "floor-over-limit",
		overturns: ["fail"],
		applies({ sla, intervals, facts }) {
			const floorNs = floorOver(sla, facts);
			return (
				floorNs !== null && {
					wrong: `the load generator alone needs ${duration(floorNs)}, which is above the limit as well`,
					values: { floorNs },
					left: intervals.map((i) => ({ ...i, over: i.censored })),
				}
			);
		},
		becomes: "inconclusive",
	},
	{
		// Before `machine-saturated`: the effect of the scenario's own faults is not the machine's.
		code: "own-faults",
		overturns: ["fail"],
		applies(line) {
			const { sla, intervals, facts } = line;
			const own = disturbedIn(facts.collected, sla.kind === "tally" ? 0 : sla.limitNs);
			if (own.faults.length === 0) return null;
			const wrong = `what the scenario itself did to the broker explains it: ${own.faults.join(", ")}`;
			const found = { wrong, values: { faults: own.faults, share: own.share } };
			const isOpen = sla.kind !== "tally" && facts.collected.plan.schedule.kind !== "closed";
			return isOpen
				? { ...found, left: without(intervals, own.intervals) }
				: explains(own, line) && found;
		},
		becomes: "fault",
	},
	{
		// Before `clocks`: under `strict` a saturated machine makes even a FAIL near the limit INVALID.
		code: "machine-saturated",
		overturns: ["fail"],
		applies(line) {
			const found = saturationsOf(line.facts).find((one) => explains(one, line));
			if (found === undefined) return null;
			const { share, idle: idleShare, wait: waitShare, where } = found;
			return {
				wrong: `the machine was saturated (${where}): ${saturatedText(found)}`,
				values: { idleShare, waitShare, share, where },
			};
		},
		becomes: "machine",
	},
];

/** Applied once the run itself is trusted; they leave a line open. */
export const AFTER_CHECKS: readonly Excuse[] = [
	{
		code: "clocks",
		overturns: ["fail", "pass"],
		applies(line) {
			const { sla, facts } = line;
			const receives = sla.kind !== "tally" && RECEIVES.has(sla.metric);
			const boundNs = receives ? (clockBoundNs(facts.collected) ?? 0) : 0;
			return boundNs === 0 || line.judgement.n === null || holdsWithin(line, boundNs)
				? null
				: { wrong: `within the clocks' bound of ${plusMinus(boundNs)}`, values: { boundNs } };
		},
		becomes: "inconclusive",
	},
	{
		code: "queue-growing",
		overturns: ["pass"],
		applies: ({ judgement }, queueGrew) =>
			queueGrew &&
			judgement.n !== null && {
				wrong: "the queue grew over the run: percentiles depend on the duration",
			},
		becomes: "inconclusive",
	},
	{
		code: "p50-rose",
		overturns: ["pass"],
		applies: ({ judgement, facts }) =>
			leavesOpen(judgement, drift(facts)) && {
				wrong: `p50 rose over the window, and the limit is less than ${STEADY_MARGIN} times what was measured`,
				values: { factor: STEADY_MARGIN },
			},
		becomes: "inconclusive",
	},
];

export function excused(
	line: Line,
	excuses: readonly Excuse[],
	judgement = line.judgement,
	queueGrew = false,
): Judgement {
	const { verdict, why: text, code: of, values } = judgement;
	for (const { code, overturns, applies, becomes, check = null } of excuses) {
		if (!overturns.includes(verdict)) continue;
		const found = applies({ ...line, judgement }, queueGrew);
		if (!found) continue;
		const left = found.left && line.test(found.left);
		if (left !== undefined && (verdict === "fail" ? left === "fail" : left !== "pass")) continue;
		const isCause = becomes === "machine" || becomes === "fault";
		const strict = becomes === "machine" && line.facts.collected.plan.strict;
		return {
			...judgement,
			verdict: !isCause ? becomes : strict ? "invalid" : "fail",
			check,
			cause: isCause ? becomes : judgement.cause,
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
	const did = overWithout === 0 ? "none" : count(overWithout);
	const text = `${wrong}, so this says nothing about the system: ${j.why}; without ${without}, ${would ?? `${did} of ${count(nWithout)} did, ${then}`}`;
	return said(code, text, { ...j.values, ...found.values, nWithout, overWithout, of: j.code });
}

function onTime(intervals: readonly LimitInterval[]): LimitInterval[] {
	return intervals.map((i) => ({ ...i, over: i.overWithoutLag }));
}

/** A burst after a standstill queues in the system: subtracting lag does not undo it, so these seconds and the next are tainted. */
function burstIn(
	collected: Collected,
	intervals: readonly LimitInterval[],
	limitNs: number,
): Found | null {
	const { plan, seconds } = collected;
	// Only measured seconds: in a stopped run the planned rest would look punctual.
	const measured = seconds.filter((s) => s.metrics.lag);
	const end = measured.reduce((all, s) => Math.max(all, s.second + secondsOf(s)), 0);
	const late = measured.filter((s) => (s.metrics.lag?.max ?? 0) > limitNs);
	const tainted = new Set(
		late.flatMap((s) => [s.second, s.second + secondsOf(s)]).filter((s) => s >= 0 && s < end),
	);
	const left = end - tainted.size * (plan.intervalSeconds ?? 1);
	if (tainted.size === 0 || left < end / 2) return null;
	// The interval stays, so times do not shift.
	const nothing = { n: 0, over: 0, overWithoutLag: 0, censored: 0 };
	const lateSeconds = sum(late.filter((s) => s.second >= -1).map(secondsOf));
	return {
		wrong: `the load generator was late for ${lateSeconds}s and then sent a burst${achievedText(collected)}`,
		values: { lateSeconds },
		left: intervals.map((i, k) => (tainted.has(secondOf(plan, k)) ? nothing : i)),
		without: "those seconds and the one after each",
	};
}

/** Removes `second` late samples that have a value, from the fullest intervals because they cluster there. */
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

/** Would the line not FAIL without the saturated intervals? If intended times are unknown, they must be most of the window. */
function explains({ share, intervals }: Pick<Saturation, "share" | "intervals">, line: Line) {
	const { state, plan } = line.facts.collected;
	const { tally } = line.judgement;
	if (state !== "complete" && state !== "aborted") return false;
	if (tally) return tally.unit === "messages/s" && (tally.value ?? 0) >= tally.limit * (1 - share);
	return state === "complete" && plan.schedule.kind !== "closed"
		? line.test(without(line.intervals, intervals)) !== "fail"
		: share > 0.5;
}

/** Does the verdict hold for any clock error within the bound? A FAIL does if samples beyond limit and bound spend the budget twice. */
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
	// Only samples whose whole bucket lies above.
	const first = low.findIndex((ns) => ns > limitNs + boundNs);
	const over = censored + (first < 0 ? 0 : all - (upTo[first - 1] ?? 0));
	return fails(over, n, share) && over >= 2 * n * share;
}
