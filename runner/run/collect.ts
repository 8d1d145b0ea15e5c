import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { z } from "zod";
import { failure } from "../errors.ts";
import type { Metric } from "../plan/plan.ts";
import { Plan } from "../plan/plan.ts";
import type {
	ClientFileLine,
	ClientLine,
	CountersLine,
	SecondLine,
	TickLine,
	TotalsLine,
} from "./client-file.ts";
import { type ClientFiles, readClient } from "./client-read.ts";
import { RunFile } from "./run-file.ts";

type Line<T extends z.ZodType> = Omit<z.infer<T>, "type">;
export type Client = Line<typeof ClientLine>;
export type Second = Line<typeof SecondLine>;
export type Tick = Line<typeof TickLine>;
export type Counters = Omit<Line<typeof CountersLine>, "scope">;
export type Totals = Line<typeof TotalsLine>;

/** Everything that stands in one folder below `runs/`, all clients added up. */
export interface Collected {
	/** Name of the folder: "01-nats-256B-3000-s-1". */
	readonly folder: string;
	readonly plan: Plan;
	readonly run: RunFile | null;
	/** never: nothing was measured. crashed: what there is of a run that did not end as it should. */
	readonly state: "complete" | "interrupted" | "crashed" | "never";
	/** A sentence: why the state is not complete. */
	readonly problem: string | null;
	/** True when every client's files have their trailers and match them: only then counts must add up. */
	readonly closed: boolean;
	readonly clients: readonly Client[];
	/** Texts of the .hlog files. */
	readonly logs: readonly string[];
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
		logs: clients.map((c) => c.log),
		seconds: addSeconds(of("second")),
		ticks: addTicks(
			clients.map((c) => c.lines.filter((l) => l.type === "tick")),
		),
		counters: { warmup: scope("warmup"), window: scope("window") },
		totals: addTotals(ofAll(of("totals"))),
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
	if (clients.some((c) => c.state === "interrupted"))
		return {
			state: "interrupted",
			problem: "k6 was stopped before the run was over",
		};
	return { state: "complete", problem: null };
}

function addSeconds(lines: readonly Second[]): Second[] {
	const seconds = new Map<number, Second>();
	for (const line of lines) {
		const sum = seconds.get(line.second);
		seconds.set(line.second, sum ? addSecond(sum, line) : bare(line));
	}
	return [...seconds.values()].sort((a, b) => a.second - b.second);
}

function addSecond(a: Second, b: Second): Second {
	const metrics = { ...a.metrics };
	for (const [name, y] of Object.entries(b.metrics)) {
		const x = metrics[name as Metric];
		metrics[name as Metric] = x
			? {
					count: x.count + y.count,
					sum: x.sum + y.sum,
					min: Math.min(x.min, y.min),
					max: Math.max(x.max, y.max),
					clamped: x.clamped + y.clamped,
					negative: x.negative + y.negative,
				}
			: y;
	}
	const pieces = (x: readonly number[] = [], y: readonly number[] = []) =>
		x.map((n, i) => n + (y[i] ?? 0));
	return {
		second: a.second,
		metrics,
		limits: a.limits.map((x, k) => ({
			count: pieces(x.count, b.limits[k]?.count),
			over: pieces(x.over, b.limits[k]?.over),
			overWithoutLag: pieces(x.overWithoutLag, b.limits[k]?.overWithoutLag),
		})),
	};
}

/** One list per client. A client's own ticks of one second follow each other, those of several clients add up. */
function addTicks(clients: readonly (readonly Tick[])[]): Tick[] {
	const ticks = new Map<number, Tick>();
	for (const client of clients) {
		const own = new Map<number, Tick>();
		for (const line of client) {
			const at = Math.round(line.at);
			const before = own.get(at);
			const { inFlight } = line;
			own.set(at, {
				...(before ? addNumbers(before, bare(line)) : bare(line)),
				inFlight,
				at,
			});
		}
		for (const [at, tick] of own) {
			const sum = ticks.get(at);
			ticks.set(at, sum ? { ...addNumbers(sum, tick), at } : tick);
		}
	}
	return [...ticks.values()].sort((a, b) => a.at - b.at);
}

function addCounters(
	lines: readonly z.infer<typeof CountersLine>[],
): Counters | null {
	const [first, ...rest] = lines.map(({ type: _, scope: __, ...c }) => c);
	return first === undefined ? null : rest.reduce(addNumbers, first);
}

function addTotals(lines: readonly Totals[]): Totals | null {
	const [first, ...rest] = lines.map(bare);
	if (first === undefined) return null;
	return rest.reduce(
		(a, b) => ({
			...addNumbers(a, b),
			// The latest of all clients decides, and the worst.
			firstClaimNs: Math.max(a.firstClaimNs, b.firstClaimNs),
			endNs: Math.max(a.endNs, b.endNs),
			schedLatencyP999Ns: Math.max(a.schedLatencyP999Ns, b.schedLatencyP999Ns),
			errors: addErrors([...a.errors, ...b.errors]),
		}),
		first,
	);
}

function addErrors(errors: Totals["errors"]): Totals["errors"] {
	const byMessage = new Map<string, Totals["errors"][number]>();
	for (const e of errors) {
		const sum = byMessage.get(e.message);
		const times = [sum?.firstNs ?? null, e.firstNs].filter((t) => t !== null);
		byMessage.set(e.message, {
			message: e.message,
			count: e.count + (sum?.count ?? 0),
			firstNs: times.length === 0 ? null : Math.min(...times),
		});
	}
	return [...byMessage.values()].sort((a, b) => b.count - a.count).slice(0, 20);
}

/** Adds field by field. What one of them did not measure (null) stays null: a sum of some would be a wrong number. */
function addNumbers<T extends object>(a: T, b: T): T {
	return Object.fromEntries(
		Object.entries(a).map(([key, x]) => {
			const y = b[key as keyof T];
			return [
				key,
				typeof x === "number" && typeof y === "number"
					? x + y
					: x === null || y === null
						? null
						: x,
			];
		}),
	) as T;
}

function bare<T extends object>(line: T): T {
	if (!("type" in line)) return line;
	const { type: _, ...rest } = line;
	return rest as unknown as T;
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
