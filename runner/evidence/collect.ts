import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { noLinks, runFolders } from "../given-folder.ts";
import type { ClientFileLine, Counters } from "../model/client-file.ts";
import { countsWith } from "../model/counts.ts";
import { CATCH_UP } from "../model/load.ts";
import { acrossClients, mainOf, Plan } from "../model/plan.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import { type ClientEnd, RunFile } from "../model/run-file.ts";
import { openedAt } from "../plan/derive.ts";
import { copies } from "../plan/samples.ts";
import {
	addBreakdowns,
	addCompletions,
	addCounters,
	addSeconds,
	addTicks,
	addTotals,
	bare,
	earliest,
	ownTicks,
	waitingOfAll,
} from "./add-up.ts";
import { readBrokerLog } from "./broker-log.ts";
import { readBrokerMetrics } from "./broker-metrics.ts";
import { type ClientFiles, ofFile, readClient, whoIs } from "./client-read.ts";
import { damageIn, readJson } from "./json.ts";
import { type CountedLedgers, countLedgers } from "./ledger.ts";
import { numberedSamples, readSamples, withBrokers } from "./resources.ts";
import { gapsOf, joined, joinedSamples, readSegments } from "./segments.ts";

export type ClientPart = ReturnType<typeof partOf>;

export interface Machine {
	/** The client whose load came from there. Null if none, or if it is mqbench's own machine. */
	readonly client: ClientPart | null;
	readonly node?: number;
	readonly samples: readonly ResourceLine[];
}

export type Collected = Readonly<ReturnType<typeof collect>>;

/** Reads the folder of one run. Missing or broken files of k6 do not make it fail: they become the run's state. */
export function collect(folder: string) {
	const written = readJson(join(folder, "plan.json"), Plan);
	const { run, damage } = runFileOf(join(folder, "run.json"));
	const crossing = acrossClients(written);
	const segments = readSegments(folder, written);
	const read = Array.from({ length: written.client.count }, (_, i) =>
		readClient(folder, i, {
			ledger: crossing,
			completions: written.faults.length > 0,
			name: nameOf(run, i),
		}),
	).map((own) => joined(own, segments, written));
	const plan = openedAt(written, startOf(read.flatMap((c) => c.lines)));
	const clients = read.map((c) =>
		withGoodLedger(fromOpening(c, written), plan, nameOf(run, c.index)),
	);
	// What a catch-up should receive, the main load's clients know.
	const reads = written.pattern === CATCH_UP;
	const senders = reads ? sendersOf(folder, written) : [];
	const all = [...clients, ...(senders ?? [])];
	const ledgers = all.map((c) => c.ledger).filter((l) => l !== null);
	const whole = crossing && senders !== null && ledgers.length === all.length;
	const counted = whole ? countLedgers(plan, ledgers) : null;
	// If nothing stopped the run and other clients completed it, an interrupted client broke off.
	const alone =
		!run?.interruptedBy && !run?.abortedBy && clients.some((c) => c.state === "complete");
	const parts = clients.map((c) => partOf(c, run, alone));
	const lines = clients.flatMap((c) => c.lines);
	const of = <T extends ClientFileLine["type"]>(type: T) => ofType(lines, type);
	// A sum over some of the clients would be wrong, so all must have the line.
	const ofAll = <L>(lines: L[]) => (lines.length === clients.length ? lines : []);
	const scope = (name: "warmup" | "window") => {
		const own = addCounters(ofAll(of("counters").filter((l) => l.scope === name)));
		return withLedgers(reads ? withSent(own, senders, name) : own, counted?.[name]);
	};
	const own = parts.map((part) => part.ticks);
	const ticks = addTicks(own);
	const breakdowns = ofAll(of("breakdown"));
	const t0Ms = t0Of(parts);
	const sampled = (name: string) => numberedSamples(folder, name, plan.intervalSeconds);
	const nodes = sampled("resources-broker-").map(
		({ number: node, samples }): Machine => ({ client: null, node, samples }),
	);
	return {
		/** "01-nats-256B-3000-s-1" */
		folder: basename(folder),
		plan,
		run,
		/** Faults of consumers, as the clients made them; empty unless all wrote them down. */
		members: ofAll(of("members")),
		...stateOf(clients, run, parts, damage),
		/** Every client's files match their trailers. Only then must the counts add up. */
		closed: clients.every((c) => c.problem === null),
		clients: of("client").map(bare),
		parts,
		/** The .hlog files, which may be large and are read only when needed. */
		logs: clients.flatMap((c) => c.logs),
		/** By second of intended time from the window's start, ascending. */
		seconds: addSeconds(of("second")),
		ticks: crossing ? waitingOfAll(own, ticks, copies(plan)) : ticks,
		/** When a client could not run: from and until, ns since T0. */
		stops: of("stops").flatMap((l) => l.stops),
		/** Acknowledgements, or first receipts without them, by 10 ms since T0. Only with faults, and if all clients counted them. */
		completions: written.faults.length > 0 ? completionsOf(clients) : null,
		/** The counts from all ledgers together, if messages cross from client to client and no ledger is missing. */
		ledgers: counted,
		/** Null unless all clients wrote them. */
		counters: { warmup: scope("warmup"), window: scope("window") },
		totals: addTotals(ofAll(of("totals"))),
		offenders: earliest([
			...of("offenders").map((l) => l.first),
			...(counted?.firstLost ? [{ lost: counted.firstLost }] : []),
			...(counted?.firstDuplicated ? [{ duplicated: counted.firstDuplicated }] : []),
		]),
		slowest: of("slowest")
			.flatMap((l) => l.messages)
			.sort((a, b) => b.responseNs - a.responseNs)
			.slice(0, 20),
		breakdown: breakdowns.length > 0 ? addBreakdowns(breakdowns.flatMap((l) => l.buckets)) : null,
		/** T0 by this machine's clock, ms since 1970. */
		t0Ms,
		/** Where it was cut, and went on as a further segment. */
		gaps: gapsOf(segments, written, t0Ms),
		/** Resources of the processes, a sample per second, ascending; empty if nothing was sampled. */
		resources: withBrokers(
			joinedSamples(
				readSamples(join(folder, "resources.jsonl"), plan.intervalSeconds),
				segments,
				plan,
				t0Ms,
			),
			nodes.map(({ samples }) => samples),
		),
		/** The same on clients' machines elsewhere. */
		hosts: sampled("resources-").flatMap(({ number, samples }): Machine[] => {
			const client = parts.find(({ index }) => index === number);
			return client === undefined ? [] : [{ client, samples }];
		}),
		nodes,
		brokerLog: readBrokerLog(join(folder, "broker.log")),
		brokerMetrics: readBrokerMetrics(join(folder, "broker-metrics.jsonl")),
	};
}

// --- internal ---

/** `damage`: why an existing file cannot be read. */
function runFileOf(file: string): { readonly run: RunFile | null; readonly damage: string | null } {
	if (!existsSync(file)) return { run: null, damage: null };
	try {
		return { run: readJson(file, RunFile), damage: null };
	} catch (error) {
		const reason = damageIn(error);
		return {
			run: null,
			damage: `run.json cannot be read (${reason}), so how the run ended is not known; the figures are from its other files`,
		};
	}
}

/** When the window opened, or null if the run ended before. */
function startOf(lines: readonly ClientFileLine[]): number | null {
	return ofType(lines, "totals")[0]?.windowStartNs ?? null;
}

/** Seconds in files count from the planned start of the window; one that opened earlier begins before. */
function fromOpening(files: ClientFiles, { schedule }: Plan): ClientFiles {
	const startNs = startOf(files.lines);
	if (schedule.steady === null || startNs === null) return files;
	const earlier = (schedule.warmupNs - startNs) / 1e9;
	const lines = files.lines.map((line) =>
		line.type === "second" ? { ...line, second: line.second + earlier } : line,
	);
	return { ...files, lines };
}

/** Drops a ledger whose bits cannot be read, or that contains messages that the plan does not have. */
function withGoodLedger(files: ClientFiles, plan: Plan, name: string | null): ClientFiles {
	const { index, ledger, problem } = files;
	if (ledger === null) return files;
	try {
		countLedgers(plan, [ledger]);
		return files;
	} catch (error) {
		const why = `${ofFile(index, name)}client-${index}.ledger ${(error as Error).message}`;
		return { ...files, ledger: null, state: "broken", problem: problem ?? why };
	}
}

/** Clients of the main load, with their ledgers' part about sending. Null if its folder is missing. */
function sendersOf(folder: string, plan: Plan): ClientFiles[] | null {
	const root = join(folder, "..", "..");
	const number = `${mainOf(plan)}`.padStart(2, "0");
	const path = runFolders(root, "runs").find((one) => basename(one).startsWith(`${number}-`));
	if (path === undefined) return null;
	noLinks(root, path);
	const main = readJson(join(path, "plan.json"), Plan);
	return Array.from({ length: main.client.count }, (_, i) => {
		const files = readClient(path, i, { ledger: true, completions: false });
		const { ledger } = withGoodLedger(files, main, null);
		return { ...files, ledger: ledger?.filter(({ set }) => set !== "received") ?? null };
	});
}

/** The counts of a catch-up's messages until they were sent are the main load's. */
function withSent(
	own: Counters | null,
	senders: readonly ClientFiles[] | null,
	name: "warmup" | "window",
): Counters | null {
	const lines = (senders ?? []).flatMap((c) =>
		ofType(c.lines, "counters").filter((l) => l.scope === name),
	);
	const sums = lines.length === senders?.length ? addCounters(lines) : null;
	if (own === null || sums === null) return null;
	const { intended, notOffered, sent, acked, failed, unknown } = sums;
	return { ...own, intended, notOffered, sent, acked, failed, unknown };
}

function ofType<T extends ClientFileLine["type"]>(
	lines: readonly ClientFileLine[],
	type: T,
): Extract<ClientFileLine, { type: T }>[] {
	return lines.filter((l): l is Extract<ClientFileLine, { type: T }> => l.type === type);
}

function partOf(files: ClientFiles, run: RunFile | null, alone: boolean) {
	const { index, lines, logs } = files;
	const end = run?.clients.find((c) => c.index === index) ?? null;
	const counters = ofType(lines, "counters").find((l) => l.scope === "window");
	const client = ofType(lines, "client")[0];
	return {
		index,
		/** "this machine", "bench@10.0.0.11", or without a run.json "client 1". */
		name: end?.name ?? `client ${index}`,
		end,
		problem: problemOf(files, end, alone),
		client: client === undefined ? null : bare(client),
		logs,
		seconds: addSeconds(ofType(lines, "second")),
		ticks: ownTicks(ofType(lines, "tick")),
		counters: { window: counters ? addCounters([counters]) : null },
		totals: addTotals(ofType(lines, "totals").slice(0, 1)),
	};
}

/** Prefers the reason that the runner saw: the files only show that the client ended. */
function problemOf({ index, state, problem }: ClientFiles, end: ClientEnd | null, alone: boolean) {
	const who = whoIs(index, end?.name ?? null);
	if (end?.error != null) return `${who}: ${end.error}`;
	return problem === null && state === "interrupted" && alone
		? `${who} was stopped before the run was over`
		: problem;
}

function nameOf(run: RunFile | null, index: number): string | null {
	return run?.clients.find((c) => c.index === index)?.name ?? null;
}

/** Adds the counts that no single client has. Without all ledgers, `counts` is undefined and the files' own part stands. */
function withLedgers(sum: Counters | null, counts: CountedLedgers["window"] | undefined) {
	if (sum === null || counts === undefined) return sum;
	const known = countsWith("ledgers").map((name) => [name, counts[name]]);
	return { ...sum, ...Object.fromEntries(known), duplicated: sum.duplicated + counts.duplicated };
}

/** Null if a client is missing, or completed messages without such a line, as in some published reports. */
function completionsOf(clients: readonly ClientFiles[]): Float64Array | null {
	const lines = clients.map((c) => ofType(c.lines, "completions"));
	const incomplete = clients.some(
		(c, i) =>
			c.state === "missing" ||
			(lines[i]?.length === 0 && ofType(c.lines, "tick").some((t) => (t.acked ?? t.received) > 0)),
	);
	return incomplete || lines.every((l) => l.length === 0) ? null : addCompletions(lines.flat());
}

/** Every client's T0 is the same moment, by its own clock. */
function t0Of(parts: readonly ClientPart[]): number | null {
	const started = parts.filter((p) => p.client !== null);
	const here = started.find((p) => p.end?.clock == null) ?? started[0];
	if (here?.client == null) return null;
	const ns = BigInt(here.client.t0UnixNs) - BigInt(here.end?.clock?.beforeNs ?? 0);
	return Number(ns) / 1e6;
}

/** crashed: partial results. interrupted: by a person or signal. aborted: by mqbench, because an SLA could not pass any more. */
type State = "complete" | "interrupted" | "aborted" | "crashed" | "never";

function stateOf(
	clients: readonly ClientFiles[],
	run: RunFile | null,
	parts: readonly ClientPart[],
	damage: string | null,
) {
	const broken = parts.find((p) => p.problem !== null)?.problem ?? null;
	const nothing = clients.every((c) => c.state === "missing");
	const is = (state: State, problem: string | null) => ({ state, problem });
	const early = nothing ? " before anything was measured" : "";
	if (run?.interruptedBy) return is("interrupted", `stopped by ${run.interruptedBy}${early}`);
	const failed = parts.find((p) => p.end?.error != null)?.problem;
	if (nothing) return is("never", run?.error ?? failed ?? damage ?? "the run was not made");
	// Only the damaged file could distinguish a stopped run from a dead broker.
	const crash = damage ?? (run?.error || broken);
	if (crash !== null) return is("crashed", crash);
	if (run?.abortedBy) return is("aborted", `stopped: ${run.abortedBy} could not pass any more`);
	if (clients.some((c) => c.state === "interrupted"))
		return is("interrupted", "k6 was stopped before the run was over");
	return is("complete", null);
}
