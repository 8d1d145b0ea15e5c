import { WEEK_NS } from "../model/field.ts";
import type { WorkloadField } from "../model/workload.ts";
import { say } from "../text/say.ts";
import type { Rate } from "../units.ts";
import {
	formatCount,
	formatDurationExact,
	formatRate,
	ratePerSecond,
} from "../units.ts";
import type { FieldProblem } from "./problem.ts";
import { scheduleOf } from "./schedule.ts";
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
	if (kind === "rate" && Object.hasOwn(shared, "stages"))
		dropped.delete("stages");
	const before = kindOf(shared);
	// "5s" of warm-up means nothing to a closed load, "1000 messages" nothing to an open one.
	if (before !== undefined && (before === "messages") !== (kind === "messages"))
		dropped.add("warmup");
	const kept = Object.entries(shared).filter(([field]) => !dropped.has(field));
	return seedless({ ...Object.fromEntries(kept), ...override }, override);
}

/** The kind of load that leaves no room for a field; undefined: it may stand there. */
export function forbiddenBeside(
	field: string,
	written: Written,
): string | undefined {
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
	const found: FieldProblem[] = [];
	const wrong = (field: WorkloadField, message: string) =>
		found.push({ field, message });
	const has = (field: WorkloadField) => Object.hasOwn(written, field);
	const both = contradiction(has);
	if (both) return [both];

	const { warmup, arrivals, steps, messages, find } = fields;
	for (const field of ["stages", "steps"] as const)
		if (fields[field] && has("duration"))
			wrong(
				"duration",
				`${field} have durations of their own, which add up to the run's; remove duration`,
			);
	if (has("seed") && arrivals !== "poisson")
		wrong("seed", "seed has no effect without arrivals: poisson; remove seed");
	const uneven = steps?.find((step) => step.duration % 1e9 !== 0);
	if (uneven)
		wrong(
			"steps",
			`a step must last whole seconds, got ${formatDurationExact(uneven.duration)}; write duration: ${Math.ceil(uneven.duration / 1e9)}s`,
		);
	const closed = has("messages");
	if (warmup && "ns" in warmup && warmup.ns > 0 && closed)
		wrong(
			"warmup",
			`the warm-up of a closed load (messages) is counted in messages; write e.g. warmup: ${Math.ceil((messages ?? 10_000) / 10)} messages`,
		);
	const shape = STEADYLESS.find((field) => has(field));
	if (warmup && "steady" in warmup && shape)
		wrong(
			"warmup",
			say("steady-window", {
				part: shape,
				instead: closed
					? `${Math.ceil((messages ?? 10_000) / 10)} messages`
					: "15s",
			}).text,
		);
	if (warmup && "messages" in warmup && !closed)
		wrong(
			"warmup",
			`the warm-up of a load with a rate is a duration; write e.g. warmup: 5s`,
		);
	if (find && (has("stages") || arrivals === "poisson"))
		wrong(
			"find",
			`find: max-rate tries constant rates; remove ${has("stages") ? "stages" : "arrivals"}`,
		);
	found.push(...amounts(fields));
	return found;
}

// --- internal ---

/** Their times or counts are fixed from the window's start on. */
const STEADYLESS = ["messages", "stages", "steps", "backlog"] as const;

/** Poisson arrivals are drawn one by one to count them: a second or two for as many. */
const MOST_POISSON = 100_000_000;

/** A case that goes back to equal distances has no use for the workload's seed. */
function seedless(merged: Written, override: Written): Written {
	if (override.arrivals !== "constant" || Object.hasOwn(override, "seed"))
		return merged;
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

function contradiction(
	has: (field: WorkloadField) => boolean,
): FieldProblem | undefined {
	const means: Readonly<Record<Kind, string>> = {
		rate: "rate (each message has its time)",
		stages: "stages (a rate that changes)",
		steps: "steps (one rate after another)",
		messages: "messages (as fast as possible)",
	};
	const pairs: readonly [Kind, Kind][] = [
		["messages", "rate"],
		["messages", "stages"],
		["messages", "steps"],
		["steps", "stages"],
		["steps", "rate"],
	];
	for (const [field, other] of pairs)
		if (has(field) && has(other))
			return {
				field,
				message: `two kinds of load: ${means[field]} and ${means[other]}; remove one of them`,
			};
	for (const [field, other] of [
		["arrivals", "messages"],
		["arrivals", "stages"],
		["arrivals", "steps"],
		["find", "messages"],
		["find", "steps"],
	] as const)
		if (has(field) && has(other))
			return {
				field,
				message: `${field} needs a constant rate, and this load has ${other}; remove ${field}`,
			};
	return undefined;
}

/** Too few messages, or too many. */
function amounts(fields: Fields): FieldProblem[] {
	const schedule = scheduleOf(fields);
	if (!schedule) return [];
	if (schedule.kind === "closed")
		return schedule.warmupMessages > 1_000_000_000
			? [
					{
						field: "warmup",
						message: "warmup must be at most 1000000000 messages",
					},
				]
			: [];
	const { steps, stages, rate } = fields;
	if (steps) {
		const idle = steps.find((step) => expected(step.rate, step.duration) < 1);
		return idle
			? [
					{
						field: "steps",
						message: `a step of ${formatDurationExact(idle.duration)} is too short for a message at ${formatRate(idle.rate)}; ${oneMessage(idle.rate)}`,
					},
				]
			: [];
	}
	const duration = schedule.durationNs;
	if (stages)
		return stages.some((stage) => expected(stage.target, stage.duration) >= 2)
			? []
			: [
					{
						field: "stages",
						message: `stages of ${formatDurationExact(duration)} are too short for a message at these rates; raise target`,
					},
				];
	if (!rate) return [];
	if (BigInt(rate.messages) * BigInt(duration) < BigInt(rate.perNs))
		return [
			{
				field: "duration",
				message: `duration ${formatDurationExact(duration)} is too short for a message at ${formatRate(rate)}; ${oneMessage(rate)}`,
			},
		];
	const messages = expected(rate, duration + schedule.warmupNs);
	if (schedule.kind === "poisson" && messages > MOST_POISSON)
		return [
			{
				field: "arrivals",
				message: `arrivals: poisson takes at most ${formatCount(MOST_POISSON)} messages in a run, got ${formatCount(messages)}; write a shorter duration`,
			},
		];
	return [];
}

function expected(rate: Rate, durationNs: number): number {
	return (ratePerSecond(rate) * durationNs) / 1e9;
}

/** What to write for at least one message to be due: whole seconds, as far as a duration goes. */
function oneMessage({ messages, perNs }: Rate): string {
	const ns = Math.ceil(perNs / messages / 1e9) * 1e9;
	return ns > WEEK_NS
		? "raise rate"
		: `write at least duration: ${formatDurationExact(ns)}`;
}
