import { type CellValue, csvCell } from "../chart/csv-cell.ts";
import { Metric } from "../model/plan.ts";
import type { MetricSummary, Percentile, Result, Run } from "../model/result.ts";
import { MAX } from "../result/breakdown.ts";
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
	const rows = result.runs.map((run) => columns.map(([, value]) => csvCell(value(run, result))));
	return [columns.map(([name]) => csvCell(name)), ...rows]
		.map((cells) => `${cells.join(",")}\r\n`)
		.join("");
}

// --- internal ---

type Column = readonly [name: string, value: (run: Run, result: Result) => CellValue];

function columnsOf(result: Result): Column[] {
	return [
		["scenario", (_, r) => r.scenario],
		["run_id", (_, r) => r.runId],
		["started_at", (run) => run.startedAt],
		["mqbench", (_, r) => r.environment?.mqbench],
		["system", (run) => run.system],
		["case", (run) => run.case],
		["repeat", (run) => run.repeat],
		["search", (run) => run.search?.role],
		["verdict", (run) => run.verdict],
		["why", (run) => run.why],
		["state", (run) => run.state],
		["quick", (_, r) => r.quick],
		["broker", (run) => run.load.broker],
		["broker_version", (run) => run.versions?.server || run.brokerVersion],
		["client_library", (run) => run.versions?.library],
		["durability", (run) => run.load.durability],
		["target", (run) => run.load.target],
		["same_host", (run) => run.sameHost],
		["topology", (run) => run.topology],
		["cpu", (_, r) => r.environment?.cpu],
		["cores", (_, r) => r.environment?.cores],
		["os", (_, r) => r.environment?.os],
		["kernel", (_, r) => r.environment?.kernel],
		["pattern", (run) => run.load.pattern],
		["load", (run) => run.load.schedule.kind],
		["rate_per_second", ({ load }) => (load.rate === null ? null : ratePerSecond(load.rate))],
		["message_bytes", (run) => run.load.messageBytes],
		["payload", (run) => run.load.payload],
		["warmup_ns", (run) => run.load.warmupNs],
		["duration_ns", (run) => run.load.durationNs],
		["timeout_ns", (run) => run.load.timeoutNs],
		["clients", (run) => run.load.clients],
		["start_skew_ns", (run) => run.startSkewNs],
		["clock_bound_ns", (run) => run.clockBoundNs],
		["connections", (run) => run.load.connections],
		["producers", (run) => run.load.producers],
		["consumers", (run) => run.load.consumers],
		["subscriptions", (run) => run.load.subscriptions],
		["topics", (run) => run.load.topics],
		["partitions", (run) => run.load.partitions],
		["in_flight_limit", (run) => run.load.inFlight],
		["intended", (run) => run.intended],
		["not_offered", (run) => run.notOffered],
		["sent", (run) => run.sent],
		["acked", (run) => run.acked],
		["failed", (run) => run.failed],
		["unknown", (run) => run.unknown],
		["received", (run) => run.received],
		["lost", (run) => run.lost],
		["duplicated", (run) => run.duplicated],
		["reordered", (run) => run.reordered],
		["late", (run) => run.late],
		["timed_out", (run) => run.timedOut],
		["redelivered", (run) => run.redelivered],
		["corrupted", (run) => run.corrupted],
		["client_dropped", (run) => run.clientDropped],
		["foreign", (run) => run.foreign],
		["reconnects", (run) => run.reconnects],
		["sent_per_second", (run) => run.throughput.sent],
		["received_per_second", (run) => run.throughput.received],
		["achieved_per_second", (run) => run.throughput.achieved],
		["backlog_peak", (run) => run.drain?.peak],
		["drain_ns", (run) => run.drain?.drainNs],
		["drain_per_second", (run) => run.drain?.perSecond],
		...faultColumns(result),
		["main_metric", (run) => run.main],
		...Metric.options.flatMap((metric) => metricColumns(result, metric)),
		...breakdownColumns(result),
	];
}

/** Of each fault, the first of a run first; of a result without any the number alone. Times are since T0, or last from `calledNs` on (`faultZeroNs`). */
function faultColumns({ runs }: Result): Column[] {
	const most = runs.reduce((n, run) => Math.max(n, run.failover.length), 0);
	const columns = Array.from({ length: most }, (_, i): Column[] => {
		const of = (run: Run) => run.failover[i];
		const name = `fault_${i + 1}`;
		return [
			[`${name}_action`, (run) => of(run)?.action],
			[`${name}_node`, (run) => of(run)?.node],
			[`${name}_leader`, (run) => of(run)?.leader],
			[`${name}_called_ns`, (run) => of(run)?.calledNs],
			[`${name}_began_ns`, (run) => of(run)?.beganNs],
			[`${name}_ended_ns`, (run) => of(run)?.endedNs],
			[`${name}_unavailable_ns`, (run) => of(run)?.unavailableNs],
			[`${name}_unavailable_from_ns`, (run) => of(run)?.unavailableFromNs],
			[`${name}_unavailable_still`, (run) => of(run)?.unavailableStill],
			[`${name}_recovered_ns`, (run) => of(run)?.recoveredNs],
			[`${name}_drained_ns`, (run) => of(run)?.drainedNs],
			[`${name}_error`, (run) => of(run)?.error],
		];
	});
	return [["faults", (run) => run.failover.length], ...columns.flat()];
}

/** The usual percentiles in every file, and those that an SLA of this result names. */
function metricColumns(result: Result, metric: Metric): Column[] {
	const of = (run: Run): MetricSummary | null => run.metrics[metric];
	const percentiles = percentilesOf(result, metric);
	return [
		[`${metric}_count`, (run) => of(run)?.count],
		[`${metric}_censored`, (run) => of(run)?.censored],
		[`${metric}_min_ns`, (run) => of(run)?.min],
		[`${metric}_mean_ns`, (run) => of(run)?.mean],
		...percentiles.flatMap((p): Column[] => {
			const percentileOf = (run: Run) => of(run)?.percentiles.find((q) => q.p === p);
			return [
				[`${metric}_p${p}_ns`, (run) => percentileOf(run)?.value],
				[`${metric}_p${p}_support`, (run) => supportOf(percentileOf(run))],
			];
		}),
		[`${metric}_max_ns`, (run) => of(run)?.max],
	];
}

/** Means of the messages around each percentile of response, and of the slowest one; how many those are. */
function breakdownColumns(result: Result): Column[] {
	return [...percentilesOf(result, "response"), MAX].flatMap((p): Column[] => {
		const of = (run: Run) => run.breakdown?.find((one) => one.p === p);
		const name = `breakdown_${p === MAX ? "max" : `p${p}`}`;
		return [
			[`${name}_messages`, (run) => of(run)?.messages],
			[`${name}_queued_ns`, (run) => of(run)?.queued],
			[`${name}_lag_ns`, (run) => of(run)?.lag],
			[`${name}_service_ns`, (run) => of(run)?.service],
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
