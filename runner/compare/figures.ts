import type { Baseline } from "../model/comparison.ts";
import { needs, TALLIES, Tally } from "../model/tallies.ts";
import { ACROSS } from "../verdict/checks/clock.ts";

/** Figure of a search: messages per second, the highest that meet the SLA. */
export const HIGHEST_RATE = "highest rate";

type Entry = Baseline["runs"][number];

/** Of a rate less is worse, of every other figure (times, ns) more. */
export function isRate(figure: string): boolean {
	const tally = Tally.safeParse(figure).data;
	return tally ? TALLIES[tally].unit === "messages/s" : figure === HIGHEST_RATE;
}

/** May two clocks have timed it? Of a latency from client to client each end is of another's. */
export function isAcrossClocks(figure: string): boolean {
	return [...ACROSS].some((metric) => figure.startsWith(`${metric} `));
}

/** The name that baselines have it under: `throughput` alone is what is received. */
export function figureName(figure: string): string {
	const tally = Tally.safeParse(figure).data;
	return (tally && TALLIES[tally].sameAs) ?? figure;
}

/**
 * What decides by default: the main metric's p50 and p99; of a closed loop its throughput too; of a search its rate alone. Each
 * more would be one more chance of a false alarm.
 */
export function judgedFigures({
	main,
	closed,
	figures,
}: Pick<Entry, "main" | "closed" | "figures">): string[] {
	if (figures[HIGHEST_RATE] != null) return [HIGHEST_RATE];
	const latencies = [`${main} p50`, `${main} p99`];
	if (!closed) return latencies;
	// Where nobody consumes, what is acknowledged.
	const rate = figures.throughput == null ? "throughput.sent" : "throughput";
	return [...latencies, rate];
}

/** What is shown: the main metric's percentiles and max, and rates where the system decides them. In the order of tables. */
export function shownFigures(
	entries: readonly Pick<Entry, "main" | "closed" | "figures">[],
): string[] {
	const names = new Set(entries.flatMap((entry) => Object.keys(entry.figures)));
	const main = new Set(entries.map((entry) => entry.main));
	const closed = entries.some((entry) => entry.closed);
	const latencies = [...names]
		.filter((name) => main.has(name.split(" ")[0] ?? ""))
		.sort((a, b) => depth(a) - depth(b));
	const decided = Tally.options.filter((name) =>
		closed ? !needs(name, "rate") : needs(name, "backlog") || needs(name, "faults"),
	);
	const rates = [...decided, HIGHEST_RATE].filter((name) => names.has(name));
	return [...latencies, ...rates];
}

// --- internal ---

/** The percentile that it names; 100 of max. */
function depth(figure: string): number {
	return Number(/ p([\d.]+)$/.exec(figure)?.[1] ?? 100);
}
