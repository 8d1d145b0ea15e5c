import { largestOf } from "../extremes.ts";
import { CATCH_UP } from "../model/load.ts";
import { mainOf } from "../model/plan.ts";
import type { Failover, Result, Run, Search } from "../model/result.ts";
import { faultZeroNs } from "../model/run-file.ts";
import { rateText, timeText } from "../plan/load-text.ts";
import {
	formatBytes,
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
	plural,
} from "../units.ts";

/** "first lost: producer 1, sequence 7, due 5.2s after the window opened" */
export function offenderText(kind: string, run: Run): string | null {
	const m = new Map(Object.entries(run.offenders)).get(kind);
	if (m === undefined) return null;
	// A closed load has no intended time.
	const due = run.load.schedule.kind === "closed" ? "sent" : "due";
	const when = m.intendedNs === null ? "" : `, ${due} ${windowTime(m.intendedNs, run)}`;
	return `first ${kind}: producer ${m.producer}, sequence ${m.sequence}${when}`;
}

/** "4.004s", counted from the opening of the window */
export function faultAt(fault: Failover, { window }: Pick<Run, "window">): string {
	return secondsText(faultZeroNs(fault) - window.startNs);
}

/** It sends as fast as it is answered, so its latency shows no queueing. */
export function isClosed({ load }: Pick<Run, "load">): boolean {
	return load.schedule.kind === "closed";
}

/** "nats: none, nothing is stored", for titles. */
export function systemTitle({ system, load }: Run): string {
	return `${system}: ${load.durability}`;
}

/** "2 cores, generator and brokers on one machine" */
export function hostText(run: Run, { environment }: Result): string | null {
	if (!run.sameHost) return null;
	const where = "generator and brokers on one machine";
	// With separate hosts, the cores of the machine that started them mean nothing.
	return environment === null || "host" in run.brokerSettings
		? where
		: `${plural(environment.cores, "core")}, ${where}`;
}

/** "3 nodes on 1 host, which share its cores and disk", "1 container, 2 CPUs" */
export function topologyText({
	topology,
	nodesShareHost,
}: Pick<Run, "topology" | "nodesShareHost">): string | null {
	return topology !== null && nodesShareHost
		? `${topology}, which share its cores and disk`
		: topology;
}

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

/** "nats, 256B 1000/s, repeat 2 of 3" */
export function runTitle(run: Run, result: Result): string {
	const repeats = result.runs.filter((r) => r.system === run.system && r.case === run.case).length;
	const confirming = run.confirms ? " (confirming)" : "";
	const repeat = repeats > 1 ? `, repeat ${run.repeat} of ${repeats}${confirming}` : "";
	return `${run.system}, ${run.case}${repeat}`;
}

/** "round-trip, 1000/s of 256B for 10s after 1s warm-up, 1 connection" */
export function loadText({ load }: Run): string {
	if (load.pattern === CATCH_UP)
		return `catch-up with ${rateText(load)} of ${sizeOf(load)} ${timeText(load)}, from the topics' beginning, ${plural(load.consumerConnections, "connection")}`;
	return [
		load.pattern,
		`${rateText(load)} of ${sizeOf(load)} ${timeText(load)}`,
		load.pattern === "connect"
			? `each on a new connection, ${formatCount(load.hold ?? 0)} held`
			: plural(load.connections, "connection"),
		consumersText(load),
		load.keys === null ? "" : `${formatCount(load.keys.count)} keys, ${load.keys.distribution}`,
		load.inFlight === null ? "" : `at most ${load.inFlight} in flight per producer`,
		load.clients > 1 ? plural(load.clients, "client") : "",
	]
		.filter((part) => part !== "")
		.join(", ");
}

/** "beside it bulk: 500/s of 64KiB for 10s; ..."; "beside 256B 1000/s, from 25s after its start on" */
export function besideText(run: Run, { runs }: Pick<Result, "runs">): string | null {
	const main = mainOf(run);
	const all = runs.filter((one) => mainOf(one) === main);
	if (run.beside === undefined) {
		const texts = all.flatMap((one) => (one.beside ? `${one.beside.load}: ${loadText(one)}` : []));
		return texts.length === 0 ? null : `beside it ${texts.join("; ")}`;
	}
	const of = all.find(({ index }) => index === main)?.case ?? `run ${main}`;
	const { startNs } = run.beside;
	return `beside ${of}${startNs > 0 ? `, from ${formatDurationExact(startNs)} after its start on` : ""}`;
}

/** "meanwhile p99 of 256B 1000/s was up to 12.3ms by the second, before up to 4.1ms"; null unless it has caught up. */
export function meanwhileText(run: Run, { runs }: Pick<Result, "runs">): string | null {
	const main = runs.find(({ index }) => run.beside?.index === index);
	const took = run.load.pattern === CATCH_UP ? (run.drain?.drainNs ?? null) : null;
	if (!main || !run.beside || took === null) return null;
	const fromS = (run.beside.startNs - main.window.startNs) / 1e9;
	const until = Math.max(fromS + 1, fromS + took / 1e9);
	const seconds = main.series.seconds.map(({ second, seconds = 1, p99 }) => ({
		p99: p99 ?? 0,
		before: second >= 0 && second + seconds <= fromS,
		during: second < until && second + seconds > fromS,
	}));
	const most = (when: "before" | "during") =>
		largestOf(seconds.flatMap((one) => (one[when] && one.p99 > 0 ? one.p99 : [])));
	const [during, before] = [most("during"), most("before")];
	if (during <= 0) return null;
	const earlier = before > 0 ? `, before up to ${formatDuration(before)}` : "";
	return `meanwhile p99 of ${main.case} was up to ${formatDuration(during)} by the second${earlier}`;
}

/** "nats-server 2.15.2; durability: none, nothing is stored" */
export function systemText(run: Run): string {
	// Some brokers, such as noop, report an empty version.
	const server = run.versions?.server || run.brokerVersion || `${run.load.broker}, version unknown`;
	return `${server}; durability: ${run.load.durability}`;
}

/** "PASS"; with --quick "PASS (shortened: no result)". */
export function verdictWord({ verdict, quick }: Pick<Result, "verdict" | "quick">): string {
	return `${verdict.toUpperCase()}${quick ? " (shortened: no result)" : ""}`;
}

/** "nats, 1KiB from 1000/s on, repeat 2": the rate in the case's name is where a search begins. */
export function searchTitle({ system, case: name, repeat }: Search): string {
	const load = name.replace(/\b[\d.]+\/\w+/, "from $& on");
	return `${system}, ${load}${repeat > 1 ? `, repeat ${repeat}` : ""}`;
}

/** For messages above the system's limit: "refused: 40 of 40 (too large)". Any other run has this in its counts. */
export function fateText(run: Run): string | null {
	const { load, intended, acked, failed, lost, unknown, received, errors, state } = run;
	if (load.limitBytes === null || state === "never") return null;
	const of = (n: number) => `${formatCount(n)} of ${formatCount(intended)}`;
	const [error] = errors.filter(({ firstNs }) => firstNs !== null);
	const how = acked === null ? "sent without an error" : "acknowledged";
	const parts = [
		failed ? `refused: ${of(failed)}${error ? ` (${error.message})` : ""}` : "",
		unknown ? `not answered: ${of(unknown)}` : "",
	];
	// A fan-out counts copies.
	if (load.pattern !== "fan-out")
		parts.push(
			lost ? `lost silently: ${of(lost)} were ${how} and never arrived` : "",
			received ? `arrived: ${of(received)}` : "",
		);
	return parts.filter((part) => part !== "").join("; ") || null;
}

// --- internal ---

function secondsText(ns: number): string {
	return `${Number((ns / 1e9).toFixed(3))}s`;
}

/** "5.2s after the window opened" */
function windowTime(sinceT0Ns: number, { window }: Run): string {
	const ns = sinceT0Ns - window.startNs;
	if (ns === 0) return "as the window opened";
	return `${secondsText(Math.abs(ns))} ${ns < 0 ? "before" : "after"} the window opened`;
}

/** "1KiB", "1049B (above the limit of 1KiB)" */
function sizeOf({ messageBytes, sizes, limitBytes }: Run["load"]): string {
	if (sizes !== undefined) return `${sizes} (mean ${formatBytes(messageBytes)})`;
	return limitBytes === null
		? formatBytesExact(messageBytes)
		: `${formatBytesExact(messageBytes)} (above the limit of ${formatBytesExact(limitBytes)})`;
}

/** "4 consumers with 3ms of work per message", "8 subscribers by one pattern, 100 bystanders" */
function consumersText(load: Run["load"]): string {
	const { pattern, work, consumers, subscriptions, wildcard, bystanders } = load;
	const drawn = work?.distribution === "exponential" ? " (exponential)" : "";
	const each = work && `${formatDurationExact(work.meanNs)} of work per message${drawn}`;
	const how = each === null ? "" : ` with ${each}`;
	if (pattern === "request-reply") return `${plural(consumers, "responder")}${how}`;
	if (pattern !== "fan-out") return consumers > 0 ? `${plural(consumers, "consumer")}${how}` : "";
	const by = wildcard ? " by one pattern" : "";
	const others = bystanders > 0 ? `, ${plural(bystanders, "bystander")}` : "";
	return `${plural(subscriptions, "subscriber")}${by}${others}${how}`;
}
