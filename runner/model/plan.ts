import { z } from "zod";
import { formatDurationExact } from "../units.ts";
import { Count, listOf, maybe, Ns } from "./field.ts";
import { CATCH_UP, loadInPlan, Message, Pattern, Schedule } from "./load.ts";
import { Tally } from "./tallies.ts";
import { FAULT_ACTIONS, TARGETS } from "./targets.ts";
import { Acknowledge, promisesInPlan, receivingInPlan, sendingInPlan } from "./workload.ts";

/** All but `service`, `lag` and `queued` count from the intended time. `last` (fan-out): the slowest subscriber's copy. */
export const Metric = z.enum(["response", "service", "lag", "queued", "ack", "last"]);
export type Metric = z.infer<typeof Metric>;

export function byMetric<T>(of: (metric: Metric) => T): Record<Metric, T> {
	return Object.fromEntries(Metric.options.map((metric) => [metric, of(metric)])) as never;
}

const PercentileSla = z.strictObject({
	kind: z.literal("percentile"),
	text: z.string(),
	metric: Metric,
	percentile: z.number().gt(0).lt(100),
	op: z.enum(["<", "<="]),
	limitNs: Ns,
	abort: z.boolean(),
});

const MaxSla = PercentileSla.omit({ percentile: true }).extend({ kind: z.literal("max") });

export const LatencySla = z.discriminatedUnion("kind", [PercentileSla, MaxSla]);
export type LatencySla = z.infer<typeof LatencySla>;

/** `limit` is in the unit of its tally. `abort`: a run that cannot pass this any more is stopped. */
export const Sla = z.discriminatedUnion("kind", [
	PercentileSla,
	MaxSla,
	z.strictObject({
		kind: z.literal("tally"),
		text: z.string(),
		tally: Tally,
		op: z.enum(["<", "<=", "==", ">=", ">"]),
		limit: z.number().nonnegative(),
		/** "failed == all": the limit is the number of messages, 0 before a plan counts them. */
		all: z.boolean().optional(),
		/** recovered: the latency line to meet again. A plan without one takes the first latency line. */
		until: LatencySla.optional(),
		abort: z.boolean(),
	}),
]);
export type Sla = z.infer<typeof Sla>;

/** Is it about the system's time to answer? Lag and queued are not. */
export function isOfAnswer(sla: Sla): sla is LatencySla {
	return sla.kind !== "tally" && sla.metric !== "lag" && sla.metric !== "queued";
}

/** `p99 <= baseline + 10%`: judged over all repeats of a system and case, never on one run. */
export const BaselineSla = z.strictObject({
	kind: z.literal("baseline"),
	text: z.string(),
	figure: z.string(),
	op: z.enum(["<", "<=", ">=", ">"]),
	margin: z.number().nonnegative(),
	/** A latency may be worse by at least this much: `max(baseline + 10%, baseline + 2ms)`. */
	allowanceNs: Ns.nullable().default(null),
});
export type BaselineSla = z.infer<typeof BaselineSla>;

export const Target = z.enum(TARGETS);
export type Target = z.infer<typeof Target>;

/** None / written to the OS / flushed every so often / on disk before the acknowledgement. */
export const LEVELS = ["memory", "os", "interval", "fsync"] as const;
export const Level = z.enum(LEVELS);
export type Level = z.infer<typeof Level>;

export const FaultAction = z.enum(FAULT_ACTIONS);
export type FaultAction = z.infer<typeof FaultAction>;

/** Of members of a group: stop politely, end as a killed process does, add, take nothing for a while. */
export const CONSUMER_ACTIONS = ["leave", "kill", "join", "pause"] as const;
export const AnyAction = z.enum([...FAULT_ACTIONS, "leave", "join"]);
export type AnyAction = z.infer<typeof AnyAction>;

/** What a fault is of. `count` consumers, null for brokers. */
export const faultOf = {
	of: z.enum(["brokers", "consumers"]).default("brokers"),
	action: AnyAction,
	count: Count.nullable().default(null),
};

/**
 * `plan.json`: one run spelled out. The k6 script opens it, every report is recomputed from it, xk6-mqbench/plan.go reads it: change
 * both. Times are integer ns, sizes bytes. It names secrets (`urlEnv`) and never holds one.
 */
export const Plan = z.strictObject({
	schema: z.literal(1),
	/** The run folder's name: the same for all runs of one command. */
	scenario: z.string(),
	runId: z.string(),
	/** From 1, in the order in which runs are made. */
	index: z.int().positive(),
	system: z.string(),
	case: z.string(),
	repeat: z.int().positive(),
	repeats: z.int().positive(),
	/** In every envelope; messages with another one are foreign. */
	runNumber: z.int().min(0).max(0xffffffff),
	broker: z.string(),
	durability: z.string(),
	durabilityLevel: Level.nullable().default(null),
	replicas: z.int().positive().nullable().default(null),
	acks: z.boolean().default(false),
	requestUsd: z.number().nullable().default(null),
	/** False: its clients connect to each other, or there are only clients. */
	server: z.boolean().default(true),
	urlEnv: z.string(),
	driverOptions: z.record(z.string(), z.json()),
	/** For a rig that stays up, the target that started it. */
	target: Target,
	pattern: Pattern,
	schedule: Schedule,
	/** `find: max-rate`: the case and the part of its search. The case as written (start) is not run itself. Null in an ordinary run. */
	search: maybe({
		role: z.enum(["start", "probe", "confirm", "curve"]),
		of: z.string(),
	}).default(null),
	/** The loads of a run, all made at once: one plan each, this one's included. */
	loads: z.int().positive().default(1),
	/** A load beside the run with that index, whose T0 is this much later; catch-up has the same T0, and begins to read then. Null in the run itself. */
	beside: maybe({ index: z.int().positive(), load: z.string(), startNs: Ns }).default(null),
	/** Clients write what became of each message, for a catch-up's counts. */
	ledger: z.boolean().default(false),
	...loadInPlan,
	...sendingInPlan,
	topics: z.array(z.string()).min(1),
	/** Each partition feeds one member of a group: surplus members get nothing. */
	groupsByPartition: z.boolean().default(false),
	replyTopics: z.array(z.string()).default([]),
	...receivingInPlan,
	/** False: the topics are the user's own, neither created nor removed. */
	create: z.boolean().default(true),
	/** atNs counts from T0. forNs is null if never undone (kill, leave, join). node counts from 1, null for all. leader: topics[0]'s at that moment. */
	faults: listOf({
		atNs: Ns,
		...faultOf,
		forNs: Ns.nullable(),
		node: z.union([z.int().positive(), z.literal("leader")]).nullable(),
		delayNs: Ns.nullable().default(null),
	}).default([]),
	/** CPU sets in taskset's notation ("0-3,8"). Null allows any core. */
	pin: z
		.strictObject({ generator: z.string().nullable(), brokers: z.string().nullable() })
		.default({ generator: null, brokers: null }),
	pacing: z
		.strictObject({ mode: z.enum(["auto", "spin", "sleep"]), apart: z.boolean() })
		.default({ mode: "auto", apart: false }),
	message: Message,
	...promisesInPlan,
	acknowledge: Acknowledge.default("automatic"),
	/** Seconds of the window that are recorded as one, to bound memory in long runs (plan/derive.ts). Absent means 1. */
	intervalSeconds: z.int().positive().optional(),
	/**
	 * Absent if a run that is cut begins again (plan/derive.ts). Otherwise its files get a checkpoint this often, and a segment that goes on
	 * has its part of the window from `resumeNs` on (since T0; 0: the first). It sends a warm-up before that; T0 is as long ago as if nothing
	 * had been cut.
	 */
	segments: z.strictObject({ checkpointNs: Ns, resumeNs: Ns }).optional(),
	/** Counted exactly by the generator, per 100 ms of intended time. */
	limits: z.array(z.strictObject({ metric: Metric, limitNs: Ns })),
	heartbeat: z.strictObject({
		slotsPerSecond: z.int().positive(),
		vus: z.int().positive(),
		/** For k6's executor: the schedule and 2 s. */
		durationNs: Ns,
		gracefulStopNs: Ns,
	}),
	/**
	 * Connection c (with its producers) is on client c mod count, consumer connection k on client k mod count. A k6 process derives its own
	 * index from the execution segment; plan.json always has 0.
	 */
	client: z.strictObject({ index: Count, count: z.int().positive() }),
	sla: z.array(Sla),
	baselineSla: z.array(BaselineSla).default([]),
	/** The system that those lines compare with, null for a file or folder (--baseline). Its plans have the others' lines for their figures. */
	baselineSystem: z.string().nullable().default(null),
	confirms: z.boolean().default(false),
	/** A percentile that the samples cannot support is an error, not INCONCLUSIVE. */
	strict: z.boolean(),
	quick: z.boolean().default(false),
});
export type Plan = z.infer<typeof Plan>;

/** Index of the run that it is, or that it is beside. */
export function mainOf(of: { index: number; beside?: Plan["beside"] | undefined }): number {
	return of.beside?.index ?? of.index;
}

/** Index of the plan whose messages it sends or reads. */
export function senderOf(plan: Pick<Plan, "index" | "beside" | "pattern">): number {
	return plan.pattern === CATCH_UP ? mainOf(plan) : plan.index;
}

/** From the main load's T0 to its own. */
export function t0AfterNs({ beside, pattern }: Pick<Plan, "beside" | "pattern">): number {
	return pattern === CATCH_UP ? 0 : (beside?.startNs ?? 0);
}

/** The line with a fixed limit instead, for rules about the metrics that a run has. */
export function subjectOf({ text, figure }: BaselineSla): Sla {
	const tally = Tally.safeParse(figure);
	if (tally.success)
		return { kind: "tally", text, tally: tally.data, op: ">=", limit: 0, abort: false };
	const [metric, percentile = ""] = figure.split(" ");
	return {
		kind: "percentile",
		text,
		metric: Metric.parse(metric),
		percentile: Number(percentile.slice(1)),
		op: "<",
		limitNs: 0,
		abort: false,
	};
}

export function isBaseline({ system, baselineSystem }: Plan): boolean {
	return system === baselineSystem;
}

/** "baseline + 10%", "baseline - 5%": the margin as judged, however it was written. */
export function baselineLimitText(line: Omit<BaselineSla, "text">): string {
	const { op, margin, allowanceNs } = line;
	const percent = Number((margin * 100).toPrecision(6));
	const part = `baseline ${op === "<" || op === "<=" ? "+" : "-"} ${percent}%`;
	return allowanceNs === null
		? part
		: `max(${part}, baseline + ${formatDurationExact(allowanceNs)})`;
}

export function marginAt(
	{ margin, allowanceNs }: Pick<BaselineSla, "margin" | "allowanceNs">,
	baselineNs: number | null,
): number {
	return allowanceNs === null || baselineNs === null || baselineNs <= 0
		? margin
		: Math.max(margin, allowanceNs / baselineNs);
}

/** Values in the schema's order, which is the file's; drops names that one of the two does not have. */
export function inOrder<T extends object>(
	schema: { readonly shape: Readonly<Record<keyof T, unknown>> },
	values: T,
): T {
	return Object.fromEntries(
		Object.keys(schema.shape)
			.filter((key) => key in values)
			.map((key) => [key, values[key as keyof T]]),
	) as T;
}

/** The first intended time of this segment, ns since T0 (beginNs in extensions/xk6-mqbench/generator/plan.go). */
export function beginNs({ segments, schedule }: Pick<Plan, "segments" | "schedule">): number {
	return Math.max(0, (segments?.resumeNs ?? 0) - schedule.warmupNs);
}

/** The broker is not set up for messages that exceed its limit on purpose. */
export function setUpBytes({ message }: Pick<Plan, "message">): number {
	return message.limitBytes ?? message.bytes;
}

/** Then clocks of several machines matter, and lost messages show only in all ledgers together. */
export function acrossClients({ client, pattern }: Pick<Plan, "client" | "pattern">): boolean {
	return (
		pattern === CATCH_UP ||
		(client.count > 1 &&
			(pattern === "fan-out" || pattern === "work-queue" || pattern === "backlog"))
	);
}

/** 30 s, and more for each connection, partition and subscription (SetUpTimeout in extensions/xk6-mqbench/generator/share.go). */
export function setUpMs(plan: Plan): number {
	const { connections, consumerConnections, partitions, bystanders } = plan;
	const topics = plan.topics.length;
	const replies = plan.replyTopics.length;
	const subscriptions =
		Math.max(plan.consumers, topics) + replies + plan.subscriptions * topics + bystanders;
	const parts = (topics + replies) * partitions + bystanders;
	return 30_000 + 100 * (connections + consumerConnections + parts + subscriptions);
}

/** Folder of a run below `runs/`: "01-nats-256B-3000-s-1". Only characters that every file system takes. */
export function runFolder(plan: Pick<Plan, "index" | "system" | "case" | "repeat">): string {
	return `${number(plan.index)}-${safe(plan.system)}-${safe(plan.case)}-${plan.repeat}`;
}

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
