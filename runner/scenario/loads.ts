import { WEEK_NS } from "../model/field.ts";
import type { WorkloadField } from "../model/workload.ts";
import { say } from "../text/say.ts";
import { tell } from "../text/tell.ts";
import type { Rate } from "../units.ts";
import { formatDurationExact, formatRate, ratePerSecond } from "../units.ts";
import { type FieldProblem, refuseField } from "./problem.ts";
import { meanPerSecond, scheduleOf } from "./schedule.ts";
import type { WrittenWorkload } from "./workload-schema.ts";
import type { Written } from "./written.ts";

/** Which fields make the load of a workload, and what is wrong with them together. */

type Fields = Partial<WrittenWorkload>;

/**
 * A case over the workload. Single fields are replaced; a case that brings another kind of load replaces the whole load:
 * `messages: 100000` over `rate: 3000/s` is a closed load, no contradiction.
 */
export function overlay(shared: Written, override: Written): Written {
	const kind = kindOf(override);
	if (kind === undefined) return seedless({ ...shared, ...override }, override);
	const dropped = new Set<string>(
		REPLACES[kind].filter((field) => !Object.hasOwn(override, field)),
	);
	if (kind === "rate" && Object.hasOwn(shared, "stages")) dropped.delete("stages");
	const before = kindOf(shared);
	// "5s" of warm-up means nothing to a closed load, "1000 messages" nothing to an open one.
	if (before !== undefined && (before === "messages") !== (kind === "messages"))
		dropped.add("warmup");
	const kept = Object.entries(shared).filter(([field]) => !dropped.has(field));
	return seedless({ ...Object.fromEntries(kept), ...override }, override);
}

/** The kind of load that leaves no room for a field; undefined: it may stand there. */
export function forbiddenBeside(field: string, written: Written): string | undefined {
	const kind = kindOf(written);
	return kind !== undefined &&
		kind !== "rate" &&
		(REPLACES[kind] as readonly string[]).includes(field)
		? kind
		: undefined;
}

/** The fields that a load cannot do without, as far as they are not written. */
export function missingOfLoad(written: Written): WorkloadField[] {
	const has = (field: WorkloadField) => Object.hasOwn(written, field);
	if (has("steps") || has("messages")) return [];
	if (has("stages")) return has("rate") ? [] : ["rate"];
	return [
		...(has("rate") ? [] : (["rate"] as const)),
		...(has("duration") || has("find") ? [] : (["duration"] as const)),
	];
}

/** Fields of a load that are right by themselves and wrong together. `written`: what stands there, right or wrong. */
export function loadProblems(fields: Fields, written: Written): FieldProblem[] {
	const problems: FieldProblem[] = [];
	const has = (field: WorkloadField) => Object.hasOwn(written, field);
	const both = contradiction(has);
	if (both) return [both];

	const { warmup, arrivals, steps, messages, find } = fields;
	for (const field of ["stages", "steps"] as const)
		if (fields[field] && has("duration"))
			problems.push(refuseField("duration", "duration-of-pieces", { field }));
	if (has("seed") && arrivals !== "poisson")
		problems.push(refuseField("seed", "seed-without-poisson"));
	const uneven = steps?.find((step) => step.duration % 1e9 !== 0);
	if (uneven)
		problems.push(
			refuseField("steps", "step-of-part-seconds", {
				durationNs: uneven.duration,
				seconds: Math.ceil(uneven.duration / 1e9),
			}),
		);
	const closed = has("messages");
	const tenth = Math.ceil((messages ?? 10_000) / 10);
	if (warmup && "ns" in warmup && warmup.ns > 0 && closed)
		problems.push(refuseField("warmup", "warmup-of-closed-load", { tenth }));
	const shape = STEADYLESS.find((field) => has(field));
	if (warmup && "steady" in warmup && shape)
		problems.push({
			field: "warmup",
			message: say("steady-window", { part: shape, instead: closed ? `${tenth} messages` : "15s" })
				.text,
		});
	if (warmup && "messages" in warmup && !closed)
		problems.push(refuseField("warmup", "warmup-of-rate"));
	if (find && (has("stages") || arrivals === "poisson"))
		problems.push(
			refuseField("find", "search-of-shape", { field: has("stages") ? "stages" : "arrivals" }),
		);
	for (const one of amounts(fields)) problems.push(one);
	return problems;
}

/**
 * May its warm-up last until latency is steady though nobody has asked for it? Each second needs a median that means something, and a
 * search tries rates at which no latency is ever steady: each would take the longest warm-up.
 */
export function canSettle(fields: Fields): boolean {
	const { rate, warmup, find } = fields;
	return (
		rate !== undefined &&
		ratePerSecond(rate) >= SETTLING &&
		warmup === undefined &&
		find === undefined &&
		STEADYLESS.every((field) => fields[field] === undefined)
	);
}

// --- internal ---

/** Messages per second. */
const SETTLING = 10;
/** Their times or counts are fixed from the window's start on. */
const STEADYLESS = ["messages", "stages", "steps", "backlog"] as const;

/** Poisson arrivals are drawn one by one to count them: a second or two for as many. */
const MOST_POISSON = 100_000_000;

/** A case that goes back to equal distances has no use for the workload's seed. */
function seedless(merged: Written, override: Written): Written {
	if (override.arrivals !== "constant" || Object.hasOwn(override, "seed")) return merged;
	const { seed: _, ...rest } = merged;
	return rest;
}

type Kind = "rate" | "stages" | "steps" | "messages";

/** What a case's load takes away from the workload's. */
const REPLACES: Readonly<Record<Kind, readonly WorkloadField[]>> = {
	rate: ["messages", "steps"],
	stages: ["messages", "steps", "arrivals", "seed", "find", "duration"],
	steps: ["messages", "stages", "rate", "arrivals", "seed", "find", "duration"],
	messages: ["rate", "stages", "steps", "arrivals", "seed", "find"],
};

/** The kind that a part of a scenario speaks of; undefined: of none. */
function kindOf(written: Written): Kind | undefined {
	return (["messages", "steps", "stages", "rate"] as const).find((field) =>
		Object.hasOwn(written, field),
	);
}

function contradiction(has: (field: WorkloadField) => boolean): FieldProblem | undefined {
	const pairs: readonly [Kind, Kind][] = [
		["messages", "rate"],
		["messages", "stages"],
		["messages", "steps"],
		["steps", "stages"],
		["steps", "rate"],
	];
	for (const [field, other] of pairs)
		if (has(field) && has(other))
			return refuseField(field, "two-loads", {
				one: tell(`load-of-${field}` as const),
				other: tell(`load-of-${other}` as const),
			});
	for (const [field, other] of [
		["arrivals", "messages"],
		["arrivals", "stages"],
		["arrivals", "steps"],
		["find", "messages"],
		["find", "steps"],
	] as const)
		if (has(field) && has(other))
			return refuseField(field, "needs-constant-rate", { field, other });
	return undefined;
}

/** Too few messages, or too many. */
function amounts(fields: Fields): FieldProblem[] {
	const schedule = scheduleOf(fields);
	if (!schedule) return [];
	if (schedule.kind === "closed")
		return schedule.warmupMessages > 1_000_000_000
			? [refuseField("warmup", "warmup-too-long")]
			: [];
	const { steps, stages, rate } = fields;
	const mean = meanPerSecond(schedule);
	if (mean === 0)
		return steps || stages
			? [refuseField(steps ? "steps" : "stages", "load-of-nothing")]
			: [refuseField("rate", "rate-of-nothing")];
	if (steps) {
		const idle = steps.find(
			(step) => step.rate.messages > 0 && expected(step.rate, step.duration) < 1,
		);
		return idle
			? [
					refuseField("steps", "step-too-short", {
						durationNs: idle.duration,
						rate: formatRate(idle.rate),
						write: oneMessage(idle.rate),
					}),
				]
			: [];
	}
	const { durationNs } = schedule;
	if (stages)
		return ((mean ?? 0) * durationNs) / 1e9 >= 1
			? []
			: [refuseField("stages", "stages-too-short", { durationNs })];
	if (!rate) return [];
	if (BigInt(rate.messages) * BigInt(durationNs) < BigInt(rate.perNs))
		return [
			refuseField("duration", "duration-too-short", {
				durationNs,
				rate: formatRate(rate),
				write: oneMessage(rate),
			}),
		];
	const messages = expected(rate, durationNs + schedule.warmupNs);
	if (schedule.kind === "poisson" && messages > MOST_POISSON)
		return [refuseField("arrivals", "too-many-arrivals", { most: MOST_POISSON, messages })];
	return [];
}

function expected(rate: Rate, durationNs: number): number {
	return (ratePerSecond(rate) * durationNs) / 1e9;
}

/** What to write for at least one message to be due: whole seconds, as far as a duration goes. */
function oneMessage({ messages, perNs }: Rate): string {
	const ns = Math.ceil(perNs / messages / 1e9) * 1e9;
	return ns > WEEK_NS ? "raise rate" : `write at least duration: ${formatDurationExact(ns)}`;
}
