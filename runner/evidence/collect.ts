import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { ClientFileLine, Counters } from "../model/client-file.ts";
import { countsWith } from "../model/counts.ts";
import { acrossClients, Plan } from "../model/plan.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import { type ClientEnd, RunFile } from "../model/run-file.ts";
import { copies } from "../plan/samples.ts";
import { openedAt } from "../plan/schedule.ts";
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
import { type ClientFiles, ofFile, readClient, whoIs } from "./client-read.ts";
import { damageIn, readJson } from "./json.ts";
import { type CountedLedgers, countLedgers } from "./ledger.ts";
import { numberedSamples, readSamples, withBrokers } from "./resources.ts";

/** What one client has counted by itself, and how it ended. */
export type ClientPart = ReturnType<typeof partOf>;

/** What was sampled on a machine. */
export interface Machine {
	/** Whose load came from there; null: none's, or it is the machine that mqbench runs on. */
	readonly client: ClientPart | null;
	/** Number of the broker's node that ran there; absent: none did, or nobody knows. */
	readonly node?: number;
	readonly samples: readonly ResourceLine[];
}

/** Everything that stands in one folder below `runs/`, all clients added up. */
export type Collected = Readonly<ReturnType<typeof collect>>;

/** Reads the folder of one run. Never fails on what k6 left or did not leave: that is the run's state. */
export function collect(folder: string) {
	const written = readJson(join(folder, "plan.json"), Plan);
	const { run, damage } = runFileOf(join(folder, "run.json"));
	const crossing = acrossClients(written);
	const read = Array.from({ length: written.client.count }, (_, i) =>
		readClient(folder, i, {
			ledger: crossing,
			completions: written.faults.length > 0,
			name: nameOf(run, i),
		}),
	);
	const openedNs = startOf(read.flatMap((c) => c.lines));
	const plan = openedAt(written, openedNs);
	const clients = read.map((c) =>
		withGoodLedger(fromOpening(c, written), plan, nameOf(run, c.index)),
	);
	const ledgers = clients.map((c) => c.ledger).filter((l) => l !== null);
	const counted =
		crossing && ledgers.length === clients.length ? countLedgers(plan, ledgers) : null;
	// Nobody has stopped the run, and others went on to its end: that client broke off.
	const alone =
		!run?.interruptedBy && !run?.abortedBy && clients.some((c) => c.state === "complete");
	const parts = clients.map((c) => partOf(c, run, alone));
	const lines = clients.flatMap((c) => c.lines);
	const of = <T extends ClientFileLine["type"]>(type: T) => ofType(lines, type);
	// A sum over some of the clients would be a wrong number: all of them, or none.
	const ofAll = <L>(lines: L[]) => (lines.length === clients.length ? lines : []);
	const scope = (name: "warmup" | "window") =>
		withLedgers(
			addCounters(ofAll(of("counters").filter((l) => l.scope === name))),
			counted?.[name],
		);
	const own = parts.map((part) => part.ticks);
	const ticks = addTicks(own);
	const breakdowns = ofAll(of("breakdown"));
	const sampled = (name: string) => numberedSamples(folder, name, plan.intervalSeconds);
	const nodes = sampled("resources-broker-").map(
		({ number: node, samples }): Machine => ({ client: null, node, samples }),
	);
	return {
		/** Name of the folder: "01-nats-256B-3000-s-1". */
		folder: basename(folder),
		plan,
		run,
		...stateOf(clients, run, parts, damage),
		/** True when every client's files have their trailers and match them: only then counts must add up. */
		closed: clients.every((c) => c.problem === null),
		clients: of("client").map(bare),
		/** Every client of the plan, by index. */
		parts,
		/** The .hlog files, read when somebody asks: they are all that may be large. */
		logs: clients.map((c) => c.log).filter((log) => log !== null),
		/** By second of intended time from the window's start, ascending; each second once. */
		seconds: addSeconds(of("second")),
		/** By second of real time since T0. */
		ticks: crossing ? waitingOfAll(own, ticks, copies(plan)) : ticks,
		/** When a client could not run: from and until, ns since T0. */
		stops: of("stops").flatMap((l) => l.stops),
		/** Acknowledgements, where the system gives them, else first receipts, by 10 ms since T0; null: nobody asks, or not all have counted them. */
		completions: written.faults.length > 0 ? completionsOf(clients) : null,
		/** Where messages cross from client to client: what all ledgers together say; null: they do not, or not all ledgers are there. */
		ledgers: counted,
		/** null: not all clients came so far as to write them. */
		counters: { warmup: scope("warmup"), window: scope("window") },
		totals: addTotals(ofAll(of("totals"))),
		/** The first message of each kind of offence, of all clients the one that was due first. */
		offenders: earliest([
			...of("offenders").map((l) => l.first),
			...(counted?.firstLost ? [{ lost: counted.firstLost }] : []),
			...(counted?.firstDuplicated ? [{ duplicated: counted.firstDuplicated }] : []),
		]),
		/** The slowest messages of the window, at most 20, the slowest first. */
		slowest: of("slowest")
			.flatMap((l) => l.messages)
			.sort((a, b) => b.responseNs - a.responseNs)
			.slice(0, 20),
		/** Of what response times consist, in buckets of them, ascending; null: not all clients have counted it. */
		breakdown: breakdowns.length > 0 ? addBreakdowns(breakdowns.flatMap((l) => l.buckets)) : null,
		/** T0 by the clock of this machine, ms since 1970; null: no client has told. */
		t0Ms: t0Of(parts),
		/** What the processes used, a sample a second, ascending; empty: nobody has looked. */
		resources: withBrokers(
			readSamples(join(folder, "resources.jsonl"), plan.intervalSeconds),
			nodes.map(({ samples }) => samples),
		),
		/** The same on machines of clients elsewhere. */
		hosts: sampled("resources-").flatMap(({ number, samples }): Machine[] => {
			const client = parts.find(({ index }) => index === number);
			return client === undefined ? [] : [{ client, samples }];
		}),
		/** The same on hosts of the broker's nodes, node by node, where they have some of their own. */
		nodes,
		/** What the broker logged, read when somebody asks; null: there is no log of it. */
		brokerLog: readBrokerLog(join(folder, "broker.log")),
	};
}

// --- internal ---

/** `damage`: a sentence, if the file is there and cannot be read. */
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

/** When the window has opened; null: nobody came to tell. */
function startOf(lines: readonly ClientFileLine[]): number | null {
	return ofType(lines, "totals")[0]?.windowStartNs ?? null;
}

/** Seconds in files count from the window's start by the plan; one that opened earlier begins before. */
function fromOpening(files: ClientFiles, { schedule }: Plan): ClientFiles {
	const startNs = startOf(files.lines);
	if (schedule.steady === null || startNs === null) return files;
	const earlier = (schedule.warmupNs - startNs) / 1e9;
	const lines = files.lines.map((line) =>
		line.type === "second" ? { ...line, second: line.second + earlier } : line,
	);
	return { ...files, lines };
}

/** Without a ledger whose bits cannot be read, or are of messages that the plan does not have. */
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

function ofType<T extends ClientFileLine["type"]>(
	lines: readonly ClientFileLine[],
	type: T,
): Extract<ClientFileLine, { type: T }>[] {
	return lines.filter((l): l is Extract<ClientFileLine, { type: T }> => l.type === type);
}

function partOf(files: ClientFiles, run: RunFile | null, alone: boolean) {
	const { index, lines, log } = files;
	const end = run?.clients.find((c) => c.index === index) ?? null;
	const counters = ofType(lines, "counters").find((l) => l.scope === "window");
	const client = ofType(lines, "client")[0];
	return {
		index,
		/** For people: "this machine", "bench@10.0.0.11"; where nobody has written it down "client 1". */
		name: end?.name ?? `client ${index}`,
		/** As the runner saw it; null: an mqbench that did not tell. */
		end,
		/** A sentence that names it: why it is missing, or its files are not whole. null: nothing of that kind. */
		problem: problemOf(files, end, alone),
		/** What it measures with; null: it did not come to it. */
		client: client === undefined ? null : bare(client),
		log,
		seconds: addSeconds(ofType(lines, "second")),
		ticks: ownTicks(ofType(lines, "tick")),
		counters: { window: counters ? addCounters([counters]) : null },
		totals: addTotals(ofType(lines, "totals").slice(0, 1)),
	};
}

/** The runner saw why it ended, its files only that it did. */
function problemOf(
	{ index, state, problem }: ClientFiles,
	end: ClientEnd | null,
	alone: boolean,
): string | null {
	const who = whoIs(index, end?.name ?? null);
	if (end?.error != null) return `${who}: ${end.error}`;
	return problem === null && state === "interrupted" && alone
		? `${who} was stopped before the run was over`
		: problem;
}

function nameOf(run: RunFile | null, index: number): string | null {
	return run?.clients.find((c) => c.index === index)?.name ?? null;
}

/** What one client alone cannot tell. undefined: not all ledgers are there, and what stands in the files is the part of it that they know. */
function withLedgers(
	sum: Counters | null,
	counts: CountedLedgers["window"] | undefined,
): Counters | null {
	if (sum === null || counts === undefined) return sum;
	const known = countsWith("ledgers").map((name) => [name, counts[name]]);
	return {
		...sum,
		...Object.fromEntries(known),
		duplicated: sum.duplicated + counts.duplicated,
	};
}

/** A client that has completions and no line of them is one of the published reports. */
function completionsOf(clients: readonly ClientFiles[]): Float64Array | null {
	const lines = clients.map((c) => ofType(c.lines, "completions"));
	const incomplete = clients.some(
		(c, i) =>
			c.state === "missing" ||
			(lines[i]?.length === 0 && ofType(c.lines, "tick").some((t) => (t.acked ?? t.received) > 0)),
	);
	return incomplete || lines.every((l) => l.length === 0) ? null : addCompletions(lines.flat());
}

/** Every client's T0 is the same moment, told by its own clock. */
function t0Of(parts: readonly ClientPart[]): number | null {
	const started = parts.filter((p) => p.client !== null);
	const here = started.find((p) => p.end?.clock == null) ?? started[0];
	if (here?.client == null) return null;
	const ns = BigInt(here.client.t0UnixNs) - BigInt(here.end?.clock?.beforeNs ?? 0);
	return Number(ns) / 1e6;
}

/** `problem`: a sentence, why the state is not complete. */
interface State {
	/**
	 * never: nothing was measured. crashed: what there is of a run that did not end as it should. interrupted: somebody
	 * stopped it. aborted: mqbench did, as an SLA could not pass any more.
	 */
	readonly state: "complete" | "interrupted" | "aborted" | "crashed" | "never";
	readonly problem: string | null;
}

function stateOf(
	clients: readonly ClientFiles[],
	run: RunFile | null,
	parts: readonly ClientPart[],
	damage: string | null,
): State {
	const broken = parts.find((p) => p.problem !== null)?.problem ?? null;
	const nothing = clients.every((c) => c.state === "missing");
	if (run?.interruptedBy)
		return {
			state: "interrupted",
			problem: `stopped by ${run.interruptedBy}${nothing ? " before anything was measured" : ""}`,
		};
	if (nothing)
		return {
			state: "never",
			problem:
				run?.error ??
				parts.find((p) => p.end?.error != null)?.problem ??
				damage ??
				"the run was not made",
		};
	// It would say whether somebody stopped the run, or the broker died.
	if (damage !== null) return { state: "crashed", problem: damage };
	if (run?.error) return { state: "crashed", problem: run.error };
	if (broken !== null) return { state: "crashed", problem: broken };
	if (run?.abortedBy)
		return { state: "aborted", problem: `stopped, as ${run.abortedBy} could not pass any more` };
	if (clients.some((c) => c.state === "interrupted"))
		return { state: "interrupted", problem: "k6 was stopped before the run was over" };
	return { state: "complete", problem: null };
}
