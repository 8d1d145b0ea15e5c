import { type CellValue, csvCell } from "../chart/csv-cell.ts";
import { Metric } from "../model/plan.ts";
import type { Percentile, Result, Run } from "../model/result.ts";
import { COUNTS, MAX, snake } from "../result/fields.ts";
import { ratePerSecond } from "../units.ts";
import { USUAL } from "../verdict/quantile.ts";

/**
 * `result.csv`: a row per run, a column per figure, so that files of many commands can be put below each other. RFC 4180: comma, CRLF,
 * quotes where needed, a first line of names. Times are ns, rates messages per second; nothing is rounded. Empty: not measured. A percentile
 * that is empty has its reason in the column `..._support` beside it: none (too few samples) or beyond-timeout (it lies among messages that
 * never completed). `..._max_ns` is of those that did complete; `..._censored` says how many did not.
 *
 * Names of scenarios and the like come from outside, and a spreadsheet takes `=1+1` for a formula: such a text gets a leading `'`.
 */
export function renderCsv(result: Result): string {
	const columns = columnsOf(result);
	const rows = result.runs.map((run) => columns.map(([, value]) => csvCell(value(run))));
	return [columns.map(([name]) => csvCell(name)), ...rows]
		.map((cells) => `${cells.join(",")}\r\n`)
		.join("");
}

// --- internal ---

type Column = readonly [name: string, value: (run: Run) => CellValue];

type CellKey<T> = { [K in keyof T]-?: T[K] extends CellValue ? K : never }[keyof T] & string;

/** Columns that are called as the fields of a part of the run are, with `before` and `after` around them. */
function fields<T>(
	part: (run: Run) => T | null | undefined,
	names: readonly CellKey<T>[],
	{ before = "", after = "" } = {},
): Column[] {
	return names.map((name) => [
		`${before}${snake(name)}${after}`,
		(run) => part(run)?.[name] as CellValue,
	]);
}

function columnsOf(result: Result): Column[] {
	const whole = () => result;
	const machine = () => result.environment;
	const own = (run: Run) => run;
	const load = (run: Run) => run.load;
	return [
		...fields(whole, ["scenario", "runId"]),
		...fields(own, ["startedAt"]),
		...fields(machine, ["mqbench"]),
		...fields(own, ["system", "case", "repeat"]),
		["search", (run) => run.search?.role],
		...fields(own, ["verdict", "why", "state"]),
		...fields(whole, ["quick"]),
		...fields(load, ["broker"]),
		["broker_version", (run) => run.versions?.server || run.brokerVersion],
		["client_library", (run) => run.versions?.library],
		...fields(load, ["durability", "target"]),
		...fields(own, ["sameHost", "topology"]),
		...fields(machine, ["cpu", "cores", "os", "kernel"]),
		...fields(load, ["pattern"]),
		["load", (run) => run.load.schedule.kind],
		["rate_per_second", ({ load }) => (load.rate === null ? null : ratePerSecond(load.rate))],
		...fields(load, ["messageBytes", "payload", "warmupNs", "durationNs", "timeoutNs", "clients"]),
		...fields(own, ["startSkewNs", "clockBoundNs"]),
		...fields(load, ["connections", "producers", "consumers", "subscriptions"]),
		...fields(load, ["topics", "partitions"]),
		...fields(load, ["inFlight"], { after: "_limit" }),
		...fields(own, [...COUNTS, "clientDropped", "foreign", "reconnects"]),
		...fields((run) => run.throughput, ["sent", "received", "achieved"], { after: "_per_second" }),
		...fields((run) => run.drain, ["peak"], { before: "backlog_" }),
		["drain_ns", (run) => run.drain?.drainNs],
		...fields((run) => run.drain, ["perSecond"], { before: "drain_" }),
		["faults", (run) => run.failover.length],
		...faultColumns(result),
		["main_metric", (run) => run.main],
		...Metric.options.flatMap((metric) => metricColumns(result, metric)),
		...breakdownColumns(result),
	];
}

/** Of each fault, the first of a run first. Times are since T0, or last from `calledNs` on (`faultZeroNs`). */
function faultColumns({ runs }: Result): Column[] {
	const most = runs.reduce((n, run) => Math.max(n, run.failover.length), 0);
	return Array.from({ length: most }, (_, i) => ({
		fault: (run: Run) => run.failover[i],
		before: `fault_${i + 1}_`,
	})).flatMap(({ fault, before }) => [
		...fields(fault, ["action", "node", "leader", "calledNs", "beganNs", "endedNs"], { before }),
		...fields(fault, ["unavailableNs", "unavailableFromNs", "unavailableStill"], { before }),
		...fields(fault, ["recoveredNs", "drainedNs", "error"], { before }),
	]);
}

/** The usual percentiles in every file, and those that an SLA of this result names. */
function metricColumns(result: Result, metric: Metric): Column[] {
	const of = (run: Run) => run.metrics[metric];
	const before = `${metric}_`;
	return [
		...fields(of, ["count", "censored"], { before }),
		...fields(of, ["min", "mean"], { before, after: "_ns" }),
		...percentilesOf(result, metric).flatMap((p): Column[] => {
			const at = (run: Run) => of(run)?.percentiles.find((q) => q.p === p);
			return [
				[`${metric}_p${p}_ns`, (run) => at(run)?.value],
				[`${metric}_p${p}_support`, (run) => supportOf(at(run))],
			];
		}),
		...fields(of, ["max"], { before, after: "_ns" }),
	];
}

/** Means of the messages around each percentile of response, and of the slowest one; how many those are. */
function breakdownColumns(result: Result): Column[] {
	return [...percentilesOf(result, "response"), MAX].flatMap((p): Column[] => {
		const at = (run: Run) => run.breakdown?.find((one) => one.p === p);
		const before = `breakdown_${p === MAX ? "max" : `p${p}`}_`;
		return [
			...fields(at, ["messages"], { before }),
			...fields(at, ["queued", "lag", "service"], { before, after: "_ns" }),
		];
	});
}

function percentilesOf({ runs }: Result, metric: Metric): number[] {
	const named = runs.flatMap((run) => run.metrics[metric]?.percentiles.map(({ p }) => p) ?? []);
	return [...new Set([...USUAL, ...named])].sort((a, b) => a - b);
}

function supportOf(p: Percentile | undefined): string | null {
	if (p === undefined) return null;
	return p.beyondTimeout ? "beyond-timeout" : p.support;
}
