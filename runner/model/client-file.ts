import { z } from "zod";
import { countParts, countsWith } from "./counts.ts";
import { Metric } from "./plan.ts";

/**
 * `client-<i>.jsonl`: what one client (a k6 process) counted, a JSON object per line. Written by `extensions/xk6-mqbench/recorder`: change
 * both. During a run, and after a crash, it is called `.jsonl.part` (and `.hlog.part`). Times are integer ns since T0 unless stated otherwise.
 */
const Count = z.int().nonnegative();

/** First line: who measured, with what. */
export const ClientLine = z.strictObject({
	type: z.literal("client"),
	schema: z.literal(1),
	index: Count,
	/** Wall clock of T0, Unix ns; a string, as it is above 2^53. */
	t0UnixNs: z.string(),
	versions: z.strictObject({
		k6: z.string(),
		mqbench: z.string(),
		go: z.string(),
		driver: z.string(),
		/** Client library, "nats.go v1.52.0". */
		library: z.string(),
		/** What the broker says of itself, "nats-server 2.15.2". */
		server: z.string(),
	}),
	/** Every option that the driver set on its library, for people. */
	driverOptions: z.record(z.string(), z.string()),
	capabilities: z.strictObject({
		acks: z.boolean(),
		/** Order that is measured: "none" or "per-producer" (in one partition, or with one key). */
		order: z.string(),
	}),
	pacer: z.strictObject({
		timer: z.string(),
		leadNs: Count,
		spinNs: Count,
		/** Where messages are too dense to sleep for each: the shortest sleep; else 0. */
		napNs: Count.default(0),
	}),
	cores: z.int().positive(),
});

/**
 * One second of INTENDED time (closed loads: of the send call). Second 0 is the first of the window, -1 the last of the warm-up, of which
 * closed loads have none. Several lines of one second add up.
 */
export const SecondLine = z.strictObject({
	type: z.literal("second"),
	second: z.int(),
	/** So many seconds, of a long run; left out: one. */
	seconds: z.int().positive().optional(),
	metrics: z.partialRecord(
		Metric,
		z.strictObject({
			count: Count,
			/** Exact sum, smallest and largest in ns; the histogram has them to 3 digits only. */
			sum: z.number().nonnegative(),
			min: Count,
			max: Count,
			/** Values above 3.6e12 ns, recorded as that; values below 0, recorded as 0. */
			clamped: Count,
			negative: Count,
			/** The lowest of those below 0, as it was measured; left out: there was none. */
			lowest: z.int().negative().optional(),
		}),
	),
	/**
	 * For plan.limits[k], per tenth of the line's time: completed messages that have the metric, those with metric > limit (equality meets the
	 * limit), and those with metric - lag > limit.
	 */
	limits: z.array(
		z.strictObject({
			count: z.array(Count).length(10),
			over: z.array(Count).length(10),
			overWithoutLag: z.array(Count).length(10),
		}),
	),
});

/** What happened in one second of REAL time since T0 (`at` = its end, in seconds). */
export const TickLine = z.strictObject({
	type: z.literal("tick"),
	at: z.number(),
	/** So many seconds, of a long run; left out: one. */
	seconds: z.int().positive().optional(),
	/** Send calls, acknowledgements and first receipts in this second. */
	sent: Count,
	acked: Count.nullable(),
	received: Count,
	/** At its end. */
	inFlight: Count,
	/** Messages in flight, counted ten times in this time. */
	backlog: z.array(Count),
	/** Where messages cross between clients: copies that left here so far less first receipts here so far. The sum over all clients is in flight. */
	outstanding: z.array(z.int()).optional(),
	/** Messages that the client library had received and not yet handed over. null: not counted. Left out: nobody receives, or an older mqbench. */
	held: z.array(Count).nullable().optional(),
	/** CPU of the generator's process, and pauses and cycles of its garbage collector, in this second. */
	cpuNs: Count,
	gcPauseNs: Count,
	gcCycles: Count,
});

/** Completions (acknowledgements, else first receipts) per 10 ms of one second of REAL time since T0. Lines of one second add up; a second without any has none. */
export const CompletionsLine = z.strictObject({
	type: z.literal("completions"),
	second: Count,
	/** So many seconds, of a long run; left out: one. */
	seconds: z.int().positive().optional(),
	counts: z.array(Count).length(100),
});

/** From when until when this client could not run (stopped, throttled, without a core), if 5 ms or more. Not measured in closed loads, nor by noop. */
export const StopsLine = z.strictObject({
	type: z.literal("stops"),
	stops: z.array(z.tuple([z.int(), z.int()])),
});

/** Counts over all of the warm-up's or the window's messages of this client (counts.ts). */
export const CountersLine = z.strictObject({
	type: z.literal("counters"),
	scope: z.enum(["warmup", "window"]),
	...countParts("recorded"),
});

export type CountersLine = z.infer<typeof CountersLine>;

/** Figures of the whole run. Defaults are for reports/published/nats-stall, which was recorded before those fields were. */
export const TotalsLine = z.strictObject({
	type: z.literal("totals"),
	/** Messages that the client library itself threw away; null, as with reconnects: the driver cannot count them. */
	clientDropped: Count.nullable(),
	/** Requests that a service bills; null: nobody does. */
	requests: Count.nullable().default(null),
	/** Messages of other runs, or that are no envelope of ours. */
	foreign: Count,
	/** Messages sent, acknowledged, first received while the window was open, by real time. */
	sentInWindow: Count,
	ackedInWindow: Count.nullable(),
	receivedInWindow: Count,
	/** The `unknown` messages whose send ended without an answer, and which left flight then. Left out: nothing is acknowledged, or not recorded. */
	unanswered: Count.optional(),
	/** Connections that the client library made anew. */
	reconnects: Count.nullable().default(0),
	/** How long the broker held back at least one connection (quota, alarm), ns; null: its protocol does not tell. */
	throttledNs: Count.nullable().default(null),
	/** Of the window's messages: first send call, last acknowledgement, first and last distinct receipt, ns since T0; null: there was none. */
	firstSendNs: z.int().nullable().default(null),
	lastAckNs: z.int().nullable().default(null),
	firstReceiveNs: z.int().nullable().default(null),
	lastReceiveNs: z.int().nullable().default(null),
	/** When the window opened, ns since T0: warmupNs of the plan; of a closed load when its warm-up was through. */
	windowStartNs: z.int().nullable().default(null),
	/** First claim, relative to T0; negative is right. */
	firstClaimNs: z.int(),
	/** From T0 to the moment everything was settled, or the drain was over. */
	endNs: Count,
	/** How long the books then stayed open for further copies; null: no SLA line counts them, or the recording is older than this field. */
	lookedNs: Count.nullable().default(null),
	cpuNs: Count,
	gcPauseNs: Count,
	gcCycles: Count,
	schedLatencyP999Ns: Count,
	/** How long its machine was suspended meanwhile, which the clock of the run does not count. Left out: only Linux tells, and an earlier mqbench did not ask. */
	suspendedNs: z.int().optional(),
	/** Errors as the library worded them, URLs masked, the commonest first, at most 20. */
	errors: z.array(
		z.strictObject({
			message: z.string(),
			count: z.int().positive(),
			/** Intended time of the first message that met it; null if it was not of a message. */
			firstNs: z.int().nullable(),
		}),
	),
});

const Offender = z.strictObject({
	producer: Count,
	sequence: Count,
	/** From T0. null: of a closed load, whose messages alone know when they were sent. */
	intendedNs: Count.nullable(),
});

/** The first message, by intended time, of each kind of offence that occurred. */
export const OffendersLine = z.strictObject({
	type: z.literal("offenders"),
	first: z.partialRecord(z.enum(countsWith("offends")), Offender),
});

/** The slowest messages of the window, at most 20, the slowest first; responseNs = queuedNs + lagNs + serviceNs. */
export const SlowestLine = z.strictObject({
	type: z.literal("slowest"),
	messages: z.array(
		z.strictObject({
			...Offender.shape,
			intendedNs: Count,
			topic: Count,
			partition: Count.nullable(),
			/** Below 0 where clocks of sender and receiver disagree by more than it took. */
			responseNs: z.int(),
			queuedNs: Count,
			lagNs: Count,
			serviceNs: z.int(),
		}),
	),
});

/**
 * What the response times of the window's messages (fan-out: copies) consist of, by bucket of response time, ascending. Sums are exact. A bucket
 * is a whole number of the histogram's buckets, so a percentile lies in one of them. Left out without response times.
 */
export const BreakdownLine = z.strictObject({
	type: z.literal("breakdown"),
	buckets: z.array(
		z.strictObject({
			/** Both edges are included. */
			fromNs: Count,
			toNs: Count,
			messages: z.int().positive(),
			// Sums may be above 2^53.
			queuedNs: z.number().nonnegative(),
			lagNs: z.number().nonnegative(),
			/** Below 0 where clocks of sender and receiver disagree by more than it took. */
			serviceNs: z.number(),
		}),
	),
});

/**
 * A line of `client-<i>.ledger`: a set of sequences of one producer, as a client knows it. Written where messages cross from client to
 * client (acrossClients() of plan.ts): only all of them together tell what was lost. tried: handed to the library, or due and kept from
 * leaving by the system. unknown: nobody knows whether it left; where sends are acknowledged the other sets tell.
 */
export const LedgerLine = z.discriminatedUnion("type", [
	z.strictObject({
		type: z.literal("set"),
		set: z.enum(["tried", "failed", "acked", "unknown", "received"]),
		producer: Count,
		/** received: of which subscriber (fan-out), else 0. */
		subscriber: Count,
		/** Members. */
		count: Count,
		/** Bit s of byte s >> 3, the lowest first, is sequence s; deflated (zlib), in base64. */
		bits: z.string(),
	}),
	/** Last line: how many lines come before it, and their sha256. */
	z.strictObject({ type: z.literal("trailer"), lines: Count, sha256: z.string() }),
]);
export type LedgerLine = z.infer<typeof LedgerLine>;

/** Last line. sha256 and lines are of all lines before it; `hlog` is of the whole .hlog before its own trailer comment. */
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
	OffendersLine,
	SlowestLine,
	BreakdownLine,
	TrailerLine,
]);
export type ClientFileLine = z.infer<typeof ClientFileLine>;

type Line<T extends z.ZodType> = Omit<z.infer<T>, "type">;
export type Client = Line<typeof ClientLine>;
export type Second = Line<typeof SecondLine>;
export type Tick = Line<typeof TickLine>;
export type Completions = Line<typeof CompletionsLine>;
export type Counters = Omit<CountersLine, "type" | "scope">;
export type Totals = Line<typeof TotalsLine>;
export type Offenders = z.infer<typeof OffendersLine>["first"];
export type Bucket = z.infer<typeof BreakdownLine>["buckets"][number];
export type Slow = z.infer<typeof SlowestLine>["messages"][number];
