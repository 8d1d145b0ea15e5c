import type { Rate } from "../units.ts";
import {
	formatCount,
	formatDurationExact,
	formatRate,
	ratePerSecond,
} from "../units.ts";
import type { Load } from "./scenario.ts";
import type { Workload, WorkloadField } from "./schema.ts";

/** A mistake in the load: the field at fault, and a sentence. */
export interface LoadProblem {
	readonly field: WorkloadField;
	readonly message: string;
}

type Fields = Partial<Workload>;
type Written = Readonly<Record<string, unknown>>;

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

/** The load of a workload whose fields are right by themselves; null when one that it needs isn't. */
export function loadOf(fields: Fields): Load | null {
	const { rate, stages, steps, messages, warmup } = fields;
	if (messages !== undefined)
		return {
			kind: "closed",
			messages,
			warmupMessages: warmupMessages(messages, warmup),
		};
	if (steps)
		return {
			kind: "steps",
			steps: steps.map((step) => ({
				durationNs: step.duration,
				rate: step.rate,
			})),
		};
	if (!rate) return null;
	if (stages)
		return {
			kind: "stages",
			from: rate,
			stages: stages.map((stage) => ({
				durationNs: stage.duration,
				target: stage.target,
			})),
		};
	const poisson = fields.arrivals === "poisson";
	return {
		kind: poisson ? "poisson" : "constant",
		rate,
		seed: poisson ? (fields.seed ?? 1) : 0,
	};
}

/** The window of a load; a closed one's limit. null: nothing says it. */
export function durationOf(load: Load, fields: Fields): number | null {
	if (load.kind === "stages") return sum(load.stages);
	if (load.kind === "steps") return sum(load.steps);
	if (fields.duration !== undefined) return fields.duration;
	if (load.kind === "closed") return CLOSED_NS;
	return fields.find === undefined ? null : SEARCH_NS;
}

/** Warm-up of an open load; a closed one's is counted in messages. */
export function warmupOf(load: Load, { warmup }: Fields): number {
	if (load.kind === "closed") return 0;
	return warmup !== undefined && "ns" in warmup ? warmup.ns : WARMUP_NS;
}

/** Rates at which a load runs, from its start on; a closed one has none. */
export function ratesOf(load: Load): Rate[] {
	if (load.kind === "closed") return [];
	if (load.kind === "steps") return load.steps.map(({ rate }) => rate);
	if (load.kind === "stages")
		return [load.from, ...load.stages.map(({ target }) => target)];
	return [load.rate];
}

/** "3000/s", "1000/s to 5000/s in 3 stages", "100 000 messages": how a load reads in a name. */
export function loadName(load: Load): string {
	if (load.kind === "closed") return `${load.messages} messages`;
	if ("rate" in load)
		return `${formatRate(load.rate)}${load.kind === "poisson" ? " poisson" : ""}`;
	const rates = ratesOf(load).map(formatRate);
	const count = ("stages" in load ? load.stages : load.steps).length;
	const noun = "stages" in load ? "stage" : "step";
	const from = rates[0] ?? "";
	const to = rates.at(-1) ?? "";
	const range = from === to ? from : `${from} to ${to}`;
	return `${range} in ${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Fields of a load that are right by themselves and wrong together. `written`: what stands there, right or wrong. */
export function loadProblems(fields: Fields, written: Written): LoadProblem[] {
	const found: LoadProblem[] = [];
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

const WARMUP_NS = 5e9;
const CLOSED_NS = 600e9;
/** A step of the search measures 15 s at least (reports/README.md, "Searches"). */
const SEARCH_NS = 15e9;
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
): LoadProblem | undefined {
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
function amounts(fields: Fields): LoadProblem[] {
	const load = loadOf(fields);
	const duration = load && durationOf(load, fields);
	if (!load || duration === null) return [];
	if (load.kind === "closed")
		return load.warmupMessages > 1_000_000_000
			? [{ field: "warmup", message: "warmup is at most 1000000000 messages" }]
			: [];
	const [first] = ratesOf(load);
	if (!first) return [];
	if (load.kind === "steps") {
		const idle = load.steps.find((step) => expected(step.rate, step) < 1);
		return idle
			? [
					{
						field: "steps",
						message: `a step of ${formatDurationExact(idle.durationNs)} is too short for ${formatRate(idle.rate)}: no message may be due in it; write at least duration: ${oneMessage(idle.rate)}`,
					},
				]
			: [];
	}
	if (load.kind === "stages")
		return load.stages.some((stage) => expected(stage.target, stage) >= 2)
			? []
			: [
					{
						field: "stages",
						message: `stages of ${formatDurationExact(duration)} are too short for their rates: no message may be due in them; raise duration or target`,
					},
				];
	if (BigInt(first.messages) * BigInt(duration) < BigInt(first.perNs))
		return [
			{
				field: "duration",
				message: `duration ${formatDurationExact(duration)} is too short for ${formatRate(first)}: no message may be due in it; write at least duration: ${oneMessage(first)}`,
			},
		];
	const messages = expected(first, {
		durationNs: duration + warmupOf(load, fields),
	});
	if (load.kind === "poisson" && messages > MOST_POISSON)
		return [
			{
				field: "arrivals",
				message: `poisson arrivals are drawn one by one, at most ${formatCount(MOST_POISSON)} for a run, and this one has ${formatCount(messages)}; lower rate or duration, or write arrivals: constant`,
			},
		];
	return [];
}

function expected(rate: Rate, { durationNs }: { durationNs: number }): number {
	return (ratePerSecond(rate) * durationNs) / 1e9;
}

/** Whole seconds in which at least one message is due. */
function oneMessage({ messages, perNs }: Rate): string {
	return formatDurationExact(Math.ceil(perNs / messages / 1e9) * 1e9);
}

function warmupMessages(messages: number, warmup: Fields["warmup"]): number {
	if (warmup === undefined) return Math.ceil(messages / 10);
	return "messages" in warmup ? warmup.messages : 0;
}

function sum(parts: readonly { readonly durationNs: number }[]): number {
	return parts.reduce((total, { durationNs }) => total + durationNs, 0);
}
