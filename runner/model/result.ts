import { z } from "zod";
import { ClientLine, Connections, OffendersLine, SlowestLine, TotalsLine } from "./client-file.ts";
import { CommandFile } from "./command-file.ts";
import { Comparison, SaidFields } from "./comparison.ts";
import { countParts } from "./counts.ts";
import { EnvironmentFile } from "./environment-file.ts";
import { Count, described, flag, listOf, maybe } from "./field.ts";
import { loadInResult, Schedule } from "./load.ts";
import { byMetric, Metric, Plan } from "./plan.ts";
import { ClientEnd, FaultDone, NetworkPath, RunFile } from "./run-file.ts";
import { Series } from "./series.ts";
import { TallyUnit } from "./tallies.ts";
import { VERDICTS } from "./verdict.ts";
import { promisesInPlan, receivingInPlan, sendingInPlan } from "./workload.ts";

/** The content of a report (files: below). Within a `schema`, fields are only added. Times are ns. Not measured is null, never 0. */
const MaybeCount = Count.nullable();
const Ns = z.number().nonnegative();
const MaybeNumber = z.number().nonnegative().nullable();
const Times = { p50: Ns.nullable(), p99: Ns.nullable(), max: Ns.nullable() };
export const Verdict = z.enum(VERDICTS);

export const Percentile = z.strictObject({
	p: z.number().gt(0).lt(100),
	/** Null without support, and for percentiles among messages that never completed. */
	value: Ns.nullable(),
	/** 95 % interval; `high` is null without an upper bound. */
	low: Ns.nullable(),
	high: Ns.nullable(),
	/** ok: at least 10 independent samples are expected above it. weak: a rough value. none: too few samples. */
	support: z.enum(["ok", "weak", "none"]),
	/** Supported, but among the messages that never completed: "> timeout". */
	beyondTimeout: z.boolean(),
	/** The support is weak from this number of samples on. */
	needs: Count,
	/** Samples divided by the clustering of the samples above this percentile. Null if the clustering is unknown. */
	nEff: MaybeNumber,
});
export type Percentile = z.infer<typeof Percentile>;

export const MetricSummary = z.strictObject({
	unit: z.literal("ns"),
	count: Count,
	/** Includes messages that never completed; `count` does not. */
	n: Count,
	censored: Count,
	min: Ns.nullable(),
	mean: Ns.nullable(),
	max: Ns.nullable(),
	/** Values above 1 h, recorded as 1 h, and below 0, recorded as 0. */
	clamped: Count,
	negative: Count,
	percentiles: z.array(Percentile),
	/** Up to the last supported percentile; `total` samples have at most `value`. */
	curve: z.array(z.strictObject({ p: z.number().min(0).lt(100), value: Ns, total: Count })),
});
export type MetricSummary = z.infer<typeof MetricSummary>;

const Weak = flag("The support of lagP99 is weak; absent in older files: not known.").default(
	false,
);

/** A step of the load, or the "before", "build" and "drain" of a backlog. */
export const Phase = z.strictObject({
	name: z.string(),
	fromNs: Ns,
	toNs: Ns,
	intended: Count,
	rate: z.number().nonnegative(),
	metric: Metric,
	/** Null if this run has no such metric, or no message was due. */
	latency: MetricSummary.omit({ curve: true }).nullable(),
	lagP99: Ns.nullable(),
	lagP99Weak: Weak,
	/** Per second of real time, in whole seconds since T0. */
	throughput: z.strictObject({ sent: MaybeNumber, acked: MaybeNumber, received: MaybeNumber }),
});
export type Phase = z.infer<typeof Phase>;

export const Cause = z.enum(["machine", "fault"]);
export type Cause = z.infer<typeof Cause>;
const MaybeCause = Cause.nullable().default(null).meta({
	description:
		"What explains the FAIL: machine (it was saturated), fault (of the scenario itself); null: neither.",
});

export const Numbers = {
	/** Messages judged, over the limit, allowed over it, never completed; stalls; clustering. Null for counts and rates. */
	n: MaybeCount,
	over: MaybeCount,
	allowed: MaybeNumber,
	censored: MaybeCount,
	events: MaybeCount,
	phi: z.number().min(1).nullable(),
	cause: MaybeCause,
	/** Percentile or max, with its 95 % interval (max has none). `high` is null without an upper bound. */
	valueNs: Ns.nullable(),
	lowNs: Ns.nullable(),
	highNs: Ns.nullable(),
	/** The value is among messages that never completed, and above this (the timeout). */
	beyondNs: Ns.nullable(),
	/** limit / measured: 2 is twice as fast as required. */
	margin: MaybeNumber,
	tally: maybe({
		name: z.string(),
		value: z.number().nullable(),
		limit: z.number(),
		unit: TallyUnit,
	}),
	...SaidFields,
};

export const Gate = z.strictObject({
	sla: z.string(),
	system: z.string(),
	case: z.string(),
	verdict: Verdict,
	measured: z.string(),
	limit: z.string(),
	why: z.string(),
	/** `percentile` is null for a max; all are null for a count or rate. */
	metric: Metric.nullable(),
	percentile: z.number().gt(0).lt(100).nullable(),
	limitNs: Ns.nullable(),
	...Numbers,
	/** The numbers above are from the repeat with the worst verdict, if several from the one furthest from the limit. */
	repeats: listOf({
		repeat: Count,
		verdict: Verdict,
		measured: z.string(),
		why: z.string(),
		...Numbers,
	}),
	/** Its limit is a baseline's figure. By default an undecided one lets a build through. */
	compares: z.boolean(),
	comparison: Comparison.nullable(),
	/** In scenario.yaml, from 1. Null if not written there (a promise, --set). */
	line: z.int().positive().nullable(),
});
export type Gate = z.infer<typeof Gate>;

const counters = countParts("inResult");

/** A fault's effect on the run. Durations count from its `calledNs` (if null, from `beganNs`). */
export const Failover = z.strictObject({
	...FaultDone.omit({ runOver: true }).shape,
	/** The longest stretch without a completion (acknowledgement, else first receipt). 0 if the load explains all of them. */
	unavailableNs: Ns.nullable(),
	unavailableFromNs: Ns.nullable(),
	/** It lasted to the end of the run or into the next fault: the true value is larger. */
	unavailableStill: z.boolean(),
	noticedNs: Ns.nullable().default(null).meta({
		description:
			"Stretches without a completion count from this length on, because the load explains shorter ones; null: not counted, and absent in older files.",
	}),
	/** The latency line for `recoveredNs`: the one in `recovered(...)`, else the first of the SLA. */
	sla: z.string().nullable(),
	/** Until messages due from then on meet it again, in steps of 100 ms. 0 if they always did, null if never in this run or without a line. */
	recoveredNs: Ns.nullable(),
	drainedNs: Ns.nullable(),
	servedNs: Ns.nullable().default(null).meta({
		description:
			"Of consumers: until the last message that was due before the fault was received; 0: all had been. Null: see servedStill; of brokers; absent in older files.",
	}),
	servedStill: z.boolean().default(false).meta({ description: "Some of them never were." }),
	again: Count.nullable().default(null).meta({
		description: "Of consumers: copies of those messages that came after the fault.",
	}),
	drainedStill: flag(
		"drainedNs is null because messages waited until the next fault, or the end of the window; absent in older files: false.",
	).default(false),
});
export type Failover = z.infer<typeof Failover>;

const { inFlight, hold: _, ...sending } = sendingInPlan;

export const Run = z.strictObject({
	index: Count,
	system: z.string(),
	case: z.string(),
	repeat: Count,
	confirms: z.boolean(),
	search: Plan.shape.search,
	/** For a load beside another run. */
	beside: Plan.shape.beside.unwrap().unwrap().optional(),
	verdict: Verdict,
	cause: MaybeCause,
	/** Set when something other than the SLA decided. */
	why: z.string().nullable(),
	...SaidFields,
	/** The data is partial if interrupted, crashed or aborted (an SLA line could not pass any more). There is none if never. */
	state: z.enum(["complete", "interrupted", "aborted", "crashed", "never"]),
	abortedBy: z.string().nullable(),
	folder: z.string(),
	details: z.string().nullable(),
	startedAt: z.string().nullable(),
	load: z.strictObject({
		broker: z.string(),
		durability: z.string(),
		...Plan.pick({ target: true, pattern: true }).shape,
		rate: Schedule.shape.rate,
		schedule: Schedule,
		...Plan.pick({ phases: true, backlog: true, durabilityLevel: true }).shape,
		replicas: MaybeCount,
		acks: z.boolean(),
		...receivingInPlan,
		...Plan.pick({ pin: true, faults: true }).shape,
		...loadInResult,
		...sending,
		clients: Count,
		inFlight,
		/** Absent: not pattern connect. */
		hold: Count.optional(),
		checksum: z.boolean(),
		...promisesInPlan,
		acknowledge: Plan.shape.acknowledge,
		/** Absent if the run had no other load. */
		loads: Count.optional(),
	}),
	versions: ClientLine.shape.versions.nullable(),
	driverOptions: z.record(z.string(), z.string()).nullable(),
	brokerUrl: z.string().nullable(),
	/** From the rig; versions.server comes from the broker itself. */
	brokerVersion: z.string().nullable(),
	sameHost: z.boolean().nullable(),
	brokerSettings: z.record(z.string(), z.string()),
	/** Real time since T0. Closed loops: from the first message to the last receipt or acknowledgement. */
	window: z.strictObject({ startNs: Ns, endNs: Ns }),
	...counters,
	clientDropped: MaybeCount,
	/** Billed requests and their price in USD. Absent if the service bills none. */
	requests: z.strictObject({ count: Count, usd: z.number() }).optional(),
	foreign: MaybeCount,
	reconnects: MaybeCount,
	/** How long the broker held back at least one connection (quota, alarm). Absent if its protocol does not announce it. */
	throttledNs: Ns.optional(),
	connections: Connections.optional().meta({
		description:
			"Pattern connect, warm-up included: opened = held at the end + closed + gone (lost while held). Absent: another pattern, or attempts hung.",
	}),
	warmup: z.strictObject(counters),
	metrics: z.strictObject(byMetric(() => MetricSummary.nullable())),
	/** The run's metric in short tables: response, in a closed loop service, in a backlog ack. */
	main: Metric,
	phases: z.array(Phase),
	hours: described(
		listOf({
			/** Of the window. The last one may be shorter. */
			fromNs: Ns,
			toNs: Ns,
			/** The main metric's samples, and those that never came (null if not known). Percentiles count these as the largest. */
			count: Count,
			missing: MaybeCount,
			...Times,
			/** Received; without consumers acknowledged. */
			perSecond: z.number().nonnegative(),
			/** The highest sample of the broker's memory (RSS). */
			brokerBytes: MaybeCount,
		}),
		"By hour of the window, in runs of 2 h or more without steps; absent in others, and in older files.",
	).optional(),
	drain: maybe({
		peak: MaybeCount,
		/** So few waiting messages count as drained: 1000, for a large backlog 1 % of the peak. */
		drainedAt: z.number().nonnegative(),
		/** From the moment consumers resumed, to 0.1 s. If null, see `problem`. */
		drainNs: Ns.nullable(),
		/** Distinct receipts; a lower bound, because the drain may have ended up to one sample earlier. */
		perSecond: MaybeNumber,
		problem: z.string().nullable(),
		...SaidFields,
		/** Not drained for that long until the window's end; null if drained or meaningless. */
		undrainedNs: Ns.nullable(),
	}),
	/** Delays that counting from the actual send, as most tools do, would have hidden. */
	omission: maybe({
		percentiles: listOf({
			p: z.number().gt(0).lt(100),
			response: Ns.nullable(),
			service: Ns.nullable(),
			factor: MaybeNumber,
			/** response - service, ns; below 0 only by the histograms' rounding. */
			difference: z.number().nullable(),
		}),
		/** Sent while an earlier message of the connection was in flight: a tool that waits for each reply would have sent them later. */
		behind: MaybeCount,
	}),
	sizes: described(
		listOf({
			size: z.string(),
			toBytes: Count,
			intended: Count,
			...MetricSummary.pick({
				count: true,
				n: true,
				censored: true,
				max: true,
				percentiles: true,
			}).shape,
		}),
		"The main metric by size, if messages have several: a class for each, or the powers of four.",
	).optional(),
	breakdown: described(
		listOf({
			/** 100: the slowest message. */
			p: z.number().gt(0).max(100),
			/** Mean ns: response = queued + lag + service. All null if the percentile lies among messages that never completed. */
			response: z.number().nullable(),
			queued: Ns.nullable(),
			lag: Ns.nullable(),
			/** Below 0 if the clocks of sender and receiver disagree by more than it took. */
			service: z.number().nullable(),
			messages: Count,
			from: Ns.nullable(),
			to: Ns.nullable(),
		}),
		"What the messages around each percentile waited for: all in its bucket of response times (a sixteenth of an octave), and while they are fewer than 10, in the nearest buckets up to a quarter away. Percentiles without support are left out. Absent: the load has no response times, or an older mqbench did not count.",
	).optional(),
	/** Between T0 and the window's end, by time; warnings and worse if not all fit. `atNs`: since T0, by the node's clock. */
	brokerLog: z
		.strictObject({
			lines: listOf({
				atNs: z.int(),
				node: Count,
				serious: z.boolean(),
				text: z.string(),
				/** Lines of this node within 5 s of each other that differ in numbers only, this first one included. */
				times: Count,
			}),
			more: Count,
		})
		.optional(),
	/** response = queued + lag + service; `intendedNs` counts from T0. */
	slowest: SlowestLine.shape.messages,
	offenders: OffendersLine.shape.first,
	/** A short run of the same load without a broker, to measure the generator. `p99` is the best second's; `perSecond` for closed loops. */
	floor: maybe({
		folder: z.string(),
		problem: z.string().nullable(),
		count: Count,
		...Times,
		perSecond: MaybeNumber,
	}),
	/** Per second of the window's real time. sent: acknowledged messages (in a closed loop without acknowledgements, sent ones). */
	throughput: z.strictObject({
		sent: MaybeNumber,
		received: MaybeNumber,
		/** Send calls that did not fail. */
		achieved: MaybeNumber,
		sentHow: z.string().nullable(),
		receivedHow: z.string().nullable(),
	}),
	/** In the window, per message delivered (fan-out: per copy; without consumers: acknowledged, else sent). Null if no message or less than 1 s. */
	cost: maybe({
		messages: Count,
		/** CPU time of the broker's processes. Here and below, null if not all of them were sampled, or not near enough to the window's edges. */
		cpuPerMessageNs: Ns.nullable(),
		/** How far off it may be. */
		cpuWithinNs: Ns.nullable(),
		/** Messages per second of that CPU time. */
		messagesPerCoreSecond: MaybeNumber,
		/** Of the load generator, producers and consumers together. */
		generatorCpuPerMessageNs: Ns.nullable(),
		generatorMessagesPerCoreSecond: MaybeNumber,
		/** Bytes that the broker's processes sent to storage, by the kernel's count (write_bytes in /proc/<pid>/io). */
		diskPerMessageBytes: MaybeNumber,
		/** Bytes that the broker's hosts sent; null if it shares a host with the generator or a second node. */
		networkPerMessageBytes: MaybeNumber,
	}).default(null),
	series: Series,
	/** By index; empty for a single client on this machine. */
	clients: listOf({
		...ClientEnd.shape,
		intended: MaybeCount,
		sent: MaybeCount,
		/** p99 of its own lateness in the window; cores that it used. */
		lagP99: Ns.nullable(),
		lagP99Weak: Weak,
		cores: MaybeNumber,
	}),
	/** Between the first and the last client's first claim. Null with one client, or if one never began. */
	startSkewNs: Ns.nullable(),
	/** Error bound of times across clients, 0 with one clock. Null if no message crosses from client to client. */
	clockBoundNs: Ns.nullable(),
	/** From each client that is a host to each broker node, before the run; absent in published reports. */
	network: z.array(NetworkPath).default([]),
	topology: z.string().nullable(),
	nodesShareHost: flag("Nodes share one host; absent in older files: false.").default(false),
	failover: z.array(Failover),
	generator: maybe({
		cpuNs: Ns,
		gcPauseNs: Ns,
		gcCycles: Count,
		schedLatencyP999Ns: Ns,
		firstClaimNs: z.number(),
		endNs: Ns,
		pacer: ClientLine.shape.pacer.nullable(),
	}),
	validity: listOf({
		check: z.string(),
		/** fail: cannot sustain the rate. inconclusive: messages did not complete, and no SLA line counts them. error: a bug in mqbench. */
		status: z.enum(["ok", "warn", "unknown", "inconclusive", "invalid", "fail", "error"]),
		detail: z.string(),
		figure: z.string().nullable(),
		limit: z.string().nullable(),
		...SaidFields,
		remedy: z.string().nullable(),
	}),
	notes: RunFile.shape.notes,
	errors: TotalsLine.shape.errors,
});
export type Run = z.infer<typeof Run>;

/** `find: max-rate` for one system and case. Rates are messages per second. */
export const Search = z.strictObject({
	system: z.string(),
	case: z.string(),
	repeat: Count,
	sla: z.array(z.string()),
	/** pass: a confirmed rate was found. fail: none meets the SLA. invalid: the generator ended it first. */
	verdict: Verdict,
	lo: MaybeNumber,
	hi: MaybeNumber,
	/** generator, interrupted: the system may sustain more. */
	limitedBy: z.enum(["system", "generator", "nothing", "error", "interrupted"]),
	confirmed: z.boolean(),
	answer: z.string(),
	runs: listOf({
		index: Count,
		role: z.enum(["probe", "confirm", "curve"]),
		rate: z.number().nonnegative(),
		verdict: Verdict,
		why: z.string().nullable().default(null),
		...Times,
	}),
});
export type Search = z.infer<typeof Search>;

export const Result = z.strictObject({
	schema: z.literal(2),
	scenario: z.string(),
	runId: z.string(),
	quick: z.boolean(),
	verdict: Verdict,
	cause: MaybeCause,
	/** Inconclusive only because of comparisons with a baseline: by default that lets a build through (exit code 0). */
	openBaselineOnly: z.boolean(),
	/** For verdict "error": a bug in mqbench, its environment, or a scenario that asks for too much. */
	errorCause: z.enum(["internal", "environment", "scenario"]).nullable(),
	damaged: z.array(z.strictObject({ file: z.string(), why: z.string() })).optional(),
	interruptedBy: z.string().nullable(),
	environment: EnvironmentFile.nullable(),
	runs: z.array(Run),
	gates: z.array(Gate),
	searches: z.array(Search),
	/** Comparisons that an SLA line asks for are in `gates` too. */
	comparisons: z.array(Comparison),
	command: CommandFile.omit({ schema: true }).nullable(),
});
export type Result = z.infer<typeof Result>;

/** `result.json`, and next to each run `details.json`, only for its charts and tables (reports/FORMATS.md, "result.json"). */
const Figures = MetricSummary.omit({ curve: true }).nullable();

export const RunInFile = z.strictObject({
	...Run.omit({ series: true, slowest: true, omission: true, brokerLog: true }).shape,
	metrics: z.strictObject(byMetric(() => Figures)),
});
export type RunInFile = z.infer<typeof RunInFile>;

export const ResultFile = z.strictObject({ ...Result.shape, runs: z.array(RunInFile) });
export type ResultFile = z.infer<typeof ResultFile>;

export const DetailsFile = z.strictObject({
	schema: z.literal(1),
	/** As in the result and its run: a repeated run leaves the details of its first try behind. */
	runId: Result.shape.runId,
	startedAt: Run.shape.startedAt,
	...Run.pick({ series: true, slowest: true, omission: true, brokerLog: true }).shape,
	curves: z.partialRecord(Metric, MetricSummary.shape.curve),
});
export type DetailsFile = z.infer<typeof DetailsFile>;
