import { Metric } from "../model/plan.ts";
import { Run } from "../model/result.ts";
import type { RunInFile } from "../model/result-file.ts";
import { needs, TALLIES, Tally, type TallyUnit } from "../model/tallies.ts";
import { worstOfFaults } from "../verdict/faults.ts";
import { ratesAndTimes } from "../verdict/tally.ts";
import { maximum, percentileAmount } from "./select.ts";
import { type Amount, amount } from "./show.ts";

/**
 * Every number that a run can be asked for, once: how it is called, its unit, and where it is found. Files, tables and comparisons are lists and
 * filters of these; an order is theirs.
 */

/** A figure by the name that baselines, exports and SLA lines have it under: "response p99", "ack max", "throughput", "highest rate". */
export interface Field {
	readonly id: string;
	readonly unit: TallyUnit;
	/** null: no latency. */
	readonly metric: Metric | null;
	/** 99 of p99; 100 of max, and of what is no latency. */
	readonly p: number;
}

/** `p` of the slowest message. */
export const MAX = 100;

/** Figure of a search: messages per second, the highest that meet the SLA. */
export const HIGHEST_RATE = "highest rate";

/** What a name is of. `throughput.received` is `throughput`. */
export function field(name: string): Field {
	const tally = Tally.safeParse(name).data;
	if (tally !== undefined) return tallyField(tally);
	const [first, statistic = ""] = name.split(" ");
	const metric = Metric.safeParse(first).data;
	const p = Number(/^p([\d.]+)$/.exec(statistic)?.[1] ?? MAX);
	if (metric !== undefined) return { id: name, unit: "ns", metric, p };
	return { id: name, unit: name === HIGHEST_RATE ? "messages/s" : "ns", metric: null, p: MAX };
}

/** Of a rate less is worse, of every other figure more. */
export function isRate(name: string): boolean {
	return field(name).unit === "messages/s";
}

/** A field of a run, and its value there. */
export interface Figure extends Field, Amount {
	readonly unit: TallyUnit;
}

/** All that a run has been measured by: latencies, then rates and times, then the worst of its faults. */
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

/** What a comparison, or an export, has of a run or a search: a value by the name of each figure. */
interface Named {
	readonly main: string;
	readonly closed: boolean;
	readonly figures: Readonly<Record<string, number | null>>;
}

/**
 * What decides by default: the main metric's p50 and p99; of a closed loop its throughput too; of a search its rate alone. Each
 * more would be one more chance of a false alarm.
 */
export function judgedFigures({ main, closed, figures }: Named): string[] {
	if (figures[HIGHEST_RATE] != null) return [HIGHEST_RATE];
	const latencies = [`${main} p50`, `${main} p99`];
	if (!closed) return latencies;
	// Where nobody consumes, what is acknowledged.
	return [...latencies, figures.throughput == null ? "throughput.sent" : "throughput"];
}

/** What is shown: the main metric's percentiles and max, and rates where the system decides them. In the order of tables. */
export function shownFigures(entries: readonly Named[]): string[] {
	const names = new Set(entries.flatMap((entry) => Object.keys(entry.figures)));
	const main = new Set(entries.map((entry) => entry.main));
	const closed = entries.some((entry) => entry.closed);
	const latencies = [...names]
		.map(field)
		.filter(({ metric }) => metric !== null && main.has(metric))
		.sort((a, b) => a.p - b.p);
	const decided = Tally.options.filter((name) =>
		closed ? !needs(name, "rate") : needs(name, "backlog") || needs(name, "faults"),
	);
	const rates = [...decided, HIGHEST_RATE].filter((name) => names.has(name));
	return [...latencies.map(({ id }) => id), ...rates];
}

/** A count of messages, of the window or the warm-up. */
export type Count = keyof Run["warmup"];

/** In the order of result.json, and of tables. */
export const COUNTS = Object.keys(Run.shape.warmup.shape) as Count[];

/** Some of it is bad news. */
export function isBad(count: Count): boolean {
	return !["intended", "sent", "acked", "received"].includes(count);
}

/** Those that a run of this pattern can have. */
export function countsOf({ load, timedOut }: Run): Count[] {
	return COUNTS.filter((count) => {
		if (count === "received" || count === "lost") return load.pattern !== "publish";
		return count !== "timedOut" || timedOut !== null;
	});
}

/** "not offered"; in a fan-out "copies lost": each message has a copy for each subscriber. */
export function countLabel({ load }: Pick<Run, "load">, count: Count | "received rate"): string {
	const words = snake(count).replaceAll("_", " ");
	return load.pattern === "fan-out" && COPIES.has(count) ? `copies ${words}` : words;
}

/** "not_offered", of times "called_ns": what is `notOffered` and `calledNs` elsewhere. */
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
