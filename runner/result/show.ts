import { formatDuration, formatDurationExact, formatIn, type Unit } from "../units.ts";

export interface Amount {
	readonly value: number | null;
	readonly unit: Unit;
	/** It rests on few samples, or on few clusters of slow ones. */
	readonly weak?: boolean;
	/** The true value is larger: messages never completed, or a fault's effect had not ended. */
	readonly atLeast?: boolean;
	/** 95 % interval. `low` is null without one, `high` without an upper end. */
	readonly low?: number | null;
	readonly high?: number | null;
	/** stopped: the run ended before its messages completed. */
	readonly why?: "not-measured" | "few-samples" | "stopped";
	/** The head of its column has the unit. */
	readonly bare?: boolean;
}

export function amount(value: number | null | undefined, unit: Unit): Amount {
	return value == null ? { value: null, unit, why: "not-measured" } : { value, unit };
}

/** "12.4ms", "1 000/s", weak "~12.4ms", "> 30s", "n/a", "stopped". */
export function show(of: Amount): string {
	const { value, unit } = of;
	if (value === null) return of.why === "stopped" ? "stopped" : "n/a";
	if (of.atLeast) return `> ${unit === "ns" ? formatDurationExact(value) : words(value, of)}`;
	return `${of.weak ? "~" : ""}${words(value, of)}`;
}

/** "[11.0ms, 14.9ms]", "[3ms, ∞]"; "" without an interval. */
export function showInterval({ low, high }: Pick<Amount, "low" | "high">): string {
	if (low == null) return "";
	return `[${formatDuration(low)}, ${high == null ? "\u221e" : formatDuration(high)}]`;
}

export type Column<T> = readonly [name: string, of: (row: T) => Amount | string];

export function cellsOf<T>(columns: readonly Column<T>[], row: T): (Amount | string)[] {
	return columns.map(([name, of]) => {
		const cell = of(row);
		return typeof cell === "string" || !name.endsWith("/s") ? cell : { ...cell, bare: true };
	});
}

// --- internal ---

function words(value: number, { unit, bare }: Amount): string {
	return formatIn(unit === "messages/s" && bare ? "messages" : unit, value);
}
