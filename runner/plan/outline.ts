import { formatDurationExact, type Rate } from "../units.ts";
import type { Plan } from "./plan.ts";
import {
	type Support,
	samplesForBound,
	samplesForPass,
	samplesForSupport,
	supportOf,
} from "./support.ts";

/** The percentiles that an outline tells the support of. */
export const DEPTHS = [99, 99.9, 99.99, 99.999] as const;

/** What the runs of a scenario will take, and what their numbers can say: everything known before the first message. */
export interface Outline {
	readonly runs: readonly OutlineRun[];
	readonly messages: number;
	readonly bytes: number;
	/** Warm-ups and windows; the drain comes on top, at most `drainNs` in all. */
	readonly durationNs: number;
	readonly drainNs: number;
	/** For each case what its window carries. */
	readonly cases: readonly Carried[];
	/** SLA lines that ask for more than the samples carry. */
	readonly tooDeep: readonly TooDeep[];
}

export interface OutlineRun {
	readonly plan: Plan;
	/** Warm-up included. */
	readonly messages: number;
	/** Payload bytes, both ways where messages come back. */
	readonly bytes: number;
	readonly durationNs: number;
}

export interface Carried {
	readonly case: string;
	/** Messages intended in the window. */
	readonly samples: number;
	readonly percentiles: readonly {
		readonly p: number;
		readonly support: Support;
		/** `duration` from which on it would be ok at this rate. */
		readonly okFromNs: number;
	}[];
}

/** An SLA line with a percentile that a run of the case will not print. */
export interface TooDeep {
	/** The line as it was written. */
	readonly sla: string;
	readonly case: string;
	readonly p: number;
	readonly samples: number;
	/** Samples from which on it can PASS, with nothing over the limit; is printed at all; has 10 samples above it. */
	readonly passFrom: number;
	readonly weakFrom: number;
	readonly okFrom: number;
	readonly weakFromNs: number;
	readonly okFromNs: number;
}

/** Adds up plans, and holds each case's window against the percentiles. */
export function outline(plans: readonly Plan[]): Outline {
	const runs = plans.map((plan): OutlineRun => {
		const { schedule, message } = plan;
		return {
			plan,
			messages: schedule.messages,
			bytes: schedule.messages * message.bytes * directions[plan.pattern],
			durationNs: schedule.warmupNs + schedule.durationNs,
		};
	});
	const sum = (of: (run: OutlineRun) => number) =>
		runs.reduce((total, run) => total + of(run), 0);
	return {
		runs,
		messages: sum((run) => run.messages),
		bytes: sum((run) => run.bytes),
		durationNs: sum((run) => run.durationNs),
		drainNs: sum((run) => run.plan.drainNs),
		cases: distinct(plans, (plan) => plan.case).map(carried),
		tooDeep: distinct(plans.flatMap(tooDeep), (line) =>
			JSON.stringify([line.sla, line.case]),
		),
	};
}

/** Shortest duration, as a person would write it, in which `samples` messages are due: whole seconds, minutes, hours. */
export function durationFor(samples: number, rate: Rate): number {
	const ns = Number(
		(BigInt(samples) * BigInt(rate.perNs) + BigInt(rate.messages) - 1n) /
			BigInt(rate.messages),
	);
	const unitNs = ns <= 600e9 ? 1e9 : ns <= 36_000e9 ? 60e9 : 3600e9;
	return Math.ceil(ns / unitNs) * unitNs;
}

/** "p99.99 < 5ms (256B 3000/s): ...": what is wrong with the line, and which duration mends it. */
export function tooDeepSentence(line: TooDeep, count: (n: number) => string) {
	const { p } = line;
	const can =
		line.samples < line.passFrom
			? `It cannot pass: that takes ${count(line.passFrom)} samples, none of them over the limit (ln 0.05 / ln ${quantile(p)}).`
			: `It can pass only with no sample over the limit (possible from ${count(line.passFrom)} on, ln 0.05 / ln ${quantile(p)}).`;
	return `${line.sla} (${line.case}): ${count(line.samples)} samples carry no p${p}. ${can} Write duration: ${formatDurationExact(line.weakFromNs)} to have it printed (weak, ${count(line.weakFrom)} samples), ${formatDurationExact(line.okFromNs)} for 10 samples above it (ok, ${count(line.okFrom)}).`;
}

// --- internal ---

/** How often a message crosses the network. */
const directions: Readonly<Record<Plan["pattern"], number>> = {
	"round-trip": 2,
};

function samplesOf({ schedule }: Plan): number {
	return schedule.messages - schedule.warmupMessages;
}

function carried(plan: Plan): Carried {
	const samples = samplesOf(plan);
	return {
		case: plan.case,
		samples,
		percentiles: DEPTHS.map((p) => ({
			p,
			support: supportOf(samples, p),
			okFromNs: durationFor(samplesForSupport(p), plan.schedule.rate),
		})),
	};
}

function tooDeep(plan: Plan): TooDeep[] {
	const samples = samplesOf(plan);
	return plan.sla.flatMap((sla) => {
		if (sla.kind !== "percentile") return [];
		const p = sla.percentile;
		if (supportOf(samples, p) !== "none") return [];
		const [weakFrom, okFrom] = [samplesForBound(p), samplesForSupport(p)];
		return [
			{
				sla: sla.text,
				case: plan.case,
				p,
				samples,
				passFrom: samplesForPass(p),
				weakFrom,
				okFrom,
				weakFromNs: durationFor(weakFrom, plan.schedule.rate),
				okFromNs: durationFor(okFrom, plan.schedule.rate),
			},
		];
	});
}

/** 99.99 -> "0.9999", without a trace of floating point. */
function quantile(p: number): string {
	const [whole = "", decimals = ""] = String(p).split(".");
	return `0.${whole.padStart(2, "0")}${decimals}`;
}

function distinct<T>(all: readonly T[], key: (one: T) => string): T[] {
	return [
		...new Map([...all].reverse().map((one) => [key(one), one])).values(),
	].reverse();
}
