import { sizeText, WEEK_NS } from "../model/field.ts";
import type { WorkloadField } from "../model/workload.ts";
import { formatDurationExact, ratePerSecond } from "../units.ts";
import type { Wrong } from "./problem.ts";
import { backlogOf, backlogTimes, durationOf, meanPerSecond, scheduleOf } from "./schedule.ts";
import type { WrittenWorkload } from "./workload-schema.ts";
import type { Written } from "./written.ts";

/** The fields of a workload that are right by themselves, with defaults; `has`: what is written, right or wrong. */
export interface Fields extends Partial<WrittenWorkload> {
	has(field: WorkloadField): boolean;
}

/**
 * A case over the workload. Single fields are replaced; a case that brings another kind of load replaces the whole load:
 * `messages: 100000` over `rate: 3000/s` is a closed load, no contradiction.
 */
export function overlay(shared: Written, override: Written): Written {
	const kind = kindOf(override);
	if (kind === undefined) return seedless({ ...shared, ...override }, override);
	const others = kind === "rate" ? (["messages", "steps"] as const) : EXCLUDES[kind];
	const dropped = new Set<string>(others.filter((field) => !Object.hasOwn(override, field)));
	const before = kindOf(shared);
	// "5s" of warm-up means nothing to a closed load, "1000 messages" nothing to an open one.
	if (before !== undefined && (before === "messages") !== (kind === "messages"))
		dropped.add("warmup");
	const kept = Object.entries(shared).filter(([field]) => !dropped.has(field));
	return seedless({ ...Object.fromEntries(kept), ...override }, override);
}

/** What every load has, with an example of it. */
export const NEEDED = { rate: "3000/s", message: "256B", duration: "10s" } as const;

/** The fields that a workload cannot do without, as far as they are not written. */
export function missingOf(written: Written): (keyof typeof NEEDED)[] {
	const has = (field: WorkloadField) => Object.hasOwn(written, field);
	const closed = has("steps") || has("messages");
	return [
		...(has("rate") || closed ? [] : (["rate"] as const)),
		...(has("message") ? [] : (["message"] as const)),
		...(has("duration") || has("find") || has("stages") || closed ? [] : (["duration"] as const)),
	];
}

/**
 * May its warm-up last until latency is steady though nobody has asked for it? Each second needs a median that means something, and a
 * search tries rates at which no latency is ever steady: each would take the longest warm-up.
 */
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

/** Fields of a load that are wrong together. */
export function checkLoad(of: Fields, wrong: Wrong<WorkloadField>): void {
	const kind = KINDS.find(of.has) ?? "rate";
	const without = EXCLUDES[kind].filter(of.has);
	for (const field of without) wrong(field, "beside-load", { field, kind });
	if (without.length > 0) return;
	checkTogether(of, wrong);
	checkAmounts(of, wrong);
	if (of.pattern === "backlog") checkBacklog(of, wrong);
}

// --- internal ---

/** Messages per second. */
const SETTLING = 10;
/** Poisson arrivals are drawn one by one to count them: a second or two for as many. */
const MOST_POISSON = 100_000_000;

/** The first one that is written is the load. */
const KINDS = ["messages", "steps", "stages", "rate"] as const;
type Kind = (typeof KINDS)[number];

/** What a load of the kind cannot have beside it. A case that brings such a load takes it away from the workload's. */
const EXCLUDES: Readonly<Record<Kind, readonly WorkloadField[]>> = {
	rate: [],
	stages: ["messages", "steps", "arrivals", "seed", "find", "duration"],
	steps: ["messages", "stages", "rate", "arrivals", "seed", "find", "duration"],
	messages: ["rate", "stages", "steps", "arrivals", "seed", "find"],
};

/** Loads whose times or counts are fixed from the window's start on: they cannot warm up until latency is steady. */
const STEADYLESS = ["messages", "stages", "steps", "backlog"] as const;

/** The kind that a part of a scenario speaks of; undefined: of none. */
function kindOf(written: Written): Kind | undefined {
	return KINDS.find((field) => Object.hasOwn(written, field));
}

/** A case that goes back to equal distances has no use for the workload's seed. */
function seedless(merged: Written, override: Written): Written {
	if (override.arrivals !== "constant" || Object.hasOwn(override, "seed")) return merged;
	const { seed: _, ...rest } = merged;
	return rest;
}

function checkTogether(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { warmup = { ns: 0 }, arrivals, steps, messages = 10_000 } = of;
	const { has } = of;
	if (has("seed") && arrivals !== "poisson") wrong("seed", "seed-without-poisson");
	const uneven = steps?.find((step) => step.duration % 1e9 !== 0)?.duration;
	if (uneven !== undefined)
		wrong("steps", "step-of-part-seconds", {
			durationNs: uneven,
			seconds: Math.ceil(uneven / 1e9),
		});
	const closed = has("messages");
	const tenth = Math.ceil(messages / 10);
	const part = STEADYLESS.find(has);
	if (closed && "ns" in warmup && warmup.ns > 0)
		wrong("warmup", "warmup-of-closed-load", { tenth });
	if ("steady" in warmup && part)
		wrong("warmup", "steady-window", { part, instead: closed ? `${tenth} messages` : "15s" });
	if ("messages" in warmup && !closed) wrong("warmup", "warmup-of-rate");
	if (of.find && arrivals === "poisson") wrong("find", "search-of-shape", { field: "arrivals" });
}

/** Too few messages, or too many: the first of it. */
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
	// A hair less is floating point.
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

/** What a backlog needs: the first of it. */
function checkBacklog(of: Fields, wrong: Wrong<WorkloadField>): void {
	const { rate, inFlight } = of;
	const varying =
		(["messages", "steps", "stages", "find"] as const).find(of.has) ??
		(of.arrivals === "poisson" ? "arrivals" : undefined);
	if (varying !== undefined) {
		wrong(varying, "backlog-of-varying-rate", { varying });
		return;
	}
	if (typeof of.backlog === "object" && typeof of.message === "object")
		wrong("backlog", "backlog-of-limit", { size: sizeText(of.message) });
	const duration = durationOf(of);
	const backlog = backlogOf(of);
	if (!rate || duration === null || backlog === null) return;
	if (duration % 1e9 !== 0)
		wrong("duration", "backlog-of-part-seconds", { seconds: Math.ceil(duration / 1e9) });
	const producers = of.producers ?? of.connections ?? 1;
	if (inFlight !== undefined && inFlight * producers < backlog)
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
