import type { Baseline } from "../model/comparison.ts";
import { Metric } from "../model/plan.ts";
import { Run, type RunInFile } from "../model/result.ts";
import { needs, TALLIES, Tally, type TallyUnit } from "../model/tallies.ts";
import { worstOfFaults } from "../verdict/faults.ts";
import { ratesAndTimes } from "../verdict/tally.ts";
import { maximum, percentileAmount } from "./select.ts";
import { type Amount, amount } from "./show.ts";

/** Every number of a run, defined once: its name, unit and source. Files, tables and comparisons choose and order them. */

/** Named as in baselines, exports and SLA lines: "response p99", "ack max", "throughput", "highest rate". */
interface Field {
	readonly id: string;
	readonly unit: TallyUnit;
	readonly metric: Metric | null;
	/** 99 for p99; 100 for max, and for anything that is not a latency. */
	readonly p: number;
}

/** `p` of the slowest message. */
export const MAX = 100;

/** A search's answer: the highest messages per second that meet the SLA. */
export const HIGHEST_RATE = "highest rate";

/** `throughput.received` is `throughput`. */
export function field(name: string): Field {
	const tally = Tally.safeParse(name).data;
	if (tally !== undefined) return tallyField(tally);
	const [first, statistic = ""] = name.split(" ");
	const metric = Metric.safeParse(first).data;
	const p = Number(/^p([\d.]+)$/.exec(statistic)?.[1] ?? MAX);
	if (metric !== undefined) return { id: name, unit: "ns", metric, p };
	return { id: name, unit: name === HIGHEST_RATE ? "messages/s" : "ns", metric: null, p: MAX };
}

/** Less is worse for a rate, more for every other figure. */
export function isRate(name: string): boolean {
	return field(name).unit === "messages/s";
}

export interface Figure extends Field, Amount {
	readonly unit: TallyUnit;
}

/** Latencies, then rates and times, then the worst of the faults. */
export function figuresOf(run: Run | RunInFile): Figure[] {
	const latencies = Metric.options.flatMap((metric): Figure[] => {
		const summary = run.metrics[metric];
		if (summary === null || summary.n === 0) return [];
		const most = maximum(summary, run);
		const max = most.value === null ? null : Math.max(most.value, summary.max ?? 0);
		return [
			...summary.percentiles.map((one) => ({
				...latency(metric, one.p),
				...percentileAmount(one, run),
			})),
			{ ...latency(metric, MAX), ...most, value: max },
		].map((figure) => ({ ...figure, unit: "ns" }));
	});
	const others = ratesAndTimes(run).flatMap(([name, value]): Figure[] => {
		const { unit, sameAs } = TALLIES[name];
		return sameAs === undefined ? [{ ...tallyField(name), ...amount(value, unit), unit }] : [];
	});
	const { failover, window } = run;
	const faults = worstOfFaults({ failover, endNs: window.endNs }).map(
		({ figure, ns, open }): Figure => ({ ...tallyField(figure), value: ns, atLeast: open }),
	);
	return [...latencies, ...others, ...faults];
}

type Named = Pick<Baseline["runs"][number], "main" | "closed" | "figures">;

/** p50 and p99 of the main metric, throughput of a closed loop, only the rate of a search: more figures would raise more false alarms. */
export function judgedFigures({ main, closed, figures }: Named): string[] {
	if (figures[HIGHEST_RATE] != null) return [HIGHEST_RATE];
	const latencies = [`${main} p50`, `${main} p99`];
	if (!closed) return latencies;
	// Without consumers, the rate of acknowledgements.
	return [...latencies, figures.throughput == null ? "throughput.sent" : "throughput"];
}

/** In table order: the main metric's percentiles and max, rates where the system decides them, and costs. */
export function shownFigures(entries: readonly Named[]): string[] {
	const names = new Set(entries.flatMap((entry) => Object.keys(entry.figures)));
	const main = new Set(entries.map((entry) => entry.main));
	const closed = entries.some((entry) => entry.closed);
	const latencies = [...names]
		.map(field)
		.filter(({ metric }) => metric !== null && main.has(metric))
		.sort((a, b) => a.p - b.p);
	const decided = Tally.options.filter((name) =>
		closed
			? !needs(name, "rate") && !TALLIES[name].cost
			: needs(name, "backlog") || needs(name, "faults"),
	);
	const costs = Tally.options.filter((name) => TALLIES[name].cost);
	const rates = [...decided, ...costs, HIGHEST_RATE].filter((name) => names.has(name));
	return [...latencies.map(({ id }) => id), ...rates];
}

export type Count = keyof Run["warmup"];

/** In the order of result.json, and of tables. */
export const COUNTS = Object.keys(Run.shape.warmup.shape) as Count[];

export function isBad(count: Count): boolean {
	return !["intended", "sent", "acked", "received"].includes(count);
}

export function countsOf({ load, timedOut }: Run): Count[] {
	return COUNTS.filter((count) => {
		if (count === "received" || count === "lost") return load.pattern !== "publish";
		return count !== "timedOut" || timedOut !== null;
	});
}

/** "not offered"; in a fan-out "copies lost", because each subscriber gets a copy. */
export function countLabel({ load }: Pick<Run, "load">, count: Count | "received rate"): string {
	const words = snake(count).replaceAll("_", " ");
	return load.pattern === "fan-out" && COPIES.has(count) ? `copies ${words}` : words;
}

/** "not_offered" for `notOffered` */
export function snake(name: string): string {
	return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

// --- internal ---

const COPIES: ReadonlySet<string> = new Set(["received", "lost", "received rate"]);

function tallyField(name: Tally): Field & { readonly unit: TallyUnit } {
	const { unit, sameAs } = TALLIES[name];
	return { id: sameAs ?? name, unit, metric: null, p: MAX };
}

function latency(metric: Metric, p: number): Field {
	return { id: `${metric} ${p === MAX ? "max" : `p${p}`}`, unit: "ns", metric, p };
}
