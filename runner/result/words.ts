import { largestOf, smallestOf } from "../extremes.ts";
import type { Metric } from "../model/plan.ts";
import type { Failover, MetricSummary, Percentile, Result, Run, Search } from "../model/result.ts";
import { rateText, timeText } from "../plan/load-text.ts";
import { faultZeroNs } from "../run/faults.ts";
import {
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
	plural,
} from "../units.ts";
import { maximum, percentileAmount } from "./select.ts";
import { amount, show } from "./show.ts";

/** The words that terminal, markdown and HTML share: one wording per fact. */

/** "p99.9" */
export function percentileName(p: number): string {
	return `p${p}`;
}

export { showInterval as intervalText } from "./show.ts";

/** "12.4ms", weak "~12.4ms", "> 30s" or "stopped" among those that never completed, "n/a" without support. */
export function percentileValue(p: Percentile, run: Ended): string {
	return show(percentileAmount(p, run));
}

/** "~" at a percentile with weak support. */
export function weakMark(run: Run, metric: Metric, p: number): string {
	const percentile = run.metrics[metric]?.percentiles.find((x) => x.p === p);
	return percentile?.support === "weak" ? "~" : "";
}

/** The maximum of those that completed; "> 30s" when some did not; "n/a" when nothing did. */
export function maxText(m: Pick<MetricSummary, "censored" | "max"> | null, run: Run): string {
	return show(maximum(m, run));
}

/** The first of one kind; null: there is none. */
export function offenderText(kind: string, run: Run): string | null {
	const m = new Map(Object.entries(run.offenders)).get(kind);
	if (m === undefined) return null;
	// A closed load has sent it, and nothing was due.
	const due = run.load.schedule.kind === "closed" ? "sent" : "due";
	const when = m.intendedNs === null ? "" : `, ${due} ${windowTime(m.intendedNs, run)}`;
	return `first ${kind}: producer ${m.producer}, sequence ${m.sequence}${when}`;
}

/** "5.2s after the window opened" */
export function windowTime(sinceT0Ns: number, run: Run): string {
	const ns = sinceT0Ns - run.window.startNs;
	return ns === 0
		? "as the window opened"
		: `${Number((Math.abs(ns) / 1e9).toFixed(3))}s ${ns < 0 ? "before" : "after"} the window opened`;
}

/** "4.004s": when a fault was, from the opening of the window. */
export function faultAt(fault: Failover, { window }: Pick<Run, "window">): string {
	return `${Number(((faultZeroNs(fault) - window.startNs) / 1e9).toFixed(3))}s`;
}

/** A count; "n/a" for what was not measured. */
export function countText(count: number | null): string {
	return show(amount(count, "messages"));
}

/** A duration; "n/a" for what was not measured. */
export function durationText(ns: number | null | undefined): string {
	return show(amount(ns, "ns"));
}

/** "1 000/s"; "n/a" for what was not measured. */
export function perSecondText(rate: number | null): string {
	return show(amount(rate, "messages/s"));
}

/** "copies received": in a fan-out each message has a copy for each subscriber. */
export function ofCopies({ load }: Pick<Run, "load">, name: string): string {
	return load.pattern === "fan-out" ? `copies ${name}` : name;
}

/** The column of what consumers got: "received/s", in a fan-out "copies/s". */
export function receivedColumn({ load }: Pick<Run, "load">): string {
	return load.pattern === "fan-out" ? "copies/s" : "received/s";
}

/** It sends as fast as it is answered: its latency knows no queueing. */
export function isClosed({ load }: Pick<Run, "load">): boolean {
	return load.schedule.kind === "closed";
}

/** "nats: none, nothing is stored": which system with which durability, for the title of every chart and table. */
export function systemTitle({ system, load }: Run): string {
	return `${system}: ${load.durability}`;
}

/** "2 cores, generator and brokers on one machine"; null: they were not, or nobody knows. */
export function hostText(run: Run, { environment }: Result): string | null {
	if (!run.sameHost) return null;
	const where = "generator and brokers on one machine";
	// Of hosts of their own the machine that has started all of it knows no cores.
	return environment === null || "host" in run.brokerSettings
		? where
		: `${plural(environment.cores, "core")}, ${where}`;
}

/** "3 nodes on 1 host, which share its cores and disk", "1 container, 2 CPUs"; null: not ours to know. */
export function topologyText({
	topology,
	nodesShareHost,
}: Pick<Run, "topology" | "nodesShareHost">): string | null {
	return topology !== null && nodesShareHost
		? `${topology}, which share its cores and disk`
		: topology;
}

/**
 * "client 0 to node 1 74us, client 0 to node 2 80us (medians of 20 TCP connects)"; of more than 4 pairs the shortest and the longest. null:
 * nobody has measured it.
 */
export function networkText({ network, clients }: Pick<Run, "network" | "clients">): string | null {
	const pair = ({ client, node }: Run["network"][number]) =>
		`${clients.length === 0 ? "this machine" : `client ${client}`} to node ${node}`;
	const known = network.flatMap((path) =>
		path.p50Ns === null || path.connects === null
			? []
			: [{ at: pair(path), ns: path.p50Ns, connects: path.connects }],
	);
	const unknown = network.filter(({ p50Ns }) => p50Ns === null);
	const texts = known.map(({ at, ns }) => `${at} ${formatDuration(ns)}`);
	const ends = [...known].sort((a, b) => a.ns - b.ns);
	const [first, last] = [ends[0], ends.at(-1)];
	const shown =
		texts.length <= MOST_PATHS || first === undefined || last === undefined
			? texts
			: [
					`${texts.length} paths of ${formatDuration(first.ns)} (${first.at}) to ${formatDuration(last.ns)} (${last.at})`,
				];
	const fewest = smallestOf(known.map(({ connects }) => connects));
	const most = largestOf(known.map(({ connects }) => connects));
	const how =
		known.length === 0
			? ""
			: ` (${known.length === 1 ? "median" : "medians"} of ${fewest === most ? most : `${fewest} to ${most}`} TCP connects)`;
	const all = [
		...(shown.length === 0 ? [] : [`${shown.join(", ")}${how}`]),
		...unknown.map((path) => `${pair(path)} not known (${path.error})`),
	];
	return all.length === 0 ? null : all.join("; ");
}

/** Everything in one line, under the title of a chart or table. */
export function factsText(run: Run, result: Result): string {
	return [
		systemTitle(run),
		run.topology,
		hostText(run, result),
		result.quick ? "shortened: no result" : null,
	]
		.filter((part) => part !== null)
		.join("; ");
}

/** "4 consumers", "8 subscribers by one pattern, 100 bystanders", each with its work; null: the sender receives by itself, or nobody. */
export function consumersText({ load }: Run): string | null {
	const { pattern, work } = load;
	const who =
		pattern === "fan-out"
			? `${plural(load.subscriptions, "subscriber")}${load.wildcard ? " by one pattern" : ""}${load.bystanders > 0 ? `, ${plural(load.bystanders, "bystander")}` : ""}`
			: pattern === "request-reply"
				? plural(load.consumers, "responder")
				: load.consumers > 0
					? plural(load.consumers, "consumer")
					: null;
	if (who === null || work === null) return who;
	return `${who} with ${formatDurationExact(work.meanNs)} of work per message${work.distribution === "exponential" ? " (exponential)" : ""}`;
}

/** "nats, 256B 1000/s, repeat 2 of 3" */
export function runTitle(run: Run, result: Result): string {
	const repeats = result.runs.filter((r) => r.system === run.system && r.case === run.case).length;
	const confirming = run.confirms ? " (confirming)" : "";
	const repeat = repeats > 1 ? `, repeat ${run.repeat} of ${repeats}${confirming}` : "";
	return `${run.system}, ${run.case}${repeat}`;
}

/** "1KiB", "1049B (above the limit of 1KiB)" */
function sizeOf({ messageBytes, limitBytes }: Run["load"]): string {
	return limitBytes === null
		? formatBytesExact(messageBytes)
		: `${formatBytesExact(messageBytes)} (above the limit of ${formatBytesExact(limitBytes)})`;
}

/** "round-trip, 1000/s of 256B for 10s after 1s warm-up, 1 connection" */
export function loadText(run: Run): string {
	const { load } = run;
	return [
		load.pattern,
		`${rateText(load)} of ${sizeOf(load)} ${timeText(load)}`,
		plural(load.connections, "connection"),
		consumersText(run) ?? "",
		keysText(load.keys),
		load.inFlight === null ? "" : `at most ${load.inFlight} in flight per producer`,
		load.clients > 1 ? plural(load.clients, "client") : "",
	]
		.filter((part) => part !== "")
		.join(", ");
}

/** "nats-server 2.15.2" */
export function serverText(run: Run): string {
	// A broker that says nothing of itself, as noop, leaves an empty text.
	return run.versions?.server || run.brokerVersion || `${run.load.broker}, version unknown`;
}

/** "nats-server 2.15.2; durability: none, nothing is stored" */
export function systemText(run: Run): string {
	return `${serverText(run)}; durability: ${run.load.durability}`;
}

/** "linux x64 6.1.0, 4 cores, Example CPU"; null when nobody wrote it down. */
export function machineText({ environment: e }: Result): string | null {
	if (e === null) return null;
	return [
		`${e.os} ${e.kernel}`,
		plural(e.cores, "core"),
		e.cpuQuotaCores === null ? "" : `limited to ${e.cpuQuotaCores}`,
		e.cpu ?? "",
	]
		.filter((part) => part !== "")
		.join(", ");
}

/** "PASS"; of a command with --quick "PASS (shortened: no result)". */
export function verdictWord({ verdict, quick }: Pick<Result, "verdict" | "quick">): string {
	return `${verdict.toUpperCase()}${quick ? " (shortened: no result)" : ""}`;
}

/** "nats, 1KiB, searched from 1 000/s on", with its repeat where there are several. The case's name has that rate as well: it is no answer. */
export function searchTitle({ system, case: name, repeat, runs }: Search): string {
	const first = [...runs].sort((a, b) => a.index - b.index)[0]?.rate;
	const load = name.split(" ").filter((word) => word !== `${first}/s`);
	return [
		system,
		load.join(" "),
		...(repeat > 1 ? [`repeat ${repeat}`] : []),
		...(first === undefined ? [] : [`searched from ${formatCount(first)}/s on`]),
	]
		.filter((part) => part !== "")
		.join(", ");
}

// --- internal ---

/** More paths than these nobody reads one by one. */
const MOST_PATHS = 4;

function keysText(keys: Run["load"]["keys"]): string {
	return keys === null ? "" : `${formatCount(keys.count)} keys, ${keys.distribution}`;
}

/** What must be known of a run to say how long its messages may take. */
type Ended = Pick<Run, "state"> & { readonly load: Pick<Run["load"], "timeoutNs"> };
