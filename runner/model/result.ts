import { z } from "zod";
import { ClientLine, OffendersLine, SlowestLine, TickLine, TotalsLine } from "./client-file.ts";
import { CommandFile } from "./command-file.ts";
import { Comparison } from "./comparison.ts";
import { countParts } from "./counts.ts";
import { EnvironmentFile } from "./environment-file.ts";
import { loadInResult, Schedule } from "./load.ts";
import { byMetric, Metric, Plan } from "./plan.ts";
import { ClientEnd, FaultDone, NetworkPath, RunFile } from "./run-file.ts";
import { SaidFields } from "./said.ts";
import { TallyUnit } from "./tallies.ts";
import { VERDICTS } from "./verdict.ts";
import { promisesInPlan, receivingInPlan, sendingInPlan } from "./workload.ts";

/** Everything that a report shows (files: result-file.ts). Within a `schema`, fields are only added. Times are ns. null: not measured, never 0 instead. */
const Count = z.int().nonnegative();
const MaybeCount = Count.nullable();
const Ns = z.number().nonnegative();
export const Verdict = z.enum(VERDICTS);

export const Percentile = z.strictObject({
	p: z.number().gt(0).lt(100),
	/** null without support, and when the percentile lies among the messages that never completed. */
	value: Ns.nullable(),
	/** 95 % interval; high is null when no upper bound exists. */
	low: Ns.nullable(),
	high: Ns.nullable(),
	/** ok: at least 10 independent samples are expected above it; weak: a value, but no firm one; none: too few. */
	support: z.enum(["ok", "weak", "none"]),
	/** Supported, but among the messages that never completed: "> timeout". */
	beyondTimeout: z.boolean(),
	/** Samples from which on it has a value at all. */
	needs: Count,
	/** Samples divided by the clustering of those above this percentile; null: the clustering is not known. */
	nEff: z.number().nonnegative().nullable(),
});
export type Percentile = z.infer<typeof Percentile>;

export const MetricSummary = z.strictObject({
	unit: z.literal("ns"),
	/** Messages with a value. */
	count: Count,
	/** Messages that the percentiles are of: with those that never completed. */
	n: Count,
	censored: Count,
	/** Exact, of those with a value; null when there are none. */
	min: Ns.nullable(),
	mean: Ns.nullable(),
	max: Ns.nullable(),
	/** Values above 1 h, recorded as 1 h, and below 0, recorded as 0. */
	clamped: Count,
	negative: Count,
	percentiles: z.array(Percentile),
	/** The distribution up to the last supported percentile: `total` samples have at most `value`. */
	curve: z.array(z.strictObject({ p: z.number().min(0).lt(100), value: Ns, total: Count })),
});
export type MetricSummary = z.infer<typeof MetricSummary>;

const Weak = z
	.boolean()
	.default(false)
	.meta({ description: "The support of lagP99 is weak; absent in older files: not known." });

/** A part of the window: a step of the load, or the "before", "build" and "drain" of a backlog. */
export const Phase = z.strictObject({
	name: z.string(),
	/** ns from the window's start. */
	fromNs: Ns,
	toNs: Ns,
	/** Messages that were due, and how many per second that was. */
	intended: Count,
	rate: z.number().nonnegative(),
	/** What `latency` is of: response, in a backlog ack. */
	metric: Metric,
	/** Of the messages that were due in it; null: this run has no such metric, or there were none. */
	latency: MetricSummary.omit({ curve: true }).nullable(),
	/** p99 of the generator's own lateness; null: too few messages. */
	lagP99: Ns.nullable(),
	lagP99Weak: Weak,
	/** Per second of real time, by seconds since T0: send calls, acknowledgements, first receipts; null: there are none. */
	throughput: z.strictObject({
		sent: z.number().nonnegative().nullable(),
		acked: z.number().nonnegative().nullable(),
		received: z.number().nonnegative().nullable(),
	}),
});
export type Phase = z.infer<typeof Phase>;

/** What explains a FAIL beside the system. */
export const Cause = z.enum(["machine"]);
export type Cause = z.infer<typeof Cause>;
const MaybeCause = Cause.nullable()
	.default(null)
	.meta({ description: "machine: saturated, which explains the FAIL; null: it does not." });

/** What a judgement of an SLA line counts, as a gate and each of its repeats have it. */
export const Numbers = {
	/** Messages judged, over the limit, allowed to be over it, never completed; stalls; clustering. null for counts and rates. */
	n: MaybeCount,
	over: MaybeCount,
	allowed: z.number().nonnegative().nullable(),
	censored: MaybeCount,
	events: MaybeCount,
	phi: z.number().min(1).nullable(),
	cause: MaybeCause,
	/** Of a percentile or max: the value and its 95 % interval (of a max none); high is null when no upper bound exists. */
	valueNs: Ns.nullable(),
	lowNs: Ns.nullable(),
	highNs: Ns.nullable(),
	/** The value is among messages that never completed, and more than this (the timeout); null: it is not, or the run was stopped. */
	beyondNs: Ns.nullable(),
	/** limit / measured: 2 is twice as fast as asked for, 0.5 twice as slow. */
	margin: z.number().nonnegative().nullable(),
	/** Of a count, a rate or a time: "lost", what was measured (null: nothing) and what it was compared with. null for latencies. */
	tally: z
		.strictObject({
			name: z.string(),
			value: z.number().nullable(),
			limit: z.number(),
			unit: TallyUnit,
		})
		.nullable(),
	...SaidFields,
};

export const Gate = z.strictObject({
	sla: z.string(),
	system: z.string(),
	case: z.string(),
	verdict: Verdict,
	/** For people; of several repeats all, in their order. */
	measured: z.string(),
	limit: z.string(),
	why: z.string(),
	/** What it judges: a percentile of a metric, the max of a metric (percentile null), or a count or rate (all null). */
	metric: Metric.nullable(),
	percentile: z.number().gt(0).lt(100).nullable(),
	limitNs: Ns.nullable(),
	...Numbers,
	/** The same for each repeat; the numbers above are of the one furthest from the limit of those with the worst verdict. */
	repeats: z.array(
		z.strictObject({
			repeat: Count,
			verdict: Verdict,
			measured: z.string(),
			why: z.string(),
			...Numbers,
		}),
	),
	/** Its limit is a baseline's figure: undecided, it lets a build through by default. */
	compares: z.boolean(),
	/** What such a gate has compared; null: a gate with a fixed limit, or nothing could be compared. */
	comparison: Comparison.nullable(),
	/** Where the SLA line stands in scenario.yaml, from 1; null: not written there (a promise, --set). */
	line: z.int().positive().nullable(),
});
export type Gate = z.infer<typeof Gate>;

const counters = countParts("inResult");

/** What a process and its children used, between two samples; null: not known. */
const Used = z
	.strictObject({
		cores: z.number().nonnegative().nullable(),
		rssBytes: MaybeCount,
		readBytesPerSecond: z.number().nonnegative().nullable(),
		writeBytesPerSecond: z.number().nonnegative().nullable(),
	})
	.nullable();

/** Cores that were busy, and that the hypervisor took, between two samples. */
const MachineUsed = z.strictObject({
	busyCores: z.number().nonnegative().nullable(),
	stealCores: z.number().nonnegative().nullable(),
});

/** Over all network interfaces but the loopback; null: not known. */
const Network = z
	.strictObject({
		rxBytesPerSecond: z.number().nonnegative().nullable(),
		txBytesPerSecond: z.number().nonnegative().nullable(),
	})
	.nullable();

/** What a fault did to the run. Times without another word are durations in ns, counted from its `calledNs` (null: from `beganNs`). */
export const Failover = z.strictObject({
	...FaultDone.omit({ runOver: true }).shape,
	/** The longest stretch without a completion (acknowledgement, else first receipt) in or after it; 0: none longer than the load explains; null: not counted. */
	unavailableNs: Ns.nullable(),
	/** When that stretch began, since T0. */
	unavailableFromNs: Ns.nullable(),
	/** It had not ended when the run did, or one of them had not when the next fault began: the longest is at least so long. */
	unavailableStill: z.boolean(),
	noticedNs: Ns.nullable().default(null).meta({
		description:
			"Stretches without a completion are told from this length on, as the load explains shorter ones; null: not counted, and absent in older files.",
	}),
	/** The latency line that `recoveredNs` is about: that of `recovered(...)`, else the first of the SLA; null: there is none. */
	sla: z.string().nullable(),
	/** Until messages due from then on keep to it again, in pieces of 100 ms; 0: they always did; null: never in this run, or no line. */
	recoveredNs: Ns.nullable(),
	/** Until no more messages are in flight than before it; null: never in this run, or not counted. */
	drainedNs: Ns.nullable(),
	drainedStill: z.boolean().default(false).meta({
		description:
			"drainedNs is null because messages waited until the next fault, or the end of the window; absent in older files: false.",
	}),
});
export type Failover = z.infer<typeof Failover>;

const { inFlight, ...sending } = sendingInPlan;

export const Run = z.strictObject({
	index: Count,
	system: z.string(),
	case: z.string(),
	repeat: Count,
	/** One of the repeats that --confirm has added, as an SLA was breached or undecided. */
	confirms: z.boolean(),
	/** Which part of a search for the highest rate it is; null: a run like any other. */
	search: Plan.shape.search,
	verdict: Verdict,
	cause: MaybeCause,
	/** Why, when it was not the SLA that decided. */
	why: z.string().nullable(),
	...SaidFields,
	/** interrupted, crashed: partial data; aborted: mqbench stopped it, as an SLA could not pass any more; never: no data. */
	state: z.enum(["complete", "interrupted", "aborted", "crashed", "never"]),
	/** The SLA line that stopped the run. */
	abortedBy: z.string().nullable(),
	/** Folder of the raw data, relative to the result. */
	folder: z.string(),
	/** File of what only charts and tables of this run need (series, curves, slowest messages), relative to the result; null: there is none. */
	details: z.string().nullable(),
	startedAt: z.string().nullable(),
	/** What was run, as the plan says. */
	load: z.strictObject({
		broker: z.string(),
		durability: z.string(),
		target: Plan.shape.target,
		pattern: Plan.shape.pattern,
		/** null: a closed loop has none. poisson: the mean; stages: the highest. */
		rate: Schedule.shape.rate,
		/** The shape of the load. */
		schedule: Schedule,
		phases: Plan.shape.phases,
		backlog: Plan.shape.backlog,
		/** The level that the scenario asks for; null: the broker's own. */
		durabilityLevel: Plan.shape.durabilityLevel,
		replicas: MaybeCount,
		acks: z.boolean(),
		...receivingInPlan,
		pin: Plan.shape.pin,
		faults: Plan.shape.faults,
		...loadInResult,
		...sending,
		clients: Count,
		inFlight,
		checksum: z.boolean(),
		...promisesInPlan,
		acknowledge: Plan.shape.acknowledge,
	}),
	/** What it ran on; null where no client has said. */
	versions: ClientLine.shape.versions.nullable(),
	driverOptions: z.record(z.string(), z.string()).nullable(),
	brokerUrl: z.string().nullable(),
	/** What the rig says of the broker; versions.server is what the broker itself says. */
	brokerVersion: z.string().nullable(),
	/** True: generator and broker took CPU from each other. */
	sameHost: z.boolean().nullable(),
	/** The broker's settings that durability and `config` came to, with their real names. */
	brokerSettings: z.record(z.string(), z.string()),
	/** The window in real time, ns since T0. Of a closed loop from its first message to the last receipt or acknowledgement. */
	window: z.strictObject({ startNs: Ns, endNs: Ns }),
	/** Of the window. */
	...counters,
	/** Of the whole run. */
	clientDropped: MaybeCount,
	/** Requests to a service that bills them, and what they would cost, USD. Left out: it bills none. */
	requests: z.strictObject({ count: Count, usd: z.number() }).optional(),
	foreign: MaybeCount,
	/** Connections that the client library made anew. */
	reconnects: MaybeCount,
	/** How long the broker held back at least one connection (quota, alarm). Left out: its protocol does not tell. */
	throttledNs: Ns.optional(),
	/** The same counts of the warm-up. */
	warmup: z.strictObject(counters),
	/** null: the load or the system has none, as without acknowledgements. */
	metrics: z.strictObject(byMetric(() => MetricSummary.nullable())),
	/** The metric that stands for the run in short tables and over time: response, in a closed loop service, in a backlog ack. */
	main: Metric,
	/** In their order; empty: the window is one. */
	phases: z.array(Phase),
	/** How a backlog was worked off; null: the run built none, or nothing was counted. */
	drain: z
		.strictObject({
			/** Most messages that waited at once. */
			peak: MaybeCount,
			/** So many or fewer waiting count as drained: 1000, of a large backlog 1 % of the peak. */
			drainedAt: z.number().nonnegative(),
			/** From the moment consumers went on, to a tenth of a second; null: see `problem`. */
			drainNs: Ns.nullable(),
			/** Distinct receipts per second of that time. */
			perSecond: z.number().nonnegative().nullable(),
			problem: z.string().nullable(),
			...SaidFields,
			/** How long it was in vain that consumers went on, to the end of the window. */
			undrainedNs: Ns.nullable(),
		})
		.nullable(),
	/** What counting from the actual send, as most tools do, would have hidden; null: nothing was measured. */
	omission: z
		.strictObject({
			percentiles: z.array(
				z.strictObject({
					p: z.number().gt(0).lt(100),
					response: Ns.nullable(),
					service: Ns.nullable(),
					/** response / service. */
					factor: z.number().nonnegative().nullable(),
					/** response - service, ns; below 0 only by the histograms' rounding. */
					difference: z.number().nullable(),
				}),
			),
			/** Sent while an earlier message of their connection was in flight: a tool that waits for each reply would not have. */
			behind: MaybeCount,
		})
		.nullable(),
	breakdown: z
		.array(
			z.strictObject({
				/** 100: the slowest message. */
				p: z.number().gt(0).max(100),
				/** Means of those messages, ns: response = queued + lag + service. All null: the percentile lies among those that never completed. */
				response: z.number().nullable(),
				queued: Ns.nullable(),
				lag: Ns.nullable(),
				/** Below 0 where clocks of sender and receiver disagree by more than it took. */
				service: z.number().nullable(),
				/** How many they are, and between which response times they lie; of a fan-out copies. */
				messages: Count,
				from: Ns.nullable(),
				to: Ns.nullable(),
			}),
		)
		.optional()
		.meta({
			description:
				"What the messages around each percentile waited for: all in its bucket of response times (a sixteenth of an octave), and while they are fewer than 10, in the nearest buckets up to a quarter away. Percentiles without support are left out. Absent: the load has no response times, or an older mqbench did not count.",
		}),
	/**
	 * What the broker logged between T0 and the window's end, in order of time; if there is more than fits, warnings and worse are kept. Absent: nobody
	 * kept its log. `atNs` counts from T0, by the node's clock.
	 */
	brokerLog: z
		.strictObject({
			lines: z.array(
				z.strictObject({
					atNs: z.int(),
					/** From 1. */
					node: Count,
					/** By its own word a warning or worse. */
					serious: z.boolean(),
					text: z.string(),
					/** Lines of the node that differ from this one in numbers only, and follow each other within 5 s; this one, the first, included. */
					times: Count,
				}),
			),
			/** Lines of that time that none of these stands for. */
			more: Count,
		})
		.optional(),
	/** The slowest messages of the window; response = queued + lag + service. `intendedNs` counts from T0. */
	slowest: SlowestLine.shape.messages,
	/** The first message of each kind of offence, warm-up included. */
	offenders: OffendersLine.shape.first,
	/** The same load against nothing: what the generator itself takes. null: not measured. */
	floor: z
		.strictObject({
			folder: z.string(),
			/** Why it says nothing. */
			problem: z.string().nullable(),
			count: Count,
			p50: Ns.nullable(),
			p99: Ns.nullable(),
			max: Ns.nullable(),
			/** Of a closed loop: messages received per second. */
			perSecond: z.number().nonnegative().nullable(),
		})
		.nullable(),
	/** Messages per second of the window's real time. sent: acknowledged ones, null without acknowledgements; in a closed loop without any, those sent. */
	throughput: z.strictObject({
		sent: z.number().nonnegative().nullable(),
		received: z.number().nonnegative().nullable(),
		/** Really sent: send calls less those that failed. */
		achieved: z.number().nonnegative().nullable(),
		/** How the first two were reckoned, for people. */
		sentHow: z.string().nullable(),
		receivedHow: z.string().nullable(),
	}),
	series: z.strictObject({
		/** The main metric by second of intended time (of a closed loop: of the send call); 0 is the window's first, below 0 the warm-up. */
		seconds: z.array(
			z.strictObject({
				second: z.int(),
				/** So many seconds, of a long run; absent: one. */
				seconds: z.int().positive().optional(),
				count: Count,
				/** Samples that the messages due in it owe and that never came; null: not known (a closed loop, a run that was stopped). */
				missing: MaybeCount,
				/** Of all that were due; null: too few of them, or it lies among those that never completed. */
				p50: Ns.nullable(),
				p99: Ns.nullable(),
				/** Of those that completed. */
				max: Ns.nullable(),
				/** The generator's own lateness, and what blocking explains; null: not measured. */
				lag: z.strictObject({ p99: Ns.nullable(), max: Ns.nullable() }).nullable(),
				queued: z.strictObject({ p99: Ns.nullable(), max: Ns.nullable() }).nullable(),
			}),
		),
		/** The main metric's samples by second of intended time and latency; null: nothing was measured. */
		heat: z
			.strictObject({
				/** Lower bounds of the latency bins, ns, ascending, of equal ratio; the last one ends at `endNs`. */
				binsNs: z.array(Ns),
				endNs: Ns,
				/** Seconds that a column stands for; long runs have at most 300 columns. */
				width: z.int().positive(),
				/** First second of the column, bin, samples: only where there are some. */
				cells: z.array(z.tuple([z.int(), Count, z.int().positive()])),
			})
			.nullable(),
		/** By second of real time since T0, the warm-up's start. */
		ticks: z.array(TickLine.omit({ type: true, outstanding: true })),
		/** What the processes used, by second of real time since T0 (`at`: its end); empty: nobody has looked. */
		resources: z.array(
			z.strictObject({
				at: z.number(),
				generator: Used,
				broker: Used,
				machine: MachineUsed,
				network: Network,
			}),
		),
		/** The same of other machines that clients ran on; of a long run the most of each stretch of seconds, so that there are at most 1200 points in all. */
		hosts: z.array(
			z.strictObject({
				/** Index of the client that ran there. */
				client: Count,
				name: z.string(),
				points: z.array(
					z.strictObject({
						at: z.number(),
						generator: Used,
						machine: MachineUsed,
						network: Network,
					}),
				),
			}),
		),
		/** The same of hosts that the broker's nodes have for themselves; absent: it has none, or nobody has looked. */
		brokerHosts: z
			.array(
				z.strictObject({
					/** From 1. */
					node: Count,
					points: z.array(
						z.strictObject({ at: z.number(), machine: MachineUsed, network: Network }),
					),
				}),
			)
			.optional(),
	}),
	/** The clients of the run, by index, when there are several, or one that is not a process of this machine; else empty. */
	clients: z.array(
		z.strictObject({
			...ClientEnd.shape,
			/** Of its own messages in the window. */
			intended: MaybeCount,
			sent: MaybeCount,
			/** p99 of its own lateness in the window; cores that it used. */
			lagP99: Ns.nullable(),
			lagP99Weak: Weak,
			cores: z.number().nonnegative().nullable(),
		}),
	),
	/** How far apart the first and the last client began to claim; null: one client, or one of them never began. */
	startSkewNs: Ns.nullable(),
	/** Times across clients are exact to this much; 0: one clock; null: no message crosses from client to client. */
	clockBoundNs: Ns.nullable(),
	/** How far the network is from each client that is a host to each node of the broker, before the run; else empty, and absent in published reports. */
	network: z.array(NetworkPath).default([]),
	/** "3 nodes on 1 host"; null: not ours to know. */
	topology: z.string().nullable(),
	nodesShareHost: z
		.boolean()
		.default(false)
		.meta({ description: "Nodes share one host; absent in older files: false." }),
	/** What was done to the broker, in the order of time. */
	failover: z.array(Failover),
	generator: z
		.strictObject({
			cpuNs: Ns,
			gcPauseNs: Ns,
			gcCycles: Count,
			schedLatencyP999Ns: Ns,
			firstClaimNs: z.number(),
			endNs: Ns,
			pacer: ClientLine.shape.pacer.nullable(),
		})
		.nullable(),
	validity: z.array(
		z.strictObject({
			check: z.string(),
			/** fail: the system does not carry the rate. inconclusive: messages did not complete, and no SLA line counts them. error: mqbench contradicts itself, a bug of it. */
			status: z.enum(["ok", "warn", "unknown", "inconclusive", "invalid", "fail", "error"]),
			detail: z.string(),
			figure: z.string().nullable(),
			limit: z.string().nullable(),
			...SaidFields,
			/** What to do about it; null when ok. */
			remedy: z.string().nullable(),
		}),
	),
	notes: RunFile.shape.notes,
	errors: TotalsLine.shape.errors,
});
export type Run = z.infer<typeof Run>;

/** `find: max-rate` of one system and case: the highest rate that meets the SLA. Rates are messages per second. */
export const Search = z.strictObject({
	system: z.string(),
	case: z.string(),
	repeat: Count,
	/** The lines that a rate has to meet. */
	sla: z.array(z.string()),
	/** pass: a confirmed rate was found; fail: none meets the SLA; invalid: the generator ended it before one did. */
	verdict: Verdict,
	/** Highest rate that passed, confirmed by a longer run, and lowest that failed; null: there was none. */
	lo: z.number().nonnegative().nullable(),
	hi: z.number().nonnegative().nullable(),
	/** Who ended the search. generator: the system may carry more; interrupted: so it may, the command was stopped. */
	limitedBy: z.enum(["system", "generator", "nothing", "error", "interrupted"]),
	confirmed: z.boolean(),
	/** One sentence. */
	answer: z.string(),
	/** Every run of it by rate: the curve of latency over offered rate. */
	runs: z.array(
		z.strictObject({
			/** Of the run in `runs`. */
			index: Count,
			role: z.enum(["probe", "confirm", "curve"]),
			rate: z.number().nonnegative(),
			verdict: Verdict,
			/** Why it did not pass; null: it passed, or an older mqbench did not say. */
			why: z.string().nullable().default(null),
			p50: Ns.nullable(),
			p99: Ns.nullable(),
			max: Ns.nullable(),
		}),
	),
});
export type Search = z.infer<typeof Search>;

export const Result = z.strictObject({
	schema: z.literal(2),
	scenario: z.string(),
	runId: z.string(),
	/** Shortened by `--quick`, to see that the scenario works: the figures are not a result, though the verdict gives the exit code. */
	quick: z.boolean(),
	verdict: Verdict,
	cause: MaybeCause,
	/** Inconclusive, and only because comparisons with a baseline are: by default that lets a build through (exit code 0). */
	openBaselineOnly: z.boolean(),
	/** Why the verdict is "error": a bug of mqbench, something around it, or a scenario that asks for too much. */
	errorCause: z.enum(["internal", "environment", "scenario"]).nullable(),
	/** Files of the folder that could not be read, and what is missing for it; absent: none. */
	damaged: z
		.array(
			z.strictObject({
				/** From the folder: "runs/01-nats-256B-3000-s-1/plan.json". */
				file: z.string(),
				why: z.string(),
			}),
		)
		.optional(),
	/** Name of the signal. */
	interruptedBy: z.string().nullable(),
	environment: EnvironmentFile.nullable(),
	runs: z.array(Run),
	gates: z.array(Gate),
	searches: z.array(Search),
	/** Against a baseline; empty: there was none. Those that an SLA line asks for are in `gates` too. */
	comparisons: z.array(Comparison),
	/** How the command was given; null: not known. Passwords are hidden. */
	command: CommandFile.omit({ schema: true }).nullable(),
});
export type Result = z.infer<typeof Result>;
