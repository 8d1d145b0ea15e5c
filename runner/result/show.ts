import { formatDuration, formatDurationExact, formatIn, type Unit } from "../units.ts";

/** A number of a run with all that its reader must know of it. */
export interface Amount {
	/** null: see `why`. */
	readonly value: number | null;
	readonly unit: Unit;
	/** Few samples, or few clusters of slow ones, stand behind it. */
	readonly weak?: boolean;
	/** The true value is larger: messages never completed, or what a fault did had not ended. */
	readonly atLeast?: boolean;
	/** 95 % interval; low null: it has none, high null: it has no upper end. */
	readonly low?: number | null;
	readonly high?: number | null;
	/** stopped: its messages had not completed when the run was stopped, and nobody knows whether they would have. */
	readonly why?: "not-measured" | "few-samples" | "stopped";
	/** The head of its column says the unit. */
	readonly bare?: boolean;
}

/** What was measured, or not. */
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

/** "[11.0ms, 14.9ms]", "[3ms, ∞]"; empty: it has no interval. */
export function showInterval({ low, high }: Pick<Amount, "low" | "high">): string {
	if (low == null) return "";
	return `[${formatDuration(low)}, ${high == null ? "\u221e" : formatDuration(high)}]`;
}

/** A column of a table: its name, and what a row has in it. */
export type Column<T> = readonly [name: string, of: (row: T) => Amount | string];

/** The row's cells; a rate is bare where the head of its column says it. */
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
