import { z } from "zod";
import { countParts, countsWith } from "./counts.ts";
import { Count, listOf, maybe } from "./field.ts";
import { CONSUMER_ACTIONS, Metric } from "./plan.ts";

/**
 * `client-<i>.jsonl`, written by `extensions/xk6-mqbench/recorder`: change both. While incomplete, it is `.jsonl.part` (with `.hlog.part`).
 * Times are integer ns since T0 unless stated otherwise.
 */
const Tenths = z.array(Count).length(10);
const OwnTime = { cpuNs: Count, gcPauseNs: Count, gcCycles: Count };

export const ClientLine = z.strictObject({
	type: z.literal("client"),
	schema: z.literal(1),
	index: Count,
	/** Unix ns; a string because it exceeds 2^53. */
	t0UnixNs: z.string(),
	versions: z.strictObject({
		k6: z.string(),
		mqbench: z.string(),
		go: z.string(),
		driver: z.string(),
		library: z.string(),
		server: z.string(),
	}),
	driverOptions: z.record(z.string(), z.string()),
	capabilities: z.strictObject({
		acks: z.boolean(),
		/** "none" or "per-producer" (in one partition, or with one key). */
		order: z.string(),
	}),
	pacer: z.strictObject({
		timer: z.string(),
		leadNs: Count,
		spinNs: Count,
		/** The shortest sleep, where messages are too dense to sleep for each; else 0. */
		napNs: Count.default(0),
	}),
	cores: z.int().positive(),
});

/** One second of INTENDED time (closed loads: of the send call); 0 is the window's first, -1 the warm-up's last. Lines add up. */
const SecondLine = z.strictObject({
	type: z.literal("second"),
	second: z.int(),
	/** Long runs record several seconds as one. Absent means 1. */
	seconds: z.int().positive().optional(),
	metrics: z.partialRecord(
		Metric,
		z.strictObject({
			count: Count,
			/** Exact, in ns; the histogram keeps 3 digits. */
			sum: z.number().nonnegative(),
			min: Count,
			max: Count,
			/** Above 3.6e12 ns, recorded as that; `negative`: below 0, recorded as 0. */
			clamped: Count,
			negative: Count,
			lowest: z.int().negative().optional(),
		}),
	),
	/** For plan.limits[k], per tenth of the line: messages with the metric, messages above the limit (not at it), and above it without lag. */
	limits: listOf({ count: Tenths, over: Tenths, overWithoutLag: Tenths }),
});

/** One second of REAL time since T0 (`at`: its end, in seconds). */
export const TickLine = z.strictObject({
	type: z.literal("tick"),
	at: z.number(),
	seconds: z.int().positive().optional(),
	sent: Count,
	acked: Count.nullable(),
	received: Count,
	inFlight: Count,
	/** Messages in flight, counted ten times in this time. */
	backlog: z.array(Count),
	/** Where messages cross between clients: copies sent here so far less first receipts here. The sum over all clients is in flight. */
	outstanding: z.array(z.int()).optional(),
	/** Received by the client library and not yet handed over. Null if not counted, absent without receivers and in older files. */
	held: z.array(Count).nullable().optional(),
	...OwnTime,
});

/** Completions (acknowledgements, else first receipts) per 10 ms of one second of REAL time since T0. Lines of one second add up. */
const CompletionsLine = z.strictObject({
	type: z.literal("completions"),
	second: Count,
	seconds: z.int().positive().optional(),
	counts: z.array(Count).length(100),
});

/** Times of 5 ms or more in which this client could not run (stopped, throttled, no core). Not measured in closed loads, nor by noop. */
const StopsLine = z.strictObject({
	type: z.literal("stops"),
	stops: z.array(z.tuple([z.int(), z.int()])),
});

/** Faults of consumers, which this client carried out. `fault` is its place in the plan. */
const MembersLine = z.strictObject({
	type: z.literal("members"),
	/** Per member. `back`: the end of a leave or kill. Null if the run ended first, or with an error. */
	changes: listOf({
		fault: Count,
		member: Count,
		action: z.enum([...CONSUMER_ACTIONS, "back"]),
		beganNs: Count.nullable(),
		doneNs: Count.nullable(),
		error: z.string().optional(),
	}),
	/** Messages due before the fault: how many were received in all, the last first receipt after the fault (0: none), copies after it. */
	served: listOf({ fault: Count, received: Count, lastNs: Count, again: Count }),
});
export type Members = Omit<z.infer<typeof MembersLine>, "type">;

export const CountersLine = z.strictObject({
	type: z.literal("counters"),
	scope: z.enum(["warmup", "window"]),
	...countParts("recorded"),
});

export type CountersLine = z.infer<typeof CountersLine>;

export const Connections = z.strictObject({
	opened: Count,
	held: Count,
	closed: Count,
	gone: Count,
});

/** Totals of the whole run. Defaults are for reports/published/nats-stall, which is older than those fields. */
export const TotalsLine = z.strictObject({
	type: z.literal("totals"),
	/** Dropped by the client library. Here and for reconnects, null if the driver cannot count them. */
	clientDropped: Count.nullable(),
	requests: Count.nullable().default(null),
	foreign: Count,
	/** By real time. */
	sentInWindow: Count,
	ackedInWindow: Count.nullable(),
	receivedInWindow: Count,
	/** Sends that ended without an answer: `unknown` messages that then left flight. Absent if not recorded, or nothing is acknowledged. */
	unanswered: Count.optional(),
	reconnects: Count.nullable().default(0),
	/** connect: opened = held at the end + closed + gone (lost while held). Null for other patterns, and if attempts hung. */
	connections: Connections.nullable().default(null),
	/** How long the broker held back at least one connection (quota, alarm), ns. Null if its protocol does not announce it. */
	throttledNs: Count.nullable().default(null),
	/** First send call, last acknowledgement, first and last distinct receipt of the window's messages, ns since T0. */
	firstSendNs: z.int().nullable().default(null),
	lastAckNs: z.int().nullable().default(null),
	firstReceiveNs: z.int().nullable().default(null),
	lastReceiveNs: z.int().nullable().default(null),
	/** ns since T0: the plan's warmupNs; in a closed load the end of its warm-up. */
	windowStartNs: z.int().nullable().default(null),
	/** Relative to T0; negative is right. */
	firstClaimNs: z.int(),
	endNs: Count,
	/** How long the books then stayed open for further copies. Null in older recordings, or if no SLA line counts them. */
	lookedNs: Count.nullable().default(null),
	/** catch-up: when it began to read, when it had caught up (null: never), and how many messages it had received by then. Null: it never began. */
	catchUp: maybe({ beganNs: z.int(), untilNs: z.int().nullable(), messages: Count }).optional(),
	...OwnTime,
	schedLatencyP999Ns: Count,
	/** Suspension of the machine, which the run's clock does not count. Only on Linux, and absent in older files. */
	suspendedNs: z.int().optional(),
	/** As the library worded them, URLs masked, the commonest first, at most 20. `firstNs`: intended time. */
	errors: listOf({ message: z.string(), count: z.int().positive(), firstNs: z.int().nullable() }),
});

const Offender = z.strictObject({
	producer: Count,
	sequence: Count,
	/** From T0. Null in a closed load. */
	intendedNs: Count.nullable(),
});

export const OffendersLine = z.strictObject({
	type: z.literal("offenders"),
	first: z.partialRecord(z.enum(countsWith("offends")), Offender),
});

/** At most 20, the slowest first; responseNs = queuedNs + lagNs + serviceNs. */
export const SlowestLine = z.strictObject({
	type: z.literal("slowest"),
	messages: listOf({
		...Offender.shape,
		intendedNs: Count,
		topic: Count,
		partition: Count.nullable(),
		/** Below 0 if the clocks of sender and receiver disagree by more than it took. */
		responseNs: z.int(),
		queuedNs: Count,
		lagNs: Count,
		serviceNs: z.int(),
	}),
});

/** Response times of the window's messages (fan-out: copies) by ascending bucket; sums are exact. A percentile lies in one bucket. */
const BreakdownLine = z.strictObject({
	type: z.literal("breakdown"),
	buckets: listOf({
		/** Both edges are included. */
		fromNs: Count,
		toNs: Count,
		messages: z.int().positive(),
		// Sums may exceed 2^53.
		queuedNs: z.number().nonnegative(),
		lagNs: z.number().nonnegative(),
		serviceNs: z.number(),
	}),
});

/**
 * `client-<i>.ledger`: one client's record of a producer's sequences, where messages cross between clients (acrossClients() in plan.ts).
 * tried: handed to the library, or due and held back by the system. unknown: perhaps sent; with acknowledgements, the other sets decide.
 */
export const LedgerLine = z.discriminatedUnion("type", [
	z.strictObject({
		type: z.literal("set"),
		set: z.enum(["tried", "failed", "acked", "unknown", "received"]),
		producer: Count,
		/** received in a fan-out: by which subscriber; else 0. */
		subscriber: Count,
		count: Count,
		/** Bit s of byte s >> 3, the lowest first, is sequence s; deflated (zlib), in base64. */
		bits: z.string(),
	}),
	z.strictObject({ type: z.literal("trailer"), lines: Count, sha256: z.string() }),
]);
export type LedgerLine = z.infer<typeof LedgerLine>;

/**
 * In runs with `segments`: the window until `untilNs`, and what was the matter by then; sha256 and lines cover all lines before it, `hlog` the
 * first `bytes` of that file. `slowest` and `first` may have later messages.
 */
export const CheckpointLine = z.strictObject({
	type: z.literal("checkpoint"),
	untilNs: Count,
	counters: z.tuple([CountersLine, CountersLine]),
	totals: TotalsLine,
	first: OffendersLine.shape.first,
	slowest: SlowestLine.shape.messages,
	lines: Count,
	sha256: z.string(),
	hlog: z.strictObject({ bytes: Count, sha256: z.string() }),
});
export type Checkpoint = z.infer<typeof CheckpointLine>;

/** sha256 and lines cover all lines before it; `hlog` the whole .hlog before its own trailer comment. */
export const TrailerLine = z.strictObject({
	type: z.literal("trailer"),
	state: z.enum(["complete", "interrupted"]),
	lines: Count,
	sha256: z.string(),
	hlog: z.strictObject({ lines: Count, sha256: z.string() }),
});

export const ClientFileLine = z.discriminatedUnion("type", [
	ClientLine,
	SecondLine,
	TickLine,
	CompletionsLine,
	StopsLine,
	CountersLine,
	TotalsLine,
	MembersLine,
	OffendersLine,
	SlowestLine,
	BreakdownLine,
	TrailerLine,
]);
export type ClientFileLine = z.infer<typeof ClientFileLine>;

type Line<T extends z.ZodType> = Omit<z.infer<T>, "type">;
export type Second = Line<typeof SecondLine>;
export type Tick = Line<typeof TickLine>;
export type Completions = Line<typeof CompletionsLine>;
export type Counters = Omit<CountersLine, "type" | "scope">;
export type Totals = Line<typeof TotalsLine>;
export type Offenders = z.infer<typeof OffendersLine>["first"];
export type Bucket = z.infer<typeof BreakdownLine>["buckets"][number];
