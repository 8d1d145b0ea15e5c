import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { brokers } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import { noLinks } from "../given-folder.ts";
import { readSnapshot, SNAPSHOT } from "../model/baseline-snapshot.ts";
import type { Counters } from "../model/client-file.ts";
import { commandIn } from "../model/command-file.ts";
import { EnvironmentFile } from "../model/environment-file.ts";
import type { Result, Run } from "../model/result.ts";
import { type Verdict, worst } from "../model/verdict.ts";
import { intendedInWindow, mainMetric } from "../plan/samples.ts";
import { type Collected, collect } from "../run/collect.ts";
import { damageIn, readJson } from "../run/json.ts";
import { runFolders } from "../run/run-folders.ts";
import { tell } from "../text/tell.ts";
import { drainOf } from "../verdict/backlog-drain.ts";
import { clockBoundNs } from "../verdict/checks/clock.ts";
import { floorOf } from "../verdict/checks/floor.ts";
import { startSkewNs } from "../verdict/checks/run.ts";
import type { ErrorCause } from "../verdict/exit.ts";
import { type Facts, type Floor, factsOf, UNKNOWN, windowOf } from "../verdict/facts.ts";
import { failoverOf } from "../verdict/failover.ts";
import { ratesOf } from "../verdict/rates.ts";
import { judgeRun, type RunVerdict } from "../verdict/run.ts";
import { breakdownOf } from "./breakdown.ts";
import { brokerLogOf } from "./broker-log.ts";
import { clientsOf } from "./client-results.ts";
import { gatesOf, type JudgedRun } from "./gates.ts";
import { loadOf } from "./load.ts";
import { heatOf, mainSeconds, summarise } from "./metrics.ts";
import { omissionOf } from "./omission.ts";
import { phasesOf } from "./phases.ts";
import { hostSeries, nodeSeries, resourceSeries } from "./resources.ts";
import { detailsPath } from "./result-files.ts";
import { searchesOf } from "./searches.ts";

/** A result before anything is compared, with what that goes by; URLs are not masked yet. */
export interface Bare {
	readonly result: Result;
	readonly runs: readonly Judged[];
	readonly snapshot: Snapshot | null;
}

/** Of the files in `folder` (`reports/<run-id>`) alone: the same folder gives the same bytes. Writes nothing. */
export function bareResult(folder: string): Bare {
	const damaged: (Damage & { readonly reason: string })[] = [];
	// What can be read is not lost with what cannot.
	const whole = <T>(file: string, code: DamageCode, read: () => T): T | null => {
		try {
			noLinks(folder, join(folder, file));
			return read();
		} catch (error) {
			const reason = damageIn(error);
			damaged.push({ file, why: tell(code, { reason }), reason });
			return null;
		}
	};
	const each = <T>(below: "runs" | "floors", code: DamageCode, read: (path: string) => T) =>
		runFolders(folder, below).flatMap((path) => {
			const file = `${below}/${basename(path)}/plan.json`;
			return whole(file, code, () => [read(path)]) ?? [];
		});
	const environment = whole(ENVIRONMENT, "machine-damaged", () => environmentOf(folder));
	const snapshot = whole(SNAPSHOT, "baseline-damaged", () => readSnapshot(folder));
	const floors = new Map(each("floors", "floor-damaged", floorIn));
	// One run's histograms at a time: they are all that is large.
	const runs = each("runs", "run-damaged", (path) =>
		judgedRun(path, { environment, floors, snapshot }),
	);
	const [first] = damaged;
	if (runs.length === 0 && first !== undefined)
		throw failure("run-file-unreadable", { path: join(folder, first.file), reason: first.reason });
	const result = withDamage(resultOf(folder, runs, environment), damaged);
	return { result, runs: byIndex(runs), snapshot };
}

/** The same of `all`, the first runs of a command that goes on. */
export function bareSoFar(folder: string, all: readonly Judged[]): Bare {
	const runs = byIndex(all);
	const result = resultOf(folder, runs, environmentOf(folder));
	return { result, runs, snapshot: readSnapshot(folder) };
}

/** A run from its own folder, as result.json has it, with the verdict on it; floors are those that were measured so far. */
function judgedRun(path: string, { environment, floors, snapshot }: Around): Judged {
	const collected = collect(path);
	const facts = factsOf(collected, {
		clockSource: environment?.clockSource ?? null,
		quotaCores: environment?.cpuQuotaCores ?? null,
		floor: floors.get(collected.plan.case) ?? null,
		compared: collected.plan.baselineSystem !== null || (snapshot?.baseline ?? null) !== null,
	});
	const verdict = judgeRun(facts);
	return { collected, verdict, run: runOf(facts, verdict) };
}

/** The same of a run of a command that goes on: its floors come last. */
export function judgedSoFar(folder: string, path: string): Judged {
	return judgedRun(path, {
		environment: environmentOf(folder),
		floors: new Map(),
		snapshot: readSnapshot(folder),
	});
}

/** The verdict on one run, from its folder: what a search has to know before its next run. */
export function judgeFolder(path: string): RunVerdict {
	return judgeRun(factsOf(collect(path), UNKNOWN));
}

// --- internal ---

const ENVIRONMENT = "environment.json";

type Damage = NonNullable<Result["damaged"]>[number];
type Snapshot = ReturnType<typeof readSnapshot>;
type DamageCode = "run-damaged" | "floor-damaged" | "machine-damaged" | "baseline-damaged";

function resultOf(
	folder: string,
	all: readonly Judged[],
	environment: EnvironmentFile | null,
): Result {
	const runs = byIndex(all);
	const first = runs[0]?.collected.plan;
	if (first === undefined) throw failure("not-a-run-folder", { path: folder });
	// A search is judged by what it found, not by the rates at which it had to fail.
	const searches = searchesOf(runs);
	const single = runs.filter((r) => r.collected.plan.search === null);
	const gates = gatesOf(single);
	return {
		schema: 2,
		scenario: first.scenario,
		runId: first.runId,
		quick: first.quick,
		verdict: worst([
			...gates.map((g) => g.verdict),
			...ownVerdicts(single),
			...searches.map((s) => s.verdict),
		]),
		cause: null,
		openBaselineOnly: false,
		errorCause: errorCauseOf(runs),
		interruptedBy: runs.map((r) => r.collected.run?.interruptedBy).find((s) => s) ?? null,
		environment,
		runs: runs.map((r) => r.run),
		gates,
		searches,
		comparisons: [],
		command: commandIn(folder),
	};
}

/** Requests of the whole run, preparing and removing included. */
function billed(count: number | null, requestUsd: number | null): Pick<Run, "requests"> {
	return count === null || requestUsd === null
		? {}
		: { requests: { count, usd: count * requestUsd } };
}

/** States in which the SLA decides. */
const JUDGED: ReadonlySet<Collected["state"]> = new Set(["complete", "aborted"]);

export type Judged = JudgedRun & { readonly run: Run };

/** What a run is judged by beside its own folder. */
interface Around {
	readonly environment: EnvironmentFile | null;
	readonly floors: ReadonlyMap<string, Floor>;
	readonly snapshot: Snapshot;
}

function environmentOf(folder: string): EnvironmentFile | null {
	const path = join(folder, ENVIRONMENT);
	return existsSync(path) ? readJson(path, EnvironmentFile) : null;
}

function byIndex(runs: readonly Judged[]): Judged[] {
	return runs.toSorted((a, b) => a.collected.plan.index - b.collected.plan.index);
}

/**
 * Without an SLA, and where something else than the SLA decided, the run speaks for itself. That one repeat of several did not
 * carry the rate is judged as a gate is: two decide, one leaves it open.
 */
function ownVerdicts(runs: readonly Judged[]): Verdict[] {
	const carries = (r: Judged) => !r.verdict.checks.some((c) => c.status === "fail");
	return runs
		.filter((r) => r.verdict.why !== null || r.collected.plan.sla.length === 0)
		.map((r) => {
			const { plan } = r.collected;
			const alike = runs.filter(
				(o) => o.collected.plan.system === plan.system && o.collected.plan.case === plan.case,
			);
			const alone = alike.filter((o) => !carries(o)).length === 1;
			return !carries(r) && alike.length > 1 && alone ? "inconclusive" : r.verdict.verdict;
		});
}

/** Of its case the generator's floor, as far as it was measured. */
function floorIn(path: string): readonly [string, Floor] {
	const collected = collect(path);
	return [collected.plan.case, floorOf(factsOf(collected, UNKNOWN))];
}

/** A result of a part of the runs is none: each might have said otherwise. */
function withDamage(result: Result, damaged: readonly Damage[]): Result {
	return damaged.length === 0
		? result
		: {
				...result,
				damaged: damaged.map(({ file, why }) => ({ file, why })),
				verdict: worst([result.verdict, "error"]),
				errorCause: result.errorCause ?? "environment",
			};
}

function errorCauseOf(runs: readonly Judged[]): ErrorCause | null {
	const errors = runs.filter((r) => r.verdict.verdict === "error");
	if (runs.some((r) => r.verdict.checks.some((c) => c.status === "error"))) return "internal";
	if (errors.length === 0) return null;
	return errors.some((r) => !JUDGED.has(r.collected.state)) ? "environment" : "scenario";
}

/** As the plan says it, of the version that ran. */
function durabilityOf({ plan, run, clients }: Collected): string {
	const server = clients[0]?.versions.server || run?.brokerVersion;
	return (
		(server && brokers[plan.broker]?.durabilityOn?.(plan.durability, server)) || plan.durability
	);
}

function runOf(facts: Facts, judged: RunVerdict): Run {
	const { collected } = facts;
	const { plan, run, totals, counters, clients } = collected;
	const response = summarise(facts, "response");
	const service = summarise(facts, "service");
	const brokerHosts = nodeSeries(collected);
	const breakdown = breakdownOf(collected, response);
	const log = brokerLogOf(collected, windowOf(collected));
	return {
		index: plan.index,
		system: plan.system,
		case: plan.case,
		repeat: plan.repeat,
		confirms: plan.confirms,
		search: plan.search,
		verdict: judged.verdict,
		cause: judged.cause,
		why: judged.why,
		...codeOf(judged),
		state: collected.state,
		abortedBy: run?.abortedBy ?? null,
		folder: `runs/${collected.folder}`,
		details: detailsPath({ folder: `runs/${collected.folder}` }),
		startedAt: run?.startedAt ?? null,
		load: loadOf({ ...plan, durability: durabilityOf(collected) }),
		versions: clients[0]?.versions ?? null,
		driverOptions: clients[0]?.driverOptions ?? null,
		brokerUrl: run?.brokerUrl ?? null,
		brokerVersion: run?.brokerVersion ?? null,
		sameHost: run?.sameHost ?? null,
		brokerSettings: run?.brokerSettings ?? {},
		window: windowOf(collected),
		...countersOf(counters.window, intendedInWindow(plan)),
		clientDropped: totals?.clientDropped ?? null,
		...billed(totals?.requests ?? null, plan.requestUsd),
		foreign: totals?.foreign ?? null,
		reconnects: totals?.reconnects ?? null,
		...(totals?.throttledNs == null ? {} : { throttledNs: totals.throttledNs }),
		warmup: countersOf(counters.warmup, plan.schedule.warmupMessages),
		metrics: {
			response,
			service,
			lag: summarise(facts, "lag"),
			queued: summarise(facts, "queued"),
			ack: summarise(facts, "ack"),
			last: summarise(facts, "last"),
		},
		main: mainMetric(plan),
		phases: phasesOf(facts),
		drain: drainResult(collected),
		omission: omissionOf(response, service, counters.window?.behind ?? null),
		...(breakdown === undefined ? {} : { breakdown }),
		...(log === undefined ? {} : { brokerLog: log }),
		slowest: [...collected.slowest],
		offenders: collected.offenders,
		floor: facts.floor,
		throughput: ratesOf(collected),
		series: {
			seconds: mainSeconds(facts),
			heat: heatOf(facts),
			ticks: [...collected.ticks],
			resources: resourceSeries(collected),
			hosts: hostSeries(collected),
			...(brokerHosts === undefined ? {} : { brokerHosts }),
		},
		clients: clientsOf(facts),
		startSkewNs: startSkewNs(collected),
		clockBoundNs: clockBoundNs(collected),
		network: run?.network ?? [],
		topology: run?.topology ?? null,
		nodesShareHost: run?.nodesShareHost ?? false,
		failover: failoverOf(collected),
		generator: totals && {
			cpuNs: totals.cpuNs,
			gcPauseNs: totals.gcPauseNs,
			gcCycles: totals.gcCycles,
			schedLatencyP999Ns: totals.schedLatencyP999Ns,
			firstClaimNs: totals.firstClaimNs,
			endNs: totals.endNs,
			pacer: clients[0]?.pacer ?? null,
		},
		validity: [...judged.checks],
		notes: run?.notes ?? [],
		errors: totals?.errors ?? [],
	};
}

function codeOf({ code, values }: Pick<RunVerdict, "code" | "values">) {
	return code === null || values === null ? {} : { code, values };
}

function drainResult(collected: Collected): Run["drain"] {
	const drain = drainOf(collected);
	if (drain === null) return null;
	// The bound is for gates.
	const { open, mostPerSecond: _, ...figures } = drain;
	return { ...figures, problem: open?.text ?? null, ...(open && codeOf(open)) };
}

function countersOf(c: Counters | null, intended: number): Run["warmup"] {
	// Where nobody consumes nothing could arrive twice: that is not measured, and no 0.
	const consumed = c?.received === null ? null : c;
	return {
		intended: c?.intended ?? intended,
		notOffered: c?.notOffered ?? null,
		sent: c?.sent ?? null,
		acked: c?.acked ?? null,
		failed: c?.failed ?? null,
		unknown: c?.unknown ?? null,
		received: c?.received ?? null,
		lost: c?.lost ?? null,
		duplicated: consumed?.duplicated ?? null,
		reordered: c?.reordered ?? null,
		late: c?.late ?? null,
		timedOut: c?.timedOut ?? null,
		redelivered: consumed?.redelivered ?? null,
		corrupted: c?.corrupted ?? null,
	};
}
