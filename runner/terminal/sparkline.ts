import { largestOf, smallestOf } from "../extremes.ts";
/** On a logarithmic scale: "▁▁▂█▁"; null is a blank. Longer rows are merged by maximum, so no peak disappears. */
export function sparkline(values: readonly (number | null)[], width: number): string {
	const columns = Math.min(width, values.length);
	const merged = Array.from({ length: columns }, (_, i) => {
		const from = Math.floor((i * values.length) / columns);
		const to = Math.floor(((i + 1) * values.length) / columns);
		const known = values.slice(from, to).filter((v) => v !== null);
		return known.length === 0 ? null : largestOf(known);
	});
	const logs = merged.map((v) => (v === null ? null : Math.log(Math.max(1, v))));
	const known = logs.filter((v) => v !== null);
	const low = smallestOf(known);
	// At least a factor of 4, so noise does not look like a stall.
	const range = Math.max(largestOf(known) - low, Math.log(4));
	return logs
		.map((v) => (v === null ? " " : BARS[Math.min(7, Math.floor(((v - low) / range) * 8))]))
		.join("");
}

// --- internal ---

const BARS = "▁▂▃▄▅▆▇█";
