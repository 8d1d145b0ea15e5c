import type { Rate } from "../units.ts";
import {
	formatCount,
	formatDurationExact,
	formatRate,
	ratePerSecond,
} from "../units.ts";
import type { FieldProblem } from "./problem.ts";
import { scheduleOf } from "./schedule.ts";
import type { WorkloadField, WrittenWorkload } from "./workload-schema.ts";
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
		wrong(
			"seed",
			"seed is for arrivals: poisson, as equal distances have nothing to draw; write arrivals: poisson, or remove seed",
		);
	const uneven = steps?.find((step) => step.duration % 1e9 !== 0);
	if (uneven)
		wrong(
			"steps",
			`a step of ${formatDurationExact(uneven.duration)} is no whole number of seconds, and reports show steps by the second; write e.g. duration: ${Math.ceil(uneven.duration / 1e9)}s`,
		);
	const closed = has("messages");
	if (warmup && "ns" in warmup && warmup.ns > 0 && closed)
		wrong(
			"warmup",
			`the warm-up of a closed load is a number of messages; write e.g. warmup: ${Math.ceil((messages ?? 10_000) / 10)} messages, or 0`,
		);
	if (warmup && "messages" in warmup && !closed)
		wrong(
			"warmup",
			`the warm-up of a load with a rate is a duration; write e.g. warmup: 5s`,
		);
	if (find && (has("stages") || arrivals === "poisson"))
		wrong(
			"find",
			`find: max-rate tries one constant rate after the other; remove ${has("stages") ? "stages" : "arrivals"}`,
		);
	found.push(...amounts(fields));
	return found;
}

// --- internal ---

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
		steps: "steps (rates of their own)",
		messages: "messages (closed, as fast as inFlight allows)",
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
				message: `a run has one kind of load, and here are two: ${means[field]} and ${means[other]}; remove ${field} or ${other}`,
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
				message: `${field} needs a constant rate, and this load has ${other}; remove ${field} or ${other}`,
			};
	return undefined;
}

/** Too few messages, or too many. */
function amounts(fields: Fields): FieldProblem[] {
	const schedule = scheduleOf(fields);
	if (!schedule) return [];
	if (schedule.kind === "closed")
		return schedule.warmupMessages > 1_000_000_000
			? [{ field: "warmup", message: "warmup is at most 1000000000 messages" }]
			: [];
	const { steps, stages, rate } = fields;
	if (steps) {
		const idle = steps.find((step) => expected(step.rate, step.duration) < 1);
		return idle
			? [
					{
						field: "steps",
						message: `a step of ${formatDurationExact(idle.duration)} is too short for ${formatRate(idle.rate)}: no message may be due in it; write at least duration: ${oneMessage(idle.rate)}`,
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
						message: `stages of ${formatDurationExact(duration)} are too short for their rates: no message may be due in them; raise duration or target`,
					},
				];
	if (!rate) return [];
	if (BigInt(rate.messages) * BigInt(duration) < BigInt(rate.perNs))
		return [
			{
				field: "duration",
				message: `duration ${formatDurationExact(duration)} is too short for ${formatRate(rate)}: no message may be due in it; write at least duration: ${oneMessage(rate)}`,
			},
		];
	const messages = expected(rate, duration + schedule.warmupNs);
	if (schedule.kind === "poisson" && messages > MOST_POISSON)
		return [
			{
				field: "arrivals",
				message: `poisson arrivals are drawn one by one, at most ${formatCount(MOST_POISSON)} for a run, and this one has ${formatCount(messages)}; lower rate or duration, or write arrivals: constant`,
			},
		];
	return [];
}

function expected(rate: Rate, durationNs: number): number {
	return (ratePerSecond(rate) * durationNs) / 1e9;
}

/** Whole seconds in which at least one message is due. */
function oneMessage({ messages, perNs }: Rate): string {
	return formatDurationExact(Math.ceil(perNs / messages / 1e9) * 1e9);
}
