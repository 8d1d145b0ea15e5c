import type { Rate } from "../units.ts";

/**
 * The shape of a constant schedule: message i (from 0, warm-up included) is intended at
 * `offset(i) = floor(i * perNs / messages)` ns after T0. Whole-number arithmetic, so that no drift builds up.
 * Go computes the same in `xk6-mqbench/schedule`; both are tested with `offset.table.json`.
 */
export function offsetNs(rate: Rate, i: number): number {
	return exact((BigInt(i) * BigInt(rate.perNs)) / BigInt(rate.messages));
}

/** How many messages have an offset below `ns`: the number of i with i * perNs / messages < ns. */
export function messagesBefore(rate: Rate, ns: number): number {
	const scaled = BigInt(ns) * BigInt(rate.messages);
	const perNs = BigInt(rate.perNs);
	return exact((scaled + perNs - 1n) / perNs);
}

// --- internal ---

function exact(value: bigint): number {
	if (value > BigInt(Number.MAX_SAFE_INTEGER))
		throw new RangeError(`${value} is above 2^53 and would be rounded`);
	return Number(value);
}
