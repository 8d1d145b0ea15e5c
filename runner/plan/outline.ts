import { subjectOf } from "../model/baseline-sla.ts";
import type { Metric, Plan } from "../model/plan.ts";
import { type Support, samplesForBound, samplesForSupport, supportOf } from "../stats/support.ts";
import { formatDurationExact, type Rate } from "../units.ts";
import { distinct } from "./distinct.ts";
import { messagesBefore } from "./offset.ts";
import { mainMetric, samplesPerMessage } from "./samples.ts";

/** The percentiles that an outline tells the support of. */
export const DEPTHS = [99, 99.9, 99.99, 99.999] as const;

/** What the runs of a scenario will take, and what their numbers can say: everything known before the first message. */
export interface Outline {
	/** Cases whose runs follow from what is found; all else is about the others. */
	readonly searches: readonly Plan[];
	readonly runs: readonly OutlineRun[];
	readonly messages: number;
	readonly bytes: number;
	/** Warm-ups and windows, of closed loads the longest that they may take; the drain comes on top, at most `drainNs` in all. */
	readonly durationNs: number;
	readonly drainNs: number;
	/** For each case what its window carries, and below it each of its phases. */
	readonly cases: readonly Carried[];
	/** SLA lines that ask for more than the samples carry. */
	readonly tooDeep: readonly TooDeep[];
}

interface OutlineRun {
	readonly plan: Plan;
	/** Warm-up included. */
	readonly messages: number;
	/** Payload bytes, each time that they cross the network: to the broker, and to all who receive them. */
	readonly bytes: number;
	readonly durationNs: number;
}

/** What the window of a case carries, or one of its phases: a step, what a backlog goes through. */
export interface Carried {
	readonly case: string;
	/** null: the whole window. */
	readonly phase: string | null;
	/** The metric that reports show first. */
	readonly metric: Metric;
	/** Its samples: messages intended, of a fan-out their copies. */
	readonly samples: number;
	readonly percentiles: readonly {
		readonly p: number;
		readonly support: Support;
		readonly okFrom: Enough;
	}[];
}

/** What carries a number of samples: a duration at the mean rate, or, where a closed load has none, messages. */
export type Enough = { readonly ns: number } | { readonly messages: number };

/** An SLA line with a percentile that a run of the case will not print. */
interface TooDeep {
	/** The line as it was written. */
	readonly sla: string;
	readonly case: string;
	readonly p: number;
	readonly samples: number;
	/** It compares with a baseline, and needs the figure itself. */
	readonly compared: boolean;
	/** Samples from which on it is printed and judged; has 10 samples above it. */
	readonly weakFrom: number;
	readonly okFrom: number;
	readonly weakWith: Enough;
	readonly okWith: Enough;
}

/** Adds up plans, and holds each case's window against the percentiles. */
export function outline(all: readonly Plan[]): Outline {
	const plans = all.filter(({ search }) => search === null);
	const runs = plans.map((plan): OutlineRun => {
		const { schedule, message } = plan;
		return {
			plan,
			messages: schedule.messages,
			bytes: schedule.messages * message.bytes * crossings(plan),
			durationNs: schedule.warmupNs + schedule.durationNs,
		};
	});
	const sum = (of: (run: OutlineRun) => number) => runs.reduce((total, run) => total + of(run), 0);
	return {
		// Its runs last as long as the deepest percentile needs.
		searches: all.filter(({ search }) => search !== null),
		runs,
		messages: sum((run) => run.messages),
		bytes: sum((run) => run.bytes),
		durationNs: sum((run) => run.durationNs),
		drainNs: sum((run) => run.plan.drainNs),
		cases: distinct(plans, (plan) => plan.case).flatMap(carried),
		// What is shortened carries nothing deep, and is no result anyway.
		tooDeep: distinct(plans.filter(({ quick }) => !quick).flatMap(tooDeep), (line) =>
			JSON.stringify([line.sla, line.case]),
		),
	};
}

/** Shortest duration, as a person would write it, in which `samples` messages are due: whole seconds, minutes, hours. */
export function durationFor(samples: number, rate: Rate): number {
	const ns = Number(
		(BigInt(samples) * BigInt(rate.perNs) + BigInt(rate.messages) - 1n) / BigInt(rate.messages),
	);
	const unitNs = ns <= 600e9 ? 1e9 : ns <= 36_000e9 ? 60e9 : 3600e9;
	return Math.ceil(ns / unitNs) * unitNs;
}

/** "p99.99 < 5ms (256B 3000/s): ...": what is wrong with the line, and which duration mends it. */
export function tooDeepSentence(line: TooDeep, count: (n: number) => string) {
	const { p } = line;
	const can = line.compared ? "There will be no figure to compare." : "It cannot pass.";
	return `${line.sla} (${line.case}): ${count(line.samples)} samples carry no p${p}. ${can} Write ${enoughText(line.weakWith)} to have it printed (weak, ${count(line.weakFrom)} samples), ${enoughText(line.okWith).replace(/^\w+: /, "")} for 10 samples above it (ok, ${count(line.okFrom)}).`;
}

/** "duration: 5min", "messages: 100000": as it stands in a scenario. */
function enoughText(enough: Enough): string {
	return "ns" in enough
		? `duration: ${formatDurationExact(enough.ns)}`
		: `messages: ${enough.messages}`;
}

// --- internal ---

/** How often a message crosses the network. */
function crossings({ pattern, subscriptions }: Plan): number {
	const receipts: Readonly<Record<Plan["pattern"], number>> = {
		"round-trip": 1,
		// To the responder, back to the broker, and to the requester.
		"request-reply": 3,
		"fan-out": subscriptions,
		"work-queue": 1,
		backlog: 1,
		publish: 0,
	};
	return 1 + receipts[pattern];
}

/** Messages intended in a phase of the window; null: in all of it. */
function messagesIn({ schedule }: Plan, phase: Plan["phases"][number] | null): number {
	return phase === null
		? schedule.messages - schedule.warmupMessages
		: messagesBefore(schedule, schedule.warmupNs + phase.toNs) -
				messagesBefore(schedule, schedule.warmupNs + phase.fromNs);
}

/** How long the phase or window would have to be to carry as many samples, at its mean rate. */
function enough(
	plan: Plan,
	metric: Metric,
	samples: number,
	phase: Plan["phases"][number] | null = null,
): Enough {
	const { kind, rate, durationNs } = plan.schedule;
	const perMessage = Math.max(1, samplesPerMessage(plan, metric));
	const messages = Math.ceil(samples / perMessage);
	if (kind === "closed" || rate === null) return { messages };
	if (kind !== "stages") return { ns: durationFor(messages, rate) };
	const perNs = phase ? phase.toNs - phase.fromNs : durationNs;
	return { ns: durationFor(messages, { messages: messagesIn(plan, phase), perNs }) };
}

function carried(plan: Plan): Carried[] {
	const metric = mainMetric(plan);
	// A step without a message carries nothing.
	const busy = plan.phases.filter((phase) => messagesIn(plan, phase) > 0);
	return [null, ...busy].map((phase) => {
		const samples = messagesIn(plan, phase) * samplesPerMessage(plan, metric);
		return {
			case: plan.case,
			phase: phase?.name ?? null,
			metric,
			samples,
			percentiles: DEPTHS.map((p) => ({
				p,
				support: supportOf(samples, p),
				okFrom: enough(plan, metric, samplesForSupport(p), phase),
			})),
		};
	});
}

function tooDeep(plan: Plan): TooDeep[] {
	return [...plan.sla, ...plan.baselineSla].flatMap((line) => {
		const sla = line.kind === "baseline" ? subjectOf(line) : line;
		if (sla.kind !== "percentile") return [];
		const p = sla.percentile;
		const perMessage = samplesPerMessage(plan, sla.metric);
		const samples = messagesIn(plan, null) * perMessage;
		if (perMessage === 0 || supportOf(samples, p) !== "none") return [];
		const [weakFrom, okFrom] = [samplesForBound(p), samplesForSupport(p)];
		return [
			{
				sla: sla.text,
				case: plan.case,
				p,
				samples,
				compared: line.kind === "baseline",
				weakFrom,
				okFrom,
				weakWith: enough(plan, sla.metric, weakFrom),
				okWith: enough(plan, sla.metric, okFrom),
			},
		];
	});
}
