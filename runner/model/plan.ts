import { z } from "zod";
import { loadInPlan, Message, Schedule } from "./load.ts";
import { Pattern } from "./pattern.ts";
import { Tally } from "./tallies.ts";
import { TARGETS } from "./targets.ts";
import { Acknowledge, promisesInPlan, receivingInPlan, sendingInPlan } from "./workload.ts";

/**
 * One run, completely spelled out: `plan.json`, which the k6 script opens and every report is recomputed from. Times are integer ns, sizes bytes. Go
 * reads it in `xk6-mqbench/plan.go`: change both. It names secrets (`urlEnv`) and never holds one.
 */
const Count = z.int().nonnegative();
const Ns = z.int().nonnegative();

/** Metrics of latency. All but `service`, `lag` and `queued` count from the intended time. `last` (fan-out): the slowest subscriber's copy. */
export const Metric = z.enum(["response", "service", "lag", "queued", "ack", "last"]);
export type Metric = z.infer<typeof Metric>;

/** Something of each metric. */
export function byMetric<T>(of: (metric: Metric) => T): Record<Metric, T> {
	return Object.fromEntries(Metric.options.map((metric) => [metric, of(metric)])) as never;
}

const PercentileSla = z.strictObject({
	kind: z.literal("percentile"),
	text: z.string(),
	metric: Metric,
	/** 0 < percentile < 100, e.g. 99.9. */
	percentile: z.number().gt(0).lt(100),
	op: z.enum(["<", "<="]),
	limitNs: Ns,
	abort: z.boolean(),
});

const MaxSla = z.strictObject({
	kind: z.literal("max"),
	text: z.string(),
	metric: Metric,
	op: z.enum(["<", "<="]),
	limitNs: Ns,
	abort: z.boolean(),
});

/** A line about a latency. */
export const LatencySla = z.discriminatedUnion("kind", [PercentileSla, MaxSla]);
export type LatencySla = z.infer<typeof LatencySla>;

/** One parsed SLA line. `limit` is in the unit of its tally. `abort`: a run that cannot pass this any more is stopped. */
export const Sla = z.discriminatedUnion("kind", [
	PercentileSla,
	MaxSla,
	z.strictObject({
		kind: z.literal("tally"),
		text: z.string(),
		tally: Tally,
		op: z.enum(["<", "<=", "==", ">=", ">"]),
		limit: z.number().nonnegative(),
		/** It asks for every message ("failed == all"): the limit is their number, 0 until a plan knows it. */
		all: z.boolean().optional(),
		/** recovered: the latency that has to be met again. In a scenario left out where none is written; a plan then has the first latency line. */
		until: LatencySla.optional(),
		abort: z.boolean(),
	}),
]);
export type Sla = z.infer<typeof Sla>;

/** Is it about how long the system takes to answer? Lag and queued are no answer of its. */
export function isOfAnswer(sla: Sla): sla is LatencySla {
	return sla.kind !== "tally" && sla.metric !== "lag" && sla.metric !== "queued";
}

/** `p99 <= baseline + 10%`: judged over all repeats of a system and case against a baseline's, never on one run. */
export const BaselineSla = z.strictObject({
	kind: z.literal("baseline"),
	text: z.string(),
	/** "response p99", "throughput": a name of Baseline.figures. */
	figure: z.string(),
	op: z.enum(["<", "<=", ">=", ">"]),
	/** Part by which it may be worse than the baseline: 0.1. */
	margin: z.number().nonnegative(),
	/** A latency may be worse by this much at least, `max(baseline + 10%, baseline + 2ms)`; null: only by the part. */
	allowanceNs: Ns.nullable().default(null),
});
export type BaselineSla = z.infer<typeof BaselineSla>;

/** Where brokers run: processes of this machine, containers of it, or somebody else's. */
export const Target = z.enum(TARGETS);
export type Target = z.infer<typeof Target>;

/** None / written to the OS / flushed every so often / on disk before the acknowledgement. */
export const LEVELS = ["memory", "os", "interval", "fsync"] as const;
export const Level = z.enum(LEVELS);
export type Level = z.infer<typeof Level>;

/** What may be done to a broker's nodes: freeze them, SIGKILL and start again, stop and start again, cut off their network, delay it. */
const FAULT_ACTIONS = ["pause", "kill", "restart", "partition", "latency"] as const;
export const FaultAction = z.enum(FAULT_ACTIONS);
export type FaultAction = z.infer<typeof FaultAction>;

export const Plan = z.strictObject({
	schema: z.literal(1),
	/** Name of the scenario and of the run folder: the same for all runs of one command. */
	scenario: z.string(),
	runId: z.string(),
	/** Position of this run, from 1, in the order in which runs are made. */
	index: z.int().positive(),
	/** Key of the system in the scenario, name of the case, number of the repeat from 1. */
	system: z.string(),
	case: z.string(),
	repeat: z.int().positive(),
	repeats: z.int().positive(),
	/** Number of this run in every envelope; messages with another one are foreign. */
	runNumber: z.int().min(0).max(0xffffffff),
	broker: z.string(),
	/** What the system promises about stored messages, for people: "none, nothing is stored". */
	durability: z.string(),
	/** The level that the scenario asks for; null: the broker's own. */
	durabilityLevel: Level.nullable().default(null),
	/** Replicas of every topic; null: the broker's own. */
	replicas: z.int().positive().nullable().default(null),
	/** Every message is acknowledged to its sender. */
	acks: z.boolean().default(false),
	/** What the service bills for a request, USD; null: nothing. */
	requestUsd: z.number().nullable().default(null),
	/** It has a server. false: its clients are connected to each other, or there is nothing but clients. */
	server: z.boolean().default(true),
	/** Environment variable that holds the broker's URL, password included. */
	urlEnv: z.string(),
	/** Options for the driver, passed on as they are. */
	driverOptions: z.record(z.string(), z.json()),
	/** Where its broker runs; of a rig that stays up: what stood it up. */
	target: Target,
	pattern: Pattern,
	schedule: Schedule,
	/** `find: max-rate`: which part of the search this run is, and of which case. start: the case as written, not run itself. null: an ordinary run. */
	search: z
		.strictObject({ role: z.enum(["start", "probe", "confirm", "curve"]), of: z.string() })
		.nullable()
		.default(null),
	...loadInPlan,
	...sendingInPlan,
	topics: z.array(z.string()).min(1),
	/** Each partition has one member of a group: those beyond their number get nothing. */
	groupsByPartition: z.boolean().default(false),
	/** request-reply: the topic of the replies to topics[t] is replyTopics[t]. Else empty. */
	replyTopics: z.array(z.string()).default([]),
	...receivingInPlan,
	/** False: the topics are the user's own, which are there already: none is made, none removed. */
	create: z.boolean().default(true),
	/**
	 * What is done to the broker in mid-run; atNs counts from T0. forNs null: never taken back (only kill). node: from 1; leader: of topics[0] at
	 * that moment; null: all.
	 */
	faults: z
		.array(
			z.strictObject({
				atNs: Ns,
				action: FaultAction,
				forNs: Ns.nullable(),
				node: z.union([z.int().positive(), z.literal("leader")]).nullable(),
				delayNs: Ns.nullable().default(null),
			}),
		)
		.default([]),
	/** CPU sets in the manner of taskset ("0-3,8"); null: wherever the kernel likes. */
	pin: z
		.strictObject({ generator: z.string().nullable(), brokers: z.string().nullable() })
		.default({ generator: null, brokers: null }),
	/** How the generator waits for a message's time; apart: no broker uses its cores. */
	pacing: z
		.strictObject({ mode: z.enum(["auto", "spin", "sleep"]), apart: z.boolean() })
		.default({ mode: "auto", apart: false }),
	message: Message,
	...promisesInPlan,
	/** When consumers acknowledge (request-reply: responders). */
	acknowledge: Acknowledge.default("automatic"),
	/** Seconds of the window that are recorded as one, so that long runs need no more memory (plan/interval.ts). Left out: 1. */
	intervalSeconds: z.int().positive().optional(),
	/** Latency limits that the generator counts exactly, per 100 ms of intended time. */
	limits: z.array(z.strictObject({ metric: Metric, limitNs: Ns })),
	heartbeat: z.strictObject({
		slotsPerSecond: z.int().positive(),
		vus: z.int().positive(),
		/** How long k6's executor lasts: the schedule and 2 s. */
		durationNs: Ns,
		gracefulStopNs: Ns,
	}),
	/**
	 * Clients that share the messages: connection c (with its producers) is on client c mod count, consumer connection k on client k mod count. A
	 * k6 process knows its own from the execution segment; `index` is 0 in every plan.json.
	 */
	client: z.strictObject({ index: Count, count: z.int().positive() }),
	/** The SLA lines that apply to this system and case. */
	sla: z.array(Sla),
	baselineSla: z.array(BaselineSla).default([]),
	/** The system that those are compared with; null: a file or folder (--baseline). Its own plans have the lines of all others, for their figures. */
	baselineSystem: z.string().nullable().default(null),
	/** One of the repeats that `--confirm` has added. */
	confirms: z.boolean().default(false),
	/** True: a percentile that the samples cannot carry is an error, not INCONCLUSIVE. */
	strict: z.boolean(),
	/** Shortened to see that the scenario works (`--quick`): no result. */
	quick: z.boolean().default(false),
});
export type Plan = z.infer<typeof Plan>;

/** The values in the order in which the schema, and so the file, has them; what it does not name is left out. */
export function inOrder<T extends object>(
	schema: { readonly shape: Readonly<Record<keyof T, unknown>> },
	values: T,
): T {
	return Object.fromEntries(
		Object.keys(schema.shape).map((key) => [key, values[key as keyof T]]),
	) as T;
}

/** Largest message that the broker is to take: it is not set up for those that exceed its limit on purpose. */
export function setUpBytes({ message }: Pick<Plan, "message">): number {
	return message.limitBytes ?? message.bytes;
}

/** Messages of one client are received by others: clocks of several machines matter, and only all ledgers together show what was lost. */
export function acrossClients({ client, pattern }: Pick<Plan, "client" | "pattern">): boolean {
	return (
		client.count > 1 && (pattern === "fan-out" || pattern === "work-queue" || pattern === "backlog")
	);
}

/**
 * How long a client may take to connect, make topics and subscribe: 30 s, and more for each connection, partition and subscription
 * (SetUpTimeout in extensions/xk6-mqbench/generator/share.go).
 */
export function setUpMs(plan: Plan): number {
	const { connections, consumerConnections, partitions, bystanders } = plan;
	const topics = plan.topics.length;
	const replies = plan.replyTopics.length;
	const subscriptions =
		Math.max(plan.consumers, topics) + replies + plan.subscriptions * topics + bystanders;
	const made =
		connections +
		consumerConnections +
		(topics + replies) * partitions +
		bystanders +
		subscriptions;
	return 30_000 + 100 * made;
}

/** Folder of a run below `runs/`: "01-nats-256B-3000-s-1". Only characters that every file system takes. */
export function runFolder(plan: Pick<Plan, "index" | "system" | "case" | "repeat">): string {
	return `${number(plan.index)}-${safe(plan.system)}-${safe(plan.case)}-${plan.repeat}`;
}

/** Folder of a floor below `floors/`: "01-256B-3000-s". */
export function floorFolder(plan: Pick<Plan, "index" | "case">): string {
	return `${number(plan.index)}-${safe(plan.case)}`;
}

// --- internal ---

function safe(text: string): string {
	return text.replaceAll(/[^A-Za-z0-9._]+/g, "-").replaceAll(/^[-.]+|-+$/g, "");
}

function number(index: number): string {
	return String(index).padStart(2, "0");
}
