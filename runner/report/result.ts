import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../errors.ts";
import type { Plan } from "../plan/plan.ts";
import {
	type Collected,
	type Counters,
	collect,
	read,
} from "../run/collect.ts";
import { EnvironmentFile } from "../run/environment-file.ts";
import type { ErrorCause } from "../verdict/exit.ts";
import { type Facts, factsOf } from "../verdict/facts.ts";
import { intendedInWindow } from "../verdict/intervals.ts";
import { overRepeats } from "../verdict/repeats.ts";
import { judgeRun, type RunVerdict } from "../verdict/run.ts";
import type { Judgement } from "../verdict/sla.ts";
import { tallyOf } from "../verdict/tally.ts";
import { worst } from "../verdict/verdict.ts";
import { maskAll } from "./mask.ts";
import { responseSeconds, summarise } from "./metrics.ts";
import type { Gate, Result, Run } from "./summary.ts";

/**
 * The whole result, from the files in `folder` (`reports/<run-id>`) alone: the same folder gives the same bytes. Writes nothing.
 */
export function buildResult(folder: string): Result {
	const environmentPath = join(folder, "environment.json");
	const environment = existsSync(environmentPath)
		? read(environmentPath, EnvironmentFile)
		: null;
	const runs = runFolders(folder)
		.map((path) => collect(path))
		.sort((a, b) => a.plan.index - b.plan.index)
		.map((collected) => {
			// One run's histograms at a time: they are all that is large.
			const facts = factsOf(collected, environment?.clockSource ?? null);
			const verdict = judgeRun(facts);
			return { collected, verdict, run: runOf(facts, verdict) };
		});
	const first = runs[0]?.collected.plan;
	if (first === undefined) throw failure("not-a-run-folder", { path: folder });

	const gates = gatesOf(runs);
	// Without an SLA, and where something else than the SLA decided, the run speaks for itself.
	const own = runs
		.filter((r) => r.verdict.why !== null || r.collected.plan.sla.length === 0)
		.map((r) => r.verdict.verdict);
	const verdict = worst([...gates.map((g) => g.verdict), ...own]);
	return maskAll({
		schema: 1,
		scenario: first.scenario,
		runId: first.runId,
		verdict,
		errorCause: errorCauseOf(runs),
		interruptedBy:
			runs.map((r) => r.collected.run?.interruptedBy).find((s) => s) ?? null,
		environment,
		runs: runs.map((r) => r.run),
		gates,
	});
}

// --- internal ---

type Judged = { collected: Collected; verdict: RunVerdict; run: Run };

function runFolders(folder: string): string[] {
	const runs = join(folder, "runs");
	const names = existsSync(runs) ? readdirSync(runs).sort() : [];
	return names
		.map((name) => join(runs, name))
		.filter((path) => existsSync(join(path, "plan.json")));
}

function errorCauseOf(runs: readonly Judged[]): ErrorCause | null {
	const errors = runs.filter((r) => r.verdict.verdict === "error");
	if (runs.some((r) => r.verdict.checks.some((c) => c.status === "error")))
		return "internal";
	if (errors.length === 0) return null;
	return errors.some((r) => r.collected.state !== "complete")
		? "environment"
		: "scenario";
}

function gatesOf(runs: readonly Judged[]): Gate[] {
	const groups = new Map<string, { of: Judged; all: [number, Judgement][] }>();
	for (const r of runs)
		for (const judgement of r.verdict.judgements) {
			const { system, case: name, repeat } = r.collected.plan;
			const key = JSON.stringify([system, name, judgement.sla]);
			const group = groups.get(key) ?? { of: r, all: [] };
			group.all.push([repeat, judgement]);
			groups.set(key, group);
		}
	return [...groups.values()].map(({ of, all }) => {
		const judgements = all.map(([, j]) => j);
		const { verdict, why, deciding } = overRepeats(judgements);
		return {
			sla: deciding.sla,
			system: of.collected.plan.system,
			case: of.collected.plan.case,
			verdict,
			measured: judgements.map((j) => j.measured).join(", "),
			limit: deciding.limit,
			why,
			...judgedBy(of.collected.plan, deciding.sla),
			...numbersOf(deciding),
			repeats: all.map(([repeat, j]) => ({
				repeat,
				verdict: j.verdict,
				measured: j.measured,
				why: j.why,
				...numbersOf(j),
			})),
		};
	});
}

function judgedBy(plan: Plan, text: string) {
	const sla = plan.sla.find((s) => s.text === text);
	const none = { metric: null, percentile: null, limitNs: null };
	if (sla === undefined || sla.kind === "tally") return none;
	const { metric, limitNs } = sla;
	return {
		metric,
		percentile: sla.kind === "percentile" ? sla.percentile : null,
		limitNs,
	};
}

function numbersOf({ n, over, allowed, censored, events, phi }: Judgement) {
	return { n, over, allowed, censored, events, phi };
}

function runOf(facts: Facts, judged: RunVerdict): Run {
	const { collected } = facts;
	const { plan, run, totals, counters, clients } = collected;
	const seconds = plan.schedule.durationNs / 1e9;
	const acked = totals?.ackedInWindow ?? null;
	return {
		index: plan.index,
		system: plan.system,
		case: plan.case,
		repeat: plan.repeat,
		verdict: judged.verdict,
		why: judged.why,
		state: collected.state,
		folder: `runs/${collected.folder}`,
		startedAt: run?.startedAt ?? null,
		load: loadOf(collected),
		versions: clients[0]?.versions ?? null,
		driverOptions: clients[0]?.driverOptions ?? null,
		brokerUrl: run?.brokerUrl ?? null,
		brokerVersion: run?.brokerVersion ?? null,
		sameHost: run?.sameHost ?? null,
		...countersOf(counters.window, intendedInWindow(plan)),
		clientDropped: totals?.clientDropped ?? null,
		foreign: totals?.foreign ?? null,
		warmup: countersOf(counters.warmup, plan.schedule.warmupMessages),
		metrics: {
			response: summarise(facts, "response"),
			service: summarise(facts, "service"),
			lag: summarise(facts, "lag"),
			queued: summarise(facts, "queued"),
			ack: summarise(facts, "ack"),
		},
		throughput: {
			sent: acked === null ? null : acked / seconds,
			received: tallyOf(collected, "throughput"),
			achieved: tallyOf(collected, "achieved"),
		},
		series: {
			seconds: responseSeconds(facts),
			ticks: [...collected.ticks],
		},
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

function loadOf({ plan }: Collected): Run["load"] {
	const { schedule } = plan;
	return {
		broker: plan.broker,
		durability: plan.durability,
		target: plan.target,
		pattern: plan.pattern,
		rate: schedule.rate,
		warmupNs: schedule.warmupNs,
		durationNs: schedule.durationNs,
		drainNs: plan.drainNs,
		timeoutNs: plan.timeoutNs,
		messageBytes: plan.message.bytes,
		payload: plan.message.payload,
		connections: plan.connections,
		producers: plan.producers,
		topics: plan.topics.length,
		clients: plan.client.count,
		inFlight: plan.inFlight,
	};
}

function countersOf(c: Counters | null, intended: number): Run["warmup"] {
	return {
		intended: c?.intended ?? intended,
		notOffered: c?.notOffered ?? null,
		sent: c?.sent ?? null,
		acked: c?.acked ?? null,
		failed: c?.failed ?? null,
		unknown: c?.unknown ?? null,
		received: c?.received ?? null,
		lost: c?.lost ?? null,
		duplicated: c?.duplicated ?? null,
		reordered: c?.reordered ?? null,
		late: c?.late ?? null,
	};
}
