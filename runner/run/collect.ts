import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { z } from "zod";
import { failure } from "../errors.ts";
import { Plan } from "../plan/plan.ts";
import {
	addCounters,
	addSeconds,
	addTicks,
	addTotals,
	bare,
	earliest,
} from "./add-up.ts";
import type {
	ClientFileLine,
	ClientLine,
	CountersLine,
	OffendersLine,
	SecondLine,
	SlowestLine,
	TickLine,
	TotalsLine,
} from "./client-file.ts";
import { type ClientFiles, readClient } from "./client-read.ts";
import type { LogFile } from "./log-file.ts";
import { ResourceLine } from "./resource-file.ts";
import { RunFile } from "./run-file.ts";

type Line<T extends z.ZodType> = Omit<z.infer<T>, "type">;
export type Client = Line<typeof ClientLine>;
export type Second = Line<typeof SecondLine>;
export type Tick = Line<typeof TickLine>;
export type Counters = Omit<Line<typeof CountersLine>, "scope">;
export type Totals = Line<typeof TotalsLine>;
export type Offenders = z.infer<typeof OffendersLine>["first"];
export type Slow = z.infer<typeof SlowestLine>["messages"][number];

/** Everything that stands in one folder below `runs/`, all clients added up. */
export interface Collected {
	/** Name of the folder: "01-nats-256B-3000-s-1". */
	readonly folder: string;
	readonly plan: Plan;
	readonly run: RunFile | null;
	/**
	 * never: nothing was measured. crashed: what there is of a run that did not end as it should. interrupted: somebody
	 * stopped it. aborted: mqbench did, as an SLA could not pass any more.
	 */
	readonly state: "complete" | "interrupted" | "aborted" | "crashed" | "never";
	/** A sentence: why the state is not complete. */
	readonly problem: string | null;
	/** True when every client's files have their trailers and match them: only then counts must add up. */
	readonly closed: boolean;
	readonly clients: readonly Client[];
	/** The .hlog files, read when somebody asks: they are all that may be large. */
	readonly logs: readonly LogFile[];
	/** By second of intended time from the window's start, ascending; each second once. */
	readonly seconds: readonly Second[];
	/** By second of real time since T0. */
	readonly ticks: readonly Tick[];
	/** null: not all clients came so far as to write them. */
	readonly counters: {
		readonly warmup: Counters | null;
		readonly window: Counters | null;
	};
	readonly totals: Totals | null;
	/** The first message of each kind of offence, of all clients the one that was due first. */
	readonly offenders: Offenders;
	/** The slowest messages of the window, at most 20, the slowest first. */
	readonly slowest: readonly Slow[];
	/** What the processes used, a sample a second, ascending; empty: nobody has looked. */
	readonly resources: readonly ResourceLine[];
}

/** Reads the folder of one run. Never fails on what k6 left or did not leave: that is the run's state. */
export function collect(folder: string): Collected {
	const plan = read(join(folder, "plan.json"), Plan);
	const runPath = join(folder, "run.json");
	const run = existsSync(runPath) ? read(runPath, RunFile) : null;
	const clients = Array.from({ length: plan.client.count }, (_, i) =>
		readClient(folder, i),
	);
	const lines = clients.flatMap((c) => c.lines);
	const of = <T extends ClientFileLine["type"]>(type: T) =>
		lines.filter(
			(l): l is Extract<ClientFileLine, { type: T }> => l.type === type,
		);
	// A sum over some of the clients would be a wrong number: all of them, or none.
	const ofAll = <L>(found: L[]) =>
		found.length === clients.length ? found : [];
	const scope = (name: "warmup" | "window") =>
		addCounters(ofAll(of("counters").filter((l) => l.scope === name)));
	return {
		folder: basename(folder),
		plan,
		run,
		...stateOf(clients, run),
		closed: clients.every((c) => c.problem === null),
		clients: of("client").map(bare),
		logs: clients.map((c) => c.log).filter((log) => log !== null),
		seconds: addSeconds(of("second")),
		ticks: addTicks(
			clients.map((c) => c.lines.filter((l) => l.type === "tick")),
		),
		counters: { warmup: scope("warmup"), window: scope("window") },
		totals: addTotals(ofAll(of("totals"))),
		offenders: earliest(of("offenders").map((l) => l.first)),
		slowest: of("slowest")
			.flatMap((l) => l.messages)
			.sort((a, b) => b.responseNs - a.responseNs)
			.slice(0, MOST_SLOW),
		resources: readResources(join(folder, "resources.jsonl")),
	};
}

/** Reads a JSON file of a run folder through its schema. */
export function read<T>(path: string, schema: z.ZodType<T>): T {
	try {
		return schema.parse(JSON.parse(readFileSync(path, "utf8")));
	} catch (error) {
		throw failure("run-file-unreadable", { path, reason: reasonOf(error) });
	}
}

// --- internal ---

const MOST_SLOW = 20;

function stateOf(
	clients: readonly ClientFiles[],
	run: RunFile | null,
): Pick<Collected, "state" | "problem"> {
	const broken = clients.find((c) => c.problem !== null)?.problem ?? null;
	const nothing = clients.every((c) => c.state === "missing");
	if (run?.interruptedBy)
		return {
			state: "interrupted",
			problem: `stopped by ${run.interruptedBy}${nothing ? " before anything was measured" : ""}`,
		};
	if (nothing)
		return { state: "never", problem: run?.error ?? "the run was not made" };
	if (run?.error) return { state: "crashed", problem: run.error };
	if (broken !== null) return { state: "crashed", problem: broken };
	if (run?.abortedBy)
		return {
			state: "aborted",
			problem: `stopped, as ${run.abortedBy} could not pass any more`,
		};
	if (clients.some((c) => c.state === "interrupted"))
		return {
			state: "interrupted",
			problem: "k6 was stopped before the run was over",
		};
	return { state: "complete", problem: null };
}

/** A line that cannot be read ends the file: it may have been cut off. What is missing is unknown. */
function readResources(path: string): ResourceLine[] {
	if (!existsSync(path)) return [];
	const lines: ResourceLine[] = [];
	for (const text of readFileSync(path, "utf8").split("\n")) {
		const line = ResourceLine.safeParse(json(text));
		if (!line.success) break;
		lines.push(line.data);
	}
	return lines;
}

function json(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

function reasonOf(error: unknown): string {
	const issues = (
		error as { issues?: { path: PropertyKey[]; message: string }[] }
	).issues;
	const first = issues?.[0];
	return first
		? `${first.path.join(".")}: ${first.message}`
		: (error as Error).message;
}
