import { type Size, sizeText, WEEK_NS } from "../model/field.ts";
import { CHECKSUM_BYTES, ENVELOPE_BYTES, type Pattern } from "../model/load.ts";
import { onlyFor, receiversOf, type WorkloadField, workloadFields } from "../model/workload.ts";
import { formatDurationExact, plural, ratePerSecond } from "../units.ts";
import type { Written } from "./place.ts";
import type { Wrong } from "./problem.ts";
import { backlogOf, backlogTimes, durationOf, meanPerSecond, scheduleOf } from "./schedule.ts";
import type { WrittenWorkload } from "./schema.ts";

/** Valid fields of a workload, with defaults. `has` covers all written fields, invalid ones included. */
export interface Fields extends Omit<Partial<WrittenWorkload>, "message"> {
	readonly message?: Size | undefined;
	has(field: WorkloadField): boolean;
}

/** Replaces single fields, or the whole load if the case has another kind: `messages` over `rate` is a closed load, not a contradiction. */
export function overlay(shared: Written, override: Written): Written {
	const [before, kind] = [kindOf(shared), kindOf(override)];
	const others = kind === "rate" ? (["messages", "steps"] as const) : kind && EXCLUDES[kind];
	const dropped = new Set<string>(others);
	// Closed loads warm up in messages, open loads in time.
	if (before && kind && (before === "messages") !== (kind === "messages")) dropped.add("warmup");
	// Constant arrivals have no use for the workload's seed.
	if (override.arrivals === "constant") dropped.add("seed");
	const kept = Object.entries(shared).filter(([field]) => !dropped.has(field));
	return { ...Object.fromEntries(kept), ...override };
}

export const NEEDED = { rate: "3000/s", message: "256B", duration: "10s" } as const;

export function missingOf(written: Written): (keyof typeof NEEDED)[] {
	const has = (field: WorkloadField) => Object.hasOwn(written, field);
	const closed = has("steps") || has("messages");
	const lasts = closed || has("find") || has("stages");
	const given = { rate: closed, message: false, duration: lasts };
	return (["rate", "message", "duration"] as const).filter((field) => !has(field) && !given[field]);
}

/** A second needs enough messages for a median, and a search tries rates whose latency is never steady. */
export function canSettle(fields: Partial<WrittenWorkload>): boolean {
	const { rate, warmup, find } = fields;
	return (
		rate !== undefined &&
		ratePerSecond(rate) >= SETTLING &&
		warmup === undefined &&
		find === undefined &&
		STEADYLESS.every((field) => fields[field] === undefined)
	);
}

export function checkLoad(of: Fields, wrong: Wrong<WorkloadField>): void {
	const kind = KINDS.find(of.has) ?? "rate";
	const without = EXCLUDES[kind].filter(of.has);
	for (const field of without) wrong(field, "beside-load", { field, kind });
	if (without.length > 0) return;
	checkTogether(of, wrong);
	checkAmounts(of, wrong);
	if (of.pattern === "backlog") checkBacklog(of, wrong);
}

export function checkTopology(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { pattern, drain, timeout, message } = of;
	if (pattern) checkPattern({ ...of, pattern }, wrong);
	if (timeout !== undefined && drain !== undefined && timeout > drain)
		wrong("timeout", "timeout-beyond-drain", { timeoutNs: timeout, drainNs: drain });
	const parts = { checksum: CHECKSUM_BYTES, envelope: ENVELOPE_BYTES, leastBytes: LEAST_BYTES };
	if (of.checksum && typeof message === "number" && message < LEAST_BYTES)
		wrong("message", "too-small-for-checksum", { ...parts, messageBytes: message });
	if (of.order === "per-key" && of.keys === "none") wrong("order", "order-without-keys");
	const { connections, topics = 1, consumerConnections = 0 } = of;
	if (connections === undefined) return;
	const { producers = connections } = of;
	if (connections > producers)
		wrong("producers", "connections-beyond-producers", { producers, connections });
	if (topics > producers) wrong("topics", "topics-beyond-producers", { producers, topics });
	const receivers = receiversOf(pattern ?? "round-trip", of);
	if (receivers > 0 && consumerConnections > receivers)
		wrong("consumerConnections", "connections-beyond-receivers", {
			consumerConnections,
			receivers,
			who: plural(receivers, pattern === "fan-out" ? "subscription" : "consumer"),
		});
}

// --- internal ---

const SETTLING = 10;
const LEAST_BYTES = ENVELOPE_BYTES + CHECKSUM_BYTES;
/** A search needs the queue's trend (verdict/checks/trend.ts): at a rate that is too high, a short window may still meet the SLA. */
const STEP_NS = 3e9;
/** Counting Poisson arrivals draws each one: this many take a second or two. */
const MOST_POISSON = 100_000_000;
/** The first one that is written decides. */
const KINDS = ["messages", "steps", "stages", "rate"] as const;
type Kind = (typeof KINDS)[number];

/** Fields that exclude each other. A case with such a load also removes them from the workload. */
const EXCLUDES: Readonly<Record<Kind, readonly WorkloadField[]>> = {
	rate: [],
	stages: ["messages", "steps", "arrivals", "seed", "find", "duration"],
	steps: ["messages", "stages", "rate", "arrivals", "seed", "find", "duration"],
	messages: ["rate", "stages", "steps", "arrivals", "seed", "find"],
};

/** Their times or counts are fixed from the window's start, so warm-up cannot wait for steady latency. */
const STEADYLESS = ["messages", "stages", "steps", "backlog"] as const;

function kindOf(written: Written): Kind | undefined {
	return KINDS.find((field) => Object.hasOwn(written, field));
}

function checkTogether(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { warmup = { ns: 0 }, arrivals, steps, messages = 10_000, duration = STEP_NS } = of;
	const { has } = of;
	if (has("seed") && arrivals !== "poisson") wrong("seed", "seed-without-poisson");
	const odd = steps?.find((step) => step.duration % 1e9 !== 0)?.duration;
	if (odd !== undefined)
		wrong("steps", "step-of-part-seconds", { durationNs: odd, seconds: Math.ceil(odd / 1e9) });
	const closed = has("messages");
	const tenth = Math.ceil(messages / 10);
	const part = STEADYLESS.find(has);
	if (closed && "ns" in warmup && warmup.ns > 0)
		wrong("warmup", "warmup-of-closed-load", { tenth });
	if ("steady" in warmup && part)
		wrong("warmup", "steady-window", { part, instead: closed ? `${tenth} messages` : "15s" });
	if ("messages" in warmup && !closed) wrong("warmup", "warmup-of-rate");
	if (of.find && arrivals === "poisson") wrong("find", "search-of-shape", { field: "arrivals" });
	if (of.find && duration < STEP_NS)
		wrong("duration", "search-of-short-steps", { durationNs: duration, leastNs: STEP_NS });
}

function checkAmounts(of: Fields, wrong: Wrong<WorkloadField>): void {
	const schedule = scheduleOf(of);
	if (!schedule) return;
	const { kind, durationNs, warmupNs } = schedule;
	if (kind === "closed") {
		if (schedule.warmupMessages > 1_000_000_000) wrong("warmup", "warmup-too-long");
		return;
	}
	const mean = meanPerSecond(schedule) ?? 0;
	const messages = (ns: number) => (mean * ns) / 1e9;
	// Tolerates floating point.
	if (messages(durationNs) < 1 - 1e-9) {
		const longer = Math.ceil(1 / mean - 1e-9) * 1e9;
		const field = of.steps ? "steps" : of.stages ? "stages" : mean === 0 ? "rate" : "duration";
		const write = field === "duration" && longer <= WEEK_NS ? atLeast(longer) : "raise the rate";
		wrong(field, "nothing-due", { durationNs, write });
	}
	const arrivals = messages(durationNs + warmupNs);
	if (kind === "poisson" && arrivals > MOST_POISSON)
		wrong("arrivals", "too-many-arrivals", { most: MOST_POISSON, messages: arrivals });
}

function checkBacklog(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { rate, inFlight, backlog: written, message } = of;
	const varying =
		(["messages", "steps", "stages", "find"] as const).find(of.has) ??
		(of.arrivals === "poisson" ? "arrivals" : undefined);
	if (varying !== undefined) {
		wrong(varying, "backlog-of-varying-rate", { varying });
		return;
	}
	if (typeof written === "object" && typeof message === "object" && "aboveLimit" in message)
		wrong("backlog", "backlog-of-limit", { size: sizeText(message) });
	const duration = durationOf(of);
	const backlog = backlogOf(of);
	if (!rate || duration === null || backlog === null) return;
	if (duration % 1e9 !== 0)
		wrong("duration", "backlog-of-part-seconds", { seconds: Math.ceil(duration / 1e9) });
	if (inFlight !== undefined && inFlight * (of.producers ?? of.connections ?? 1) < backlog)
		wrong("inFlight", "in-flight-below-backlog", { inFlight });
	const { neededNs, resumeNs, pauseNs } = backlogTimes(duration, rate, backlog);
	if (duration - resumeNs < pauseNs)
		wrong("duration", "backlog-too-long", {
			durationNs: duration,
			pileUpNs: resumeNs - pauseNs,
			write: neededNs > WEEK_NS ? "write a smaller backlog" : atLeast(neededNs),
		});
}

function atLeast(ns: number): string {
	return `write at least duration: ${formatDurationExact(ns)}`;
}

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

function checkPattern(of: Fields & { pattern: Pattern }, wrong: Wrong<WorkloadField>): void {
	const { pattern } = of;
	for (const field of workloadFields) {
		const only = onlyFor(field);
		if (only && !only.includes(pattern) && isSet(of, field))
			wrong(field, "needs-pattern", { field, patterns: EITHER.format(only), pattern });
	}
	// Without receivers, nothing can be checked.
	if (pattern === "publish")
		for (const field of ["delivery", "order", "checksum"] as const)
			if (isSet(of, field) && of[field] !== "at-most-once")
				wrong(field, "nobody-to-check", { field });
	if (pattern === "fan-out" && !of.has("subscriptions"))
		wrong("pattern", "fan-out-without-subscriptions");
	if (pattern === "backlog" && !of.has("backlog")) wrong("pattern", "backlog-without-size");
}

/** Is the field written with a value that has an effect? */
function isSet(of: Fields, field: WorkloadField): boolean {
	const value = of[field];
	return of.has(field) && value !== undefined && ![false, 0, "none"].includes(value as never);
}
