import { z } from "zod";

/**
 * One run, completely spelled out: the file `plan.json` that the k6 script opens and that every
 * report is recomputed from. No optional fields; times are integer nanoseconds, sizes bytes.
 * Read by Go as `xk6-mqbench/plan.go`: change both. It names secrets (`urlEnv`) and never holds one.
 */
const Count = z.int().nonnegative();
const Ns = z.int().nonnegative();

/** Metrics of latency. All but `service`, `lag` and `queued` count from the intended time. */
export const Metric = z.enum(["response", "service", "lag", "queued", "ack"]);
export type Metric = z.infer<typeof Metric>;

/** Counters and rates an SLA may name. */
export const Tally = z.enum([
	"lost",
	"failed",
	"unknown",
	"duplicated",
	"reordered",
	"redelivered",
	"corrupted",
	"notOffered",
	"throughput",
	"achieved",
]);
export type Tally = z.infer<typeof Tally>;

/**
 * One parsed SLA line. `limit` is ns for latencies, messages for counts, messages/s for rates. `abort`: a run that
 * cannot pass this any more is stopped.
 */
export const Sla = z.discriminatedUnion("kind", [
	z.strictObject({
		kind: z.literal("percentile"),
		text: z.string(),
		metric: Metric,
		/** 0 < percentile < 100, e.g. 99.9. */
		percentile: z.number().gt(0).lt(100),
		op: z.enum(["<", "<="]),
		limitNs: Ns,
		abort: z.boolean(),
	}),
	z.strictObject({
		kind: z.literal("max"),
		text: z.string(),
		metric: Metric,
		op: z.enum(["<", "<="]),
		limitNs: Ns,
		abort: z.boolean(),
	}),
	z.strictObject({
		kind: z.literal("tally"),
		text: z.string(),
		tally: Tally,
		op: z.enum(["<", "<=", "==", ">=", ">"]),
		/** Messages, or messages per second for throughput and achieved. */
		limit: z.number().nonnegative(),
		abort: z.boolean(),
	}),
]);
export type Sla = z.infer<typeof Sla>;

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
	/** Environment variable that holds the broker's URL, password included. */
	urlEnv: z.string(),
	/** Options for the driver, passed on as they are. */
	driverOptions: z.record(z.string(), z.json()),
	target: z.enum(["local", "existing"]),
	pattern: z.enum(["round-trip"]),
	schedule: z.strictObject({
		kind: z.literal("constant"),
		/** `messages` per `perNs`: an exact ratio, offset(i) = floor(i * perNs / messages). */
		rate: z.strictObject({
			messages: z.int().positive(),
			perNs: z.int().positive(),
		}),
		warmupNs: Ns,
		durationNs: Ns,
		/** Messages intended before the window opens, and in all: those with offset < warmup + duration. */
		warmupMessages: Count,
		messages: Count,
	}),
	drainNs: Ns,
	timeoutNs: Ns,
	/** Most messages in flight per producer; null: no limit. */
	inFlight: z.int().positive().nullable(),
	connections: z.int().positive(),
	producers: z.int().positive(),
	topics: z.array(z.string()).min(1),
	message: z.strictObject({
		bytes: z.int().min(40),
		payload: z.enum(["random", "zeros"]),
		seed: Count,
		/** Every payload ends in its CRC32C, which is checked at the receipt. */
		checksum: z.boolean(),
	}),
	/** What is promised of each message, and so what is gated: at-least-once adds `lost == 0`, exactly-once `duplicated == 0` too. */
	delivery: z.enum(["at-most-once", "at-least-once", "exactly-once"]),
	/** per-producer adds `reordered == 0`. */
	order: z.enum(["none", "per-producer"]),
	/** Latency limits that the generator counts exactly, per 100 ms of intended time. */
	limits: z.array(z.strictObject({ metric: Metric, limitNs: Ns })),
	heartbeat: z.strictObject({
		slotsPerSecond: z.int().positive(),
		vus: z.int().positive(),
		/** How long k6's executor lasts: the schedule and 2 s. */
		durationNs: Ns,
		gracefulStopNs: Ns,
	}),
	client: z.strictObject({ index: Count, count: z.int().positive() }),
	/** The SLA lines that apply to this system and case. */
	sla: z.array(Sla),
	/** True: a percentile that the samples cannot carry is an error, not INCONCLUSIVE. */
	strict: z.boolean(),
});
export type Plan = z.infer<typeof Plan>;

/** Folder of a run below `runs/`: "01-nats-256B-3000-s-1". Only characters that every file system takes. */
export function runFolder(
	plan: Pick<Plan, "index" | "system" | "case" | "repeat">,
): string {
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
