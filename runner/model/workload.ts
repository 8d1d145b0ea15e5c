import { z } from "zod";
import { formatCount, formatDurationExact } from "../units.ts";
import { count, described, flag, maybe, span } from "./field.ts";
import {
	type Fact,
	LOAD_FIELDS,
	type Load,
	type LoadInResult,
	loadName,
	PATTERNS,
	type Part,
	Pattern,
} from "./load.ts";

const CONSUMERS: Readonly<Partial<Record<Pattern, string>>> = {
	"work-queue": "consumers",
	backlog: "consumers",
	"request-reply": "responders",
};

/** In the others a connection has a topic of its own, with one message. */
const WITH_TOPICS = PATTERNS.filter((pattern) => pattern !== "connect");

interface Around {
	readonly pattern: Pattern;
	readonly closed: boolean;
	readonly connections: number;
	/** Consumers or subscribers, 0 if the pattern has none. */
	readonly receivers: number;
}

export const Delivery = z.enum(["at-most-once", "at-least-once", "exactly-once"]);
export type Delivery = z.infer<typeof Delivery>;
/** When a consumer acknowledges. automatic: never, the broker takes delivery as handling. batch, interval: several messages at once. */
export const Acknowledge = z.enum(["automatic", "message", "batch", "interval"]);
export type Acknowledge = z.infer<typeof Acknowledge>;
export const Order = z.enum(["none", "per-producer", "per-key"]);
export type Order = z.infer<typeof Order>;

const WorkOfMessage = z.strictObject({
	meanNs: z.int().nonnegative(),
	distribution: z.enum(["constant", "exponential"]),
});
type WorkOfMessage = z.infer<typeof WorkOfMessage>;

const KeyDistribution = z.enum(["round-robin", "random", "zipf"]);
interface Keys {
	readonly distribution: z.infer<typeof KeyDistribution>;
	readonly count: number;
}
const KEYS = 1000;

// Each workload field is declared once, here or in load.ts; schema, docs, cases, names, plan, result and work facts follow from that.

const pattern = field({
	input: described(
		z.enum(PATTERNS),
		"`round-trip`: the sender receives its own messages through the broker; `request-reply`: responders send each message back; `fan-out`: every subscriber gets a copy; `work-queue`: consumers share the messages; `publish`: nothing is received, only acknowledged; `backlog`: consumers pause while messages pile up, then drain them; `connect`: each message is a new connection, which sends it to itself (`ack`: until it is logged in).",
	).default("round-trip"),
	plan: Pattern,
	value: (pattern = "round-trip"): Pattern => pattern,
	inName: (pattern) => pattern,
	fact: ["pattern", null, String],
});

const SENDING = {
	inFlight: field({
		input: count(
			"Most incomplete messages of one producer. At the limit it waits, and the wait is measured. Default: no limit; with `messages` or `connect` 1000.",
			1_000_000,
			[1000],
		).optional(),
		// Per producer. Null is no limit, and impossible where the schedule is closed.
		plan: z.int().positive().nullable(),
		value: (n, { closed, pattern }) => n ?? (closed || pattern === "connect" ? 1000 : null),
		inName: (n) => `${n} in flight`,
		fact: ["in flight", "no limit", (n) => (n === null ? "no limit" : `${n}`)],
	}),
	hold: field({
		input: described(
			z.int().min(0).max(1_000_000),
			"`connect`: how many connections stay open and idle; the oldest is closed for a new one. Default: 0.",
			[1000],
		).optional(),
		// On all clients together.
		plan: z.int().nonnegative().default(0),
		value: (n) => n ?? 0,
		only: ["connect"],
		inName: (n) => `hold ${n}`,
		// A result of another pattern has none.
		fact: ["connections held", "0", (n) => String(n ?? 0)],
	}),
	connections: field({
		input: count("Producers' connections.", 10_000, [25]).default(1),
		plan: z.int().positive(),
		value: (n) => n ?? 1,
		inName: (n) => counted(n, "connection"),
		fact: ["connections", "1", String],
	}),
	producers: field({
		input: count(
			"Independent message sequences; producer p uses connection p mod `connections`. Default: `connections`.",
			100_000,
			[25],
		).optional(),
		plan: z.int().positive(),
		value: (n, { connections }) => n ?? connections,
		inName: (n) => counted(n, "producer"),
		fact: ["producers", "1", String],
	}),
	topics: field({
		input: count(
			"Topics; producer p sends to topic p mod `topics`. Default: one per connection in round-trip and request-reply, else 1.",
			100_000,
			[25],
		).optional(),
		plan: z.int().nonnegative(),
		// Each connection has its own topic where messages come back to it; else all share one.
		value: (n, { pattern, connections }) =>
			n ?? (pattern === "round-trip" || pattern === "request-reply" ? connections : 1),
		inName: (n) => counted(n, "topic"),
		fact: ["topics", "1", String],
	}),
};

const RECEIVING = {
	partitions: field({
		input: count(
			"Partitions of every topic, if the system has any. Default: 1; where each partition has one consumer, the consumers per topic.",
			10_000,
			[12],
		).optional(),
		// Per topic. Message i without a key goes to partition sequence mod partitions.
		plan: z.int().positive().default(1),
		value: (n) => n ?? null,
		only: WITH_TOPICS,
		inName: (n) => counted(n ?? 1, "partition"),
		fact: ["partitions", "1", String],
	}),
	consumers: field({
		input: count(
			"`work-queue`, `backlog`: consumers that share the messages; `request-reply`: responders. Default: 1.",
			10_000,
			[10],
		).optional(),
		// Members of the one consumer group, or responders (request-reply). With M members and T topics there are max(M, T) subscriptions:
		// number k is member k mod M on topic k mod T.
		plan: z.int().nonnegative().default(0),
		value: (n, { pattern }) => (CONSUMERS[pattern] ? (n ?? 1) : 0),
		only: ["work-queue", "backlog", "request-reply"],
		inName: (n) => counted(n, "consumer"),
		fact: ["consumers", "0", String],
	}),
	subscriptions: field({
		input: count(
			"`fan-out`: subscribers. Each gets every message of every topic.",
			10_000,
			[100],
		).optional(),
		plan: z.int().positive().default(1),
		value: (n, { pattern }) => (pattern === "fan-out" ? (n ?? 1) : 1),
		only: ["fan-out"],
		inName: (n) => counted(n, "subscription"),
		fact: ["subscriptions", "1", String],
	}),
	consumerConnections: field({
		input: count(
			"Connections over which consumers or subscribers are distributed. Default: one for each.",
			10_000,
			[4],
		).optional(),
		// Numbered after the producers' connections; consumer k is on k mod consumerConnections. round-trip, publish: 0.
		plan: z.int().nonnegative().default(0),
		value: (n, { receivers }) => (receivers === 0 ? 0 : (n ?? receivers)),
		only: ["work-queue", "backlog", "request-reply", "fan-out"],
		inName: (n) => counted(n, "consumer connection"),
		fact: ["connections of consumers", "0", String],
	}),
	wildcard: field({
		input: flag(
			"`fan-out`: each subscriber has one wildcard subscription instead of one per topic.",
		).default(false),
		plan: z.boolean().default(false),
		value: (on) => on ?? false,
		only: ["fan-out"],
		inName: (on) => (on ? "wildcard" : "no wildcard"),
		fact: ["wildcard", "no", (on) => (on ? "yes" : "no")],
	}),
	bystanders: field({
		input: described(
			z.int().min(0).max(1_000_000),
			"`fan-out`: additional subscriptions to topics without messages.",
			[1000],
		).default(0),
		plan: z.int().nonnegative().default(0),
		value: (n) => n ?? 0,
		only: ["fan-out"],
		inName: (n) => counted(n, "bystander"),
		fact: ["bystanders", "0", String],
	}),
	work: field({
		input: described(
			z.union([
				span("Time per message.", ["2ms"]),
				z.strictObject({
					mean: span("Mean time per message.", ["2ms"]),
					distribution: z.enum(["constant", "exponential"]).default("constant").meta({
						description: "`exponential`: mostly short, occasionally long.",
					}),
				}),
			]),
			"`work-queue`, `backlog`: how long a consumer sleeps before it acknowledges a message. Default: no work.",
			["2ms", { mean: "5ms", distribution: "exponential" }],
		).optional(),
		plan: WorkOfMessage.nullable().default(null),
		value: (work): WorkOfMessage | null => {
			if (work === undefined) return null;
			return typeof work === "number"
				? { meanNs: work, distribution: "constant" }
				: { meanNs: work.mean, distribution: work.distribution };
		},
		only: ["work-queue", "backlog"],
		inName: (work) => {
			if (work === null) return "no work";
			const mean = formatDurationExact(work.meanNs);
			return `work ${mean}${work.distribution === "constant" ? "" : ` ${work.distribution}`}`;
		},
		fact: [
			"work per message",
			"none",
			(work) =>
				work === null ? "none" : `${formatDurationExact(work.meanNs)} ${work.distribution}`,
		],
	}),
	keys: field({
		input: described(
			z.union([
				z.enum(["none", ...KeyDistribution.options]),
				z.strictObject({
					distribution: KeyDistribution.meta({
						description:
							"`round-robin`: in turn; `random`: all equally often; `zipf`: key n is 1/n as frequent as the first.",
					}),
					count: count("Number of keys.", 100_000_000, [100]).default(KEYS),
				}),
			]),
			"How message keys are drawn. Brokers choose a partition by the key.",
			["zipf", { distribution: "random", count: 100 }],
		).default("none"),
		// Key k of message i is a function of only seed and i; its bytes are "k<number>".
		plan: maybe({
			distribution: KeyDistribution,
			count: z.int().positive(),
			seed: z.int().nonnegative(),
		}).default(null),
		value: (keys = "none"): Keys | null => {
			if (keys === "none") return null;
			return typeof keys === "string" ? { distribution: keys, count: KEYS } : keys;
		},
		only: WITH_TOPICS,
		inName: (keys) => (keys === null ? "no keys" : `${keys.count} ${keys.distribution} keys`),
		fact: [
			"keys",
			"none",
			// Not their seed: another one is another draw of the same.
			(keys) => (keys === null ? "none" : `${formatCount(keys.count)} ${keys.distribution}`),
		],
	}),
};

const PROMISES = {
	delivery: field({
		input: Delivery.meta({
			description:
				"Required delivery: `at-least-once` adds the SLA line `lost == 0`, `exactly-once` also `duplicated == 0`. Default: what the broker promises.",
		}).optional(),
		plan: Delivery,
		value: (delivery) => delivery ?? null,
		inName: (delivery) => delivery ?? "",
		fact: ["delivery", "at-most-once", String],
	}),
	order: field({
		input: Order.meta({
			description:
				"Required order: of each producer's messages, or of its messages with the same key. Adds the SLA line `reordered == 0`.",
		}).default("none"),
		plan: Order,
		value: (order) => order ?? "none",
		only: WITH_TOPICS,
		inName: (order) => `order ${order}`,
		fact: ["order", "none", String],
	}),
};

const OWN = { pattern, ...SENDING, ...RECEIVING, ...PROMISES };
const FIELDS = { pattern, ...LOAD_FIELDS, ...SENDING, ...RECEIVING, ...PROMISES };
const ALL: Readonly<Record<keyof typeof FIELDS, AnyField>> = FIELDS;
type Own = typeof OWN;
export type WorkloadField = keyof typeof FIELDS;
export const workloadFields = Object.keys(FIELDS) as WorkloadField[];

/** One case's part of its plans. A system adds topics and promise, the scenario's name the seed of bytes and keys. */
export interface Workload extends Load, OwnValues {}
type OwnValues = {
	readonly [F in keyof Own]: ReturnType<Own[F]["value"]>;
};
type Written = { [F in keyof Own]?: z.output<Own[F]["input"]> | undefined };

export const workloadInput = each(FIELDS, "input");
export const sendingInPlan = each(SENDING, "plan");
export const receivingInPlan = each(RECEIVING, "plan");
export const promisesInPlan = each(PROMISES, "plan");

export function onlyFor(field: WorkloadField): readonly Pattern[] | undefined {
	return ALL[field].only;
}

export function receiversOf(
	pattern: Pattern,
	{ consumers = 1, subscriptions = 1 }: Written,
): number {
	if (pattern === "fan-out") return subscriptions;
	return CONSUMERS[pattern] ? consumers : 0;
}

export function ownValues(
	written: Written,
	{ pattern, closed }: Pick<Around, "pattern" | "closed">,
): OwnValues {
	const { connections = 1 } = written;
	const receivers = receiversOf(pattern, written);
	const around = { pattern, closed, connections, receivers };
	return Object.fromEntries(
		Object.entries(OWN).map(([name, { value }]) => [
			name,
			value(written[name as keyof Own] as never, around),
		]),
	) as unknown as OwnValues;
}

export function inName(field: WorkloadField, one: Workload): string {
	const { inName = loadName } = ALL[field];
	return inName((field in OWN ? one[field as keyof Own] : one) as never);
}

/** Facts about the work of a run by name. PLAINEST has the plainest work's. */
export function workloadFacts(
	load: LoadInResult & Readonly<Partial<Record<keyof Own, unknown>>>,
): Record<string, string> {
	return Object.fromEntries(
		workloadFields.flatMap((field) => {
			const [name, , text] = ALL[field].fact ?? [];
			const value = field in OWN ? load[field as keyof Own] : load;
			return text ? [[name, text(value as never)]] : [];
		}),
	);
}
export const PLAINEST: Readonly<Record<string, string | null>> = Object.fromEntries(
	Object.values(ALL).flatMap(({ fact }) => (fact ? [fact] : [])),
);

// --- internal ---

interface Declared<In extends z.ZodType, Plan extends z.ZodType, Value> extends Pick<Part, "only"> {
	readonly input: In;
	readonly plan: Plan;
	readonly value: (written: z.output<In> | undefined, around: Around) => Value;
	readonly inName: (value: Value) => string;
	readonly fact: Fact<z.output<Plan>>;
}
interface AnyField extends Pick<Part, "input" | "only"> {
	readonly inName?: (value: never) => string;
	readonly fact?: Fact<never>;
}

function field<In extends z.ZodType, Plan extends z.ZodType, Value>(
	declared: Declared<In, Plan, Value>,
): Declared<In, Plan, Value> {
	return declared;
}

/** One part of each field's declaration. */
function each<Fields extends object, Name extends keyof Fields[keyof Fields]>(
	fields: Fields,
	name: Name,
) {
	return Object.fromEntries(
		Object.entries(fields).map(([field, declared]) => [field, declared[name]]),
	) as { [F in keyof Fields]: Fields[F][Name] };
}

function counted(n: number, noun: string): string {
	return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
