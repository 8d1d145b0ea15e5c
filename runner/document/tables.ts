import type { Failover, Phase, Result, Run, Search } from "../model/result.ts";
import { maximum, percentileIn } from "../result/select.ts";
import { type Amount, amount, type Column, cellsOf } from "../result/show.ts";
import { faultAt, runTitle } from "../result/words.ts";
import { plusMinus } from "../text/run-checks.ts";
import { tell } from "../text/tell.ts";
import { formatDuration } from "../units.ts";
import { movedBy } from "../verdict/checks/clock.ts";
import { faultName } from "../verdict/checks/run.ts";
import { BIN_NS } from "../verdict/failover.ts";
import { badge, numbers, type Table, table } from "./blocks.ts";
import { receivedColumn } from "./words.ts";

/** What is below each other in every report: phases of a run, its clients, and faults. */
export interface WordTable {
	readonly title: string;
	readonly head: readonly string[];
	readonly rows: readonly (readonly (Amount | string)[])[];
	/** Sentences without their full stop. */
	readonly notes: readonly string[];
	/** What the columns mean; a terminal has no room for it. */
	readonly meaning: readonly string[];
}

/** The parts of a window, of steps latency against rate: "Response by step", in a backlog "Ack by phase". null: the window is one. */
export function phaseTable({ phases, load, ...run }: Run): WordTable | null {
	const [first] = phases;
	if (first === undefined) return null;
	const kind = load.pattern === "backlog" ? "phase" : "step";
	const ended = { load, ...run };
	const rate = (side: keyof Phase["throughput"]) => (phase: Phase) =>
		amount(phase.throughput[side], "messages/s");
	const received: Column<Phase> = [receivedColumn(ended), rate("received")];
	return {
		title: `${first.metric.charAt(0).toUpperCase()}${first.metric.slice(1)} by ${kind}`,
		...below(phases, [
			[kind, ({ name }) => name],
			["rate", (phase) => amount(phase.rate, "messages/s")],
			["n", ({ latency }) => amount(latency?.n, "messages")],
			["p50", ({ latency }) => percentileIn(latency, 50, ended)],
			["p99", ({ latency }) => percentileIn(latency, 99, ended)],
			["max", ({ latency }) => maximum(latency, ended)],
			// What went through: receipts; where nobody consumes acknowledgements; of a backlog both sides.
			...(load.pattern === "backlog" ? [["sent/s", rate("sent")] as const] : []),
			load.pattern === "publish" ? ["acked/s", rate("acked")] : received,
			["lag p99", lagOf],
		]),
		notes: [],
		meaning: [],
	};
}

/** The clients of a run: how well they kept together, and who broke off. null: a single process on this machine. */
export function clientTable(run: Run): WordTable | null {
	if (run.clients.length === 0) return null;
	return {
		title: "Clients: who made the load",
		...below(run.clients, [
			["client", ({ index, name }) => `${index}: ${name}`],
			["machine", ({ machine }) => machine ?? "n/a"],
			["intended", ({ intended }) => amount(intended, "messages")],
			["sent", ({ sent }) => amount(sent, "messages")],
			["lag p99", lagOf],
			["cores", ({ cores }) => amount(cores, "cores")],
			["first claim", ({ firstClaimNs }) => claimText(firstClaimNs)],
			["clock", clockText],
		]),
		notes: [...togetherTexts(run), ...run.clients.flatMap(({ error }) => error ?? [])],
		meaning: [
			"first claim: when it began to hand out its part of the schedule, against the common start",
		],
	};
}

/** The runs of a search: latency over offered rate. */
export function searchTable({ runs }: Search, caption: string): Table {
	return table(
		[
			{ name: "rate", number: false },
			...numbers(["run", "verdict", "p50", "p99", "max"]),
			{ name: "why", spare: 1 },
		],
		runs.map((run) => [
			amount(run.rate, "messages/s"),
			run.role,
			badge(run.verdict),
			...[run.p50, run.p99, run.max].map((ns) => amount(ns, "ns")),
			run.why ?? "",
		]),
		{ caption },
	);
}

/** What each fault did; with `titleOf` of several runs, and what became of their messages. null: nothing was done to a broker. */
export function failoverTable(
	runs: readonly Run[],
	titleOf: ((run: Run) => string) | null = null,
): WordTable | null {
	const faults = runs.flatMap((run) =>
		run.failover.map((fault, i) => ({ fault, run, followed: i + 1 < run.failover.length })),
	);
	if (faults.length === 0) return null;
	const kinds = runs.map(({ load }) => (load.acks ? "acknowledgements" : "receipts"));
	const completions = [...new Set(kinds)].join(" or ");
	const [line, ...others] = new Set(faults.map(({ fault }) => fault.sla));
	const again = `back under ${others.length > 0 ? "the limit" : (line ?? "the limit")}`;
	const several: { readonly before: Column<Fault>[]; readonly after: Column<Fault>[] } =
		titleOf === null
			? { before: [], after: [] }
			: {
					before: [["run", ({ run }) => titleOf(run)]],
					after: COUNTS.map((name) => [name, ({ run }) => amount(run[name], "messages")]),
				};
	return {
		title: "Failover: what each fault did",
		...below(faults, [
			...several.before,
			["fault", ({ fault }) => faultName(fault)],
			["at", ({ fault, run }) => faultAt(fault, run)],
			["for", lastedText],
			[`without ${completions}`, unavailableText],
			[again, (of) => afterText(of, of.fault.recoveredNs, of.fault.sla !== null)],
			["drained", drainedText],
			...several.after,
		]),
		notes: [
			...faults.flatMap(({ fault }) =>
				fault.error === null
					? []
					: [`${faultName(fault)} was not carried out as planned: ${fault.error}`],
			),
			...(titleOf === null
				? []
				: ["failed, unknown, lost, duplicated and reordered are of the whole window"]),
		],
		meaning: [tell("failover-means", { completions, piece: formatDuration(BIN_NS), again })],
	};
}

/** The faults of all runs; null: fewer than two runs have any. */
export function failoverOfAll(result: Result): WordTable | null {
	const runs = result.runs.filter((run) => run.failover.length > 0);
	return runs.length < 2 ? null : failoverTable(runs, (run) => runTitle(run, result));
}

// --- internal ---

function below<T>(
	all: readonly T[],
	columns: readonly Column<T>[],
): Pick<WordTable, "head" | "rows"> {
	return {
		head: columns.map(([name]) => name),
		rows: all.map((row) => cellsOf(columns, row)),
	};
}

function lagOf({ lagP99, lagP99Weak }: Pick<Phase, "lagP99" | "lagP99Weak">): Amount {
	return { ...amount(lagP99, "ns"), weak: lagP99Weak };
}

/** "their starts lay within 43ms"; "times across clients are exact to ±0.4ms". Empty for a single client. */
function togetherTexts({ startSkewNs, clockBoundNs }: Run): string[] {
	const texts = [
		startSkewNs === null
			? null
			: `the first and the last client began to claim within ${formatDuration(startSkewNs)}`,
		clockBoundNs === null
			? null
			: clockBoundNs === 0
				? "messages cross from client to client, by one clock"
				: `messages cross from client to client: response and service are exact to ${plusMinus(clockBoundNs)}`,
	];
	return texts.filter((text) => text !== null);
}

/** "100ms ahead", "3ms late" */
function claimText(ns: number | null): string {
	if (ns === null) return "n/a";
	return ns > 0 ? `${formatDuration(ns)} late` : `${formatDuration(-ns)} ahead`;
}

/** Behind "by probes". */
const PROBED: Readonly<Record<Run["clients"][number]["kind"], string>> = {
	local: "",
	docker: "",
	ssh: " over SSH",
	pod: " over exec",
};

/**
 * "±0.2ms by probes over SSH, moved 40us"; by chrony "±0.05ms by chrony, ±12ms against this machine's"; null is this machine's clock.
 */
function clockText({ clock, kind }: Run["clients"][number]): string {
	if (clock === null) return "this machine's";
	const moved = movedBy(clock);
	if (moved === null) return "not known";
	const bound = plusMinus(clock.boundNs);
	if (clock.source === "chrony")
		return `${bound} by chrony${clock.probedNs === null ? "" : `, ${plusMinus(clock.probedNs)} against this machine's`}`;
	return `${bound} by probes${PROBED[kind]}, moved ${formatDuration(moved)}`;
}

const COUNTS = ["failed", "unknown", "lost", "duplicated", "reordered"] as const;

/** A fault, its run, and whether another one followed. */
interface Fault {
	readonly fault: Failover;
	readonly run: Run;
	readonly followed: boolean;
}

function lastedText({ fault: { beganNs, endedNs } }: Fault): string {
	return endedNs === null ? "ever" : formatDuration(Math.max(0, endedNs - beganNs));
}

/** "1.24s from 4.21s on", "at least 6s from 4s on", "none", "n/a" */
function unavailableText({ fault, run }: Fault): string {
	const { unavailableNs, unavailableFromNs, unavailableStill } = fault;
	if (unavailableNs === null) return "n/a";
	if (unavailableNs === 0 || unavailableFromNs === null) return "none";
	const from = Number(((unavailableFromNs - run.window.startNs) / 1e9).toFixed(3));
	return `${unavailableStill ? "at least " : ""}${formatDuration(unavailableNs)} from ${from}s on`;
}

function drainedText(of: Fault): string {
	const { drainedNs, drainedStill } = of.fault;
	return afterText(of, drainedNs, drainedNs !== null || drainedStill);
}

/** `known`: it was counted. */
function afterText({ fault, run, followed }: Fault, ns: number | null, known: boolean): string {
	if (fault.error !== null || run.state !== "complete" || !known) return "n/a";
	if (ns === null) return followed ? "not before the next fault" : "not in this run";
	return ns === 0 ? "at once" : `after ${formatDuration(ns)}`;
}
