import { brokers } from "../brokers/index.ts";
import type { Collected } from "../evidence/collect.ts";
import type { Counters } from "../model/client-file.ts";
import { byMetric, inOrder, type Plan } from "../model/plan.ts";
import { Run } from "../model/result.ts";
import { intendedInWindow, mainMetric } from "../plan/samples.ts";
import { meanBytes } from "../plan/sizes.ts";
import { coresOf } from "../verdict/checks/machine.ts";
import { clockBoundNs, startSkewNs } from "../verdict/checks/run.ts";
import { costOf } from "../verdict/cost.ts";
import { type Facts, lagByClient, windowOf } from "../verdict/facts.ts";
import { failoverOf } from "../verdict/faults.ts";
import { percentileOf } from "../verdict/quantile.ts";
import { drainOf } from "../verdict/queue.ts";
import { ratesOf } from "../verdict/rates.ts";
import type { RunVerdict } from "../verdict/run.ts";
import { breakdownOf } from "./breakdown.ts";
import { brokerLogOf } from "./broker-log.ts";
import { metricSeries } from "./broker-metrics.ts";
import { bySizeOf } from "./by-size.ts";
import { COUNTS, type Count } from "./fields.ts";
import { heatOf, mainSeconds, summarise } from "./metrics.ts";
import { omissionOf } from "./omission.ts";
import { hourly, phasesOf } from "./phases.ts";
import { hostSeries, nodeSeries, resourceSeries } from "./resources.ts";
import { detailsPath } from "./result-files.ts";

export function runOf(facts: Facts, judged: RunVerdict): Run {
	const { collected } = facts;
	const { plan, run, totals, counters, clients } = collected;
	const metrics = byMetric((metric) => summarise(facts, metric));
	const folder = `runs/${collected.folder}`;
	return {
		index: plan.index,
		system: plan.system,
		case: plan.case,
		repeat: plan.repeat,
		confirms: plan.confirms,
		search: plan.search,
		...(plan.beside && { beside: plan.beside }),
		verdict: judged.verdict,
		cause: judged.cause,
		why: judged.why,
		...codeOf(judged),
		state: collected.state,
		abortedBy: run?.abortedBy ?? null,
		folder,
		details: detailsPath({ folder }),
		startedAt: run?.startedAt ?? null,
		load: loadOf({ ...plan, durability: durabilityOf(collected) }),
		versions: clients[0]?.versions ?? null,
		driverOptions: clients[0]?.driverOptions ?? null,
		brokerUrl: run?.brokerUrl ?? null,
		brokerVersion: run?.brokerVersion ?? null,
		sameHost: plan.server ? (run?.sameHost ?? null) : null,
		brokerSettings: run?.brokerSettings ?? {},
		window: windowOf(collected),
		...countersOf(counters.window, intendedInWindow(plan)),
		clientDropped: totals?.clientDropped ?? null,
		...billed(totals?.requests ?? null, plan.requestUsd),
		foreign: totals?.foreign ?? null,
		reconnects: totals?.reconnects ?? null,
		...(totals?.throttledNs == null ? {} : { throttledNs: totals.throttledNs }),
		...(totals?.connections && { connections: totals.connections }),
		warmup: countersOf(counters.warmup, plan.schedule.warmupMessages),
		metrics,
		main: mainMetric(plan),
		phases: phasesOf(facts),
		hours: hourly(facts),
		drain: drainResult(collected),
		omission: omissionOf(metrics.response, metrics.service, counters.window?.behind ?? null),
		sizes: bySizeOf(facts),
		breakdown: breakdownOf(collected, metrics.response),
		brokerLog: brokerLogOf(collected, windowOf(collected)),
		slowest: [...collected.slowest],
		offenders: collected.offenders,
		floor: facts.floor,
		throughput: ratesOf(collected),
		cost: costOf(collected),
		series: {
			seconds: mainSeconds(facts),
			heat: heatOf(facts),
			ticks: [...collected.ticks],
			resources: resourceSeries(collected),
			hosts: hostSeries(collected),
			brokerHosts: nodeSeries(collected),
			brokerMetrics: metricSeries(collected),
		},
		clients: clientsOf(facts),
		startSkewNs: startSkewNs(collected),
		clockBoundNs: clockBoundNs(collected),
		network: run?.network ?? [],
		topology: run?.topology ?? null,
		nodesShareHost: run?.nodesShareHost ?? false,
		failover: failoverOf(collected),
		generator:
			totals &&
			inOrder<NonNullable<Run["generator"]>>(Run.shape.generator.unwrap(), {
				...totals,
				pacer: clients[0]?.pacer ?? null,
			}),
		validity: [...judged.checks],
		notes: run?.notes ?? [],
		errors: totals?.errors ?? [],
	};
}

export function loadOf(plan: Plan): Run["load"] {
	const { schedule, message, topics, client, loads, ...rest } = plan;
	const { sizes, ...payload } = message;
	return inOrder<Run["load"]>(Run.shape.load, {
		...rest,
		...payload,
		...(sizes && { sizes: sizes.text }),
		schedule,
		rate: schedule.rate,
		warmupNs: schedule.warmupNs,
		durationNs: schedule.durationNs,
		messageBytes: meanBytes(message),
		topics: topics.length,
		clients: client.count,
		...(loads > 1 && { loads }),
		hold: plan.pattern === "connect" ? plan.hold : undefined,
	});
}

// --- internal ---

/** In the plan's words for the version that ran. */
function durabilityOf({ plan, run, clients }: Collected): Plan["durability"] {
	const server = clients[0]?.versions.server || run?.brokerVersion;
	return (
		(server && brokers[plan.broker]?.durabilityOn?.(plan.durability, server)) || plan.durability
	);
}

function codeOf({ code, values }: Pick<RunVerdict, "code" | "values">) {
	return code === null || values === null ? {} : { code, values };
}

/** Requests of the whole run, with preparation and removal. */
function billed(count: number | null, requestUsd: number | null): Pick<Run, "requests"> {
	return count === null || requestUsd === null
		? {}
		: { requests: { count, usd: count * requestUsd } };
}

function drainResult(collected: Collected): Run["drain"] {
	const drain = drainOf(collected);
	if (drain === null) return null;
	// mostPerSecond is for gates.
	const { open, mostPerSecond: _, ...figures } = drain;
	return { ...figures, problem: open?.text ?? null, ...(open && codeOf(open)) };
}

function countersOf(counters: Counters | null, intended: number): Run["warmup"] {
	const count = (name: Count) => {
		if (name === "intended") return counters?.intended ?? intended;
		// Without consumers nothing could arrive twice: not measured, which is not 0.
		const receipts = name === "duplicated" || name === "redelivered";
		return receipts && counters?.received === null ? null : (counters?.[name] ?? null);
	};
	return Object.fromEntries(COUNTS.map((name) => [name, count(name)])) as Run["warmup"];
}

const LOCAL = { kind: "local", machine: null, k6Exit: null, k6Signal: null, clock: null } as const;

/** Empty for a single local client, whose figures are the run's. */
function clientsOf(facts: Facts): Run["clients"] {
	const { parts } = facts.collected;
	if (parts.length === 1 && (parts[0]?.end ?? LOCAL).kind === "local") return [];
	const lags = lagByClient(facts);
	return parts.map((part) => {
		const { index, name, end, totals } = part;
		const own = lags.find((lag) => lag.part === part);
		const merged = own && new Map([["lag", own.merged]]);
		const p99 =
			parts.length === 1
				? percentileOf(facts, "lag", 99)
				: merged && percentileOf({ ...facts, merged }, "lag", 99, own.sample);
		const cores = coresOf(facts, part);
		return inOrder<Run["clients"][number]>(Run.shape.clients.element, {
			index,
			name,
			...(end ?? LOCAL),
			// Only its files show that it broke off, and when it began.
			error: part.problem,
			firstClaimNs: totals?.firstClaimNs ?? end?.firstClaimNs ?? null,
			intended: part.counters.window?.intended ?? null,
			sent: part.counters.window?.sent ?? null,
			lagP99: p99?.value ?? null,
			lagP99Weak: p99?.support === "weak",
			cores: cores === null ? null : Number(cores.toPrecision(6)),
		});
	});
}
