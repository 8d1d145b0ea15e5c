import { sentence } from "../figures/facts.ts";
import type { Failover, Phase, Result, Run, Search } from "../model/result.ts";
import { maximum, percentileIn } from "../result/select.ts";
import { type Amount, amount, type Column } from "../result/show.ts";
import { faultAt, runTitle } from "../result/words.ts";
import { formatCount, formatDuration, plusMinus } from "../units.ts";
import { BIN_NS, faultName } from "../verdict/faults.ts";
import * as doc from "./blocks.ts";
import { receivedColumn } from "./words.ts";

/** "Response by step", in a backlog "Ack by phase"; nothing if the window has one part. */
export function phases(run: Run, figures: doc.Block): doc.Block[] {
	const { load } = run;
	const [first] = run.phases;
	if (first === undefined) return [];
	const kind = load.schedule.kind === "stages" ? "step" : "phase";
	const rate = (side: keyof Phase["throughput"]) => (phase: Phase) =>
		amount(phase.throughput[side], "messages/s");
	const columns: Column<Phase>[] = [
		[kind, ({ name }) => name],
		["rate", (phase) => amount(phase.rate, "messages/s")],
		["n", ({ latency }) => amount(latency?.n, "messages")],
		["p50", ({ latency }) => percentileIn(latency, 50, run)],
		["p99", ({ latency }) => percentileIn(latency, 99, run)],
		["max", ({ latency }) => maximum(latency, run)],
		// Receipts, acknowledgements without consumers, or both in a backlog.
		...(load.pattern === "backlog" ? [["sent/s", rate("sent")] as const] : []),
		load.pattern === "publish"
			? ["acked/s", rate("acked")]
			: [receivedColumn(run), rate("received")],
		["lag p99", lagOf],
	];
	const title = `${sentence(first.metric)} by ${kind}`;
	return [doc.heading(title), figures, doc.tableOf(run.phases, columns, 1)];
}

/** By "response by size"; nothing if all messages have the same. */
export function sizes(run: Run): doc.Block[] {
	const { main, sizes: all = [] } = run;
	if (all.length === 0) return [];
	type Class = (typeof all)[number];
	const percentile = (p: number) => [`p${p}`, (of: Class) => percentileIn(of, p, run)] as const;
	const columns: Column<Class>[] = [
		[`${main} by size`, ({ size }) => size],
		["n", ({ n }) => amount(n, "messages")],
		...[50, 99, 99.9].map(percentile),
		["max", (of) => maximum(of, run)],
	];
	return [doc.tableOf(all, columns, 1)];
}

/** Shows a drift of a long run; nothing in a shorter one. */
export function hours(run: Run): doc.Block[] {
	const { hours = [], load, main } = run;
	if (hours.length === 0) return [];
	type Hour = (typeof hours)[number];
	const missing = ["never completed", (of: Hour) => amount(of.missing, "messages")] as const;
	const columns: Column<Hour>[] = [
		["hour", (hour) => `${hours.indexOf(hour) + 1}`],
		["n", ({ count }) => amount(count, "messages")],
		...(hours.some((hour) => (hour.missing ?? 0) > 0) ? [missing] : []),
		["p50", ({ p50 }) => amount(p50, "ns")],
		["p99", ({ p99 }) => amount(p99, "ns")],
		["max", ({ max }) => amount(max, "ns")],
		[
			load.pattern === "publish" ? "acked/s" : receivedColumn(run),
			({ perSecond }) => amount(perSecond, "messages/s"),
		],
		["broker memory", ({ brokerBytes }) => amount(brokerBytes, "bytes")],
	];
	return [
		doc.fold(`${sentence(main)} by hour`, [doc.tableOf(hours, columns, 1)], { depth: 2, open: 2 }),
	];
}

export function clients(run: Run): doc.Block[] {
	if (run.clients.length === 0) return [];
	const { startSkewNs, clockBoundNs } = run;
	const columns: Column<Run["clients"][number]>[] = [
		["client", ({ index, name }) => `${index}: ${name}`],
		["machine", ({ machine }) => machine ?? "n/a"],
		["intended", ({ intended }) => amount(intended, "messages")],
		["sent", ({ sent }) => amount(sent, "messages")],
		["lag p99", lagOf],
		["cores", ({ cores }) => amount(cores, "cores")],
		["clock", clockText],
	];
	return [
		doc.heading("Clients: who made the load"),
		doc.tableOf(run.clients, columns, 2),
		doc.text(
			startSkewNs === null ? null : `they began within ${formatDuration(startSkewNs)}`,
			"small",
		),
		doc.text(
			clockBoundNs === null
				? null
				: `messages cross from client to client: response and service are exact to ${plusMinus(clockBoundNs)}`,
			"small",
		),
		...run.clients.map(({ error }) => doc.text(error, "small")),
	];
}

export function searchTable({ runs }: Search): doc.Table {
	return doc.table(
		[
			{ name: "rate", number: false },
			...doc.numbers(["run", "verdict", "p50", "p99", "max"]),
			{ name: "why", depth: 2 },
		],
		runs.map((run) => [
			amount(run.rate, "messages/s"),
			run.role,
			doc.badge(run.verdict),
			...[run.p50, run.p99, run.max].map((ns) => amount(ns, "ns")),
			run.why ?? "",
		]),
	);
}

export function failover(result: Result): doc.Fold[] {
	const runs = result.runs.filter((run) => run.failover.length > 0);
	const all = runs.flatMap((run) => run.failover.map((fault) => ({ fault, run })));
	if (all.length === 0) return [];
	const ofConsumers = ({ load }: Run) => load.faults.some(({ of }) => of === "consumers");
	const kinds = runs.map((run) =>
		run.load.acks && !ofConsumers(run) ? "acknowledgements" : "receipts",
	);
	const served = runs.some(ofConsumers);
	const completions = [...new Set(kinds)].join(" or ");
	const [line, ...others] = new Set(all.map(({ fault }) => fault.sla));
	const again = `back under ${others.length > 0 ? "the limit" : (line ?? "the limit")}`;
	const several = result.runs.length > 1;
	const columns: Column<Fault>[] = [
		...(several ? [["run", ({ run }: Fault) => runTitle(run, result)] as const] : []),
		["fault", ({ fault }) => faultName(fault)],
		["at", ({ fault, run }) => faultAt(fault, run)],
		[
			"for",
			({ fault: { beganNs, endedNs } }) =>
				endedNs === null ? "to the end" : formatDuration(Math.max(0, endedNs - beganNs)),
		],
		[`without ${completions}`, unavailableText],
		[again, (of) => afterText(of, of.fault.recoveredNs, of.fault.sla !== null)],
		["drained", (of) => afterText(of, of.fault.drainedNs, of.fault.drainedStill)],
		...(served ? SERVED : []),
	];
	const means = `at: when the command for the fault was given, from the opening of the window; "after" counts from then; for: how long it was in effect; without ${completions}: the longest gap, in steps of ${formatDuration(BIN_NS)}, not counting those of the schedule; ${again}: the end of the last 100ms of intended time that break it; drained: for 2s about as few messages in flight as in the 2s before the fault${served ? "; served: when the last message that was due before the fault was received; again: copies of those messages that came after it" : ""}`;
	return [
		doc.section("failover", "Failover: what each fault did", [
			doc.tableOf(all, columns, several ? 2 : 1),
			...all.map(({ fault }) =>
				doc.text(
					fault.error && `${faultName(fault)} was not carried out as planned: ${fault.error}`,
					"small",
				),
			),
			doc.text(means, "small", 2),
		]),
	];
}

// --- internal ---

function lagOf({ lagP99, lagP99Weak }: Pick<Phase, "lagP99" | "lagP99Weak">): Amount {
	return { ...amount(lagP99, "ns"), weak: lagP99Weak };
}

/** "±0.2ms by probes"; null is this machine's clock. */
function clockText({ clock }: Run["clients"][number]): string {
	if (clock === null) return "this machine's";
	return clock.afterNs === null ? "not known" : `${plusMinus(clock.boundNs)} by ${clock.source}`;
}

interface Fault {
	readonly fault: Failover;
	readonly run: Run;
}

const SERVED: readonly Column<Fault>[] = [
	["served", (of) => (of.fault.servedStill ? "not all" : afterText(of, of.fault.servedNs, false))],
	["again", ({ fault }) => (fault.again === null ? "n/a" : formatCount(fault.again))],
];

/** "1.24s from 4.21s on", "at least 6s from 4s on", "none", "n/a" */
function unavailableText({ fault, run }: Fault): string {
	const { unavailableNs, unavailableFromNs, unavailableStill } = fault;
	if (unavailableNs === null) return "n/a";
	if (unavailableNs === 0 || unavailableFromNs === null) return "none";
	const from = Number(((unavailableFromNs - run.window.startNs) / 1e9).toFixed(3));
	return `${unavailableStill ? "at least " : ""}${formatDuration(unavailableNs)} from ${from}s on`;
}

/** `still`: without a time, it lasted until then. */
function afterText({ fault, run }: Fault, ns: number | null, still: boolean): string {
	if (fault.error !== null || run.state !== "complete") return "n/a";
	if (ns === null) return still ? "not before the next fault or the end" : "n/a";
	return ns === 0 ? "at once" : `after ${formatDuration(ns)}`;
}
