import { formatDuration } from "../units.ts";

/** Measured times, ns, ascending. */
export type Times = readonly number[];

/** The time of rank ceil(n * p / 100). */
export function timeAt(times: Times, p: number): number {
	return times[Math.max(1, Math.ceil((times.length * p) / 100)) - 1] ?? 0;
}

/** "p50 61us, p99 120us" */
export function timesText(times: Times): string {
	return `p50 ${formatDuration(timeAt(times, 50))}, p99 ${formatDuration(timeAt(times, 99))}`;
}
