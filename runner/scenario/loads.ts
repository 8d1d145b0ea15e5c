import type { WorkloadField } from "../model/workload.ts";
import { ratePerSecond } from "../units.ts";
import { STEADYLESS } from "./rules/load.ts";
import type { WrittenWorkload } from "./workload-schema.ts";
import type { Written } from "./written.ts";

/** Which fields make the load of a workload. */

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
