import { type CellValue, csvCell } from "../chart/csv-cell.ts";
import { Metric } from "../model/plan.ts";
import { type Result, Run } from "../model/result.ts";
import { COUNTS, MAX, snake } from "../result/fields.ts";
import { ratePerSecond } from "../units.ts";
import { USUAL } from "../verdict/quantile.ts";

/**
 * A row for each run, a column for each figure. RFC 4180 with CRLF; times are ns, rates messages per second, nothing is rounded. Empty: not
 * measured. An empty percentile has its reason in `..._support`: none (too few samples) or beyond-timeout (it is among messages that
 * never completed). `..._max_ns` covers completed messages; `..._censored` counts the others. Formulas from outside get a leading `'`.
 */
export function renderCsv(result: Result): string {
	const rows = result.runs.map((run) => rowOf(run, result));
	// Every row has the same names.
	return [rows[0]?.map(([name]) => name) ?? [], ...rows.map((row) => row.map(([, value]) => value))]
		.map((cells) => `${cells.map(csvCell).join(",")}\r\n`)
		.join("");
}

// --- internal ---

const COSTS = Run.shape.cost.unwrap().unwrap().keyof().exclude(["messages", "cpuWithinNs"]).options;

type Cell = readonly [name: string, value: CellValue];
type CellKey<T> = { [K in keyof T]-?: T[K] extends CellValue ? K : never }[keyof T] & string;

/** Named as the part's fields, with `before` and `after` around them. */
function fields<T>(
	part: T | null | undefined,
	names: readonly CellKey<T>[],
	{ before = "", after = "" } = {},
): Cell[] {
	return names.map((name) => [`${before}${snake(name)}${after}`, part?.[name] as CellValue]);
}

function rowOf(run: Run, result: Result): Cell[] {
	const { load, drain, versions } = run;
	const { environment } = result;
	const most = result.runs.reduce((n, { failover }) => Math.max(n, failover.length), 0);
	return [
		...fields(result, ["scenario", "runId"]),
		...fields(run, ["startedAt"]),
		...fields(environment, ["mqbench"]),
		...fields(run, ["system", "case", "repeat"]),
		["search", run.search?.role],
		...fields(run, ["verdict", "why", "state"]),
		...fields(result, ["quick"]),
		...fields(load, ["broker"]),
		["broker_version", versions?.server || run.brokerVersion],
		["client_library", versions?.library],
		...fields(load, ["durability", "target"]),
		...fields(run, ["sameHost", "topology"]),
		...fields(environment, ["cpu", "cores", "os", "kernel"]),
		...fields(load, ["pattern"]),
		["load", load.schedule.kind],
		["rate_per_second", load.rate && ratePerSecond(load.rate)],
		...fields(load, ["messageBytes", "payload", "warmupNs", "durationNs", "timeoutNs", "clients"]),
		...fields(run, ["startSkewNs", "clockBoundNs"]),
		...fields(load, ["connections", "producers", "consumers", "subscriptions"]),
		...fields(load, ["topics", "partitions"]),
		["in_flight_limit", load.inFlight],
		...fields(run, [...COUNTS, "clientDropped", "foreign", "reconnects"]),
		...fields(run.throughput, ["sent", "received", "achieved"], { after: "_per_second" }),
		...fields(run.cost, COSTS),
		["backlog_peak", drain?.peak],
		["drain_ns", drain?.drainNs],
		["drain_per_second", drain?.perSecond],
		["faults", run.failover.length],
		...Array.from({ length: most }, (_, i) => faultCells(run.failover[i], i + 1)).flat(),
		["main_metric", run.main],
		...Metric.options.flatMap((metric) => metricCells(run, metric, percentilesOf(result, metric))),
		...[...percentilesOf(result, "response"), MAX].flatMap((p) => breakdownCells(run, p)),
	];
}

/** Since T0, or from `calledNs` on (`faultZeroNs`). */
function faultCells(fault: Run["failover"][number] | undefined, number: number): Cell[] {
	const before = `fault_${number}_`;
	return [
		...fields(fault, ["action", "node", "leader", "calledNs", "beganNs", "endedNs"], { before }),
		...fields(fault, ["unavailableNs", "unavailableFromNs", "unavailableStill"], { before }),
		...fields(fault, ["recoveredNs", "drainedNs", "servedNs", "error"], { before }),
	];
}

function metricCells(run: Run, metric: Metric, percentiles: readonly number[]): Cell[] {
	const of = run.metrics[metric];
	const before = `${metric}_`;
	return [
		...fields(of, ["count", "censored"], { before }),
		...fields(of, ["min", "mean"], { before, after: "_ns" }),
		...percentiles.flatMap((p): Cell[] => {
			const at = of?.percentiles.find((q) => q.p === p);
			return [
				[`${before}p${p}_ns`, at?.value],
				[`${before}p${p}_support`, at?.beyondTimeout ? "beyond-timeout" : at?.support],
			];
		}),
		...fields(of, ["max"], { before, after: "_ns" }),
	];
}

/** Means of the messages around a percentile of response, and their number. */
function breakdownCells({ breakdown }: Run, p: number): Cell[] {
	const at = breakdown?.find((one) => one.p === p);
	const before = `breakdown_${p === MAX ? "max" : `p${p}`}_`;
	return [
		...fields(at, ["messages"], { before }),
		...fields(at, ["queued", "lag", "service"], { before, after: "_ns" }),
	];
}

/** The usual ones, and those that an SLA of this result names. */
function percentilesOf({ runs }: Result, metric: Metric): number[] {
	const named = runs.flatMap((run) => run.metrics[metric]?.percentiles.map(({ p }) => p) ?? []);
	return [...new Set([...USUAL, ...named])].sort((a, b) => a - b);
}
