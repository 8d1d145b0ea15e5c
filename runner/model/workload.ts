import { z } from "zod";
import { formatCount, formatDurationExact } from "../units.ts";
import { count, span } from "./field.ts";

export const PATTERNS = [
	"round-trip",
	"request-reply",
	"fan-out",
	"work-queue",
	"publish",
	"backlog",
] as const;
export const Pattern = z.enum(PATTERNS);
export type Pattern = z.infer<typeof Pattern>;

/** Patterns whose messages reach consumers of their own, by the word for them. */
const CONSUMERS: Readonly<Partial<Record<Pattern, string>>> = {
	"work-queue": "consumers",
	backlog: "consumers",
	"request-reply": "responders",
};

/** What the value of a field may depend on besides what is written for it. */
interface Around {
	readonly pattern: Pattern;
	/** Messages instead of a rate. */
	readonly closed: boolean;
	readonly connections: number;
	/** Consumers or subscribers; 0: the pattern has none of their own. */
	readonly receivers: number;
}

export const Delivery = z.enum([
	"at-most-once",
	"at-least-once",
	"exactly-once",
]);
export type Delivery = z.infer<typeof Delivery>;
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
/** Keys that a distribution draws from, when it does not say. */
const KEYS = 1000;

/**
 * The fields of a workload that stand in plan.json and result.json under their own names, each declared here and nowhere else: schema, docs,
 * cases, names of cases, plan, result and "is it the same work?" follow from this table. The others are parts of the load
 * (scenario/workload-schema.ts) or of the message.
 */
const FIELDS = {
	inFlight: field({
		input: count(
			"Most messages of one producer that are sent and not completed; at the limit it waits, and the wait is measured. Default: no limit; with messages 1000.",
			1_000_000,
			[1000],
		).optional(),
		// Per producer; null: no limit. Never null where the schedule is closed.
		plan: z.int().positive().nullable(),
		value: (n, { closed }) => n ?? (closed ? 1000 : null),
		inName: (n) => `${n} in flight`,
		fact: {
			name: "in flight",
			plain: "no limit",
			text: (n) => (n === null ? "no limit" : `${n}`),
		},
	}),
	connections: field({
		input: count("Connections of producers.", 10_000, [25]).default(1),
		// Numbered from 0.
		plan: z.int().positive(),
		value: (n) => n ?? 1,
		inName: (n) => counted(n, "connection"),
		fact: { name: "connections", plain: "1", text: String },
	}),
	producers: field({
		input: count(
			"Independent sequences of messages; producer p uses connection p mod connections. Default: connections.",
			100_000,
			[25],
		).optional(),
		plan: z.int().positive(),
		value: (n, { connections }) => n ?? connections,
		inName: (n) => counted(n, "producer"),
		fact: { name: "producers", plain: "1", text: String },
	}),
	topics: field({
		input: count(
			"Topics; producer p sends to topic p mod topics. Default: one for each connection in round-trip and request-reply, else 1.",
			100_000,
			[25],
		).optional(),
		// A plan has their names instead.
		plan: z.int().nonnegative(),
		// Each connection has a topic of its own where messages come back to it; else one topic takes them all.
		value: (n, { pattern, connections }) =>
			n ??
			(pattern === "round-trip" || pattern === "request-reply"
				? connections
				: 1),
		inName: (n) => counted(n, "topic"),
		fact: { name: "topics", plain: "1", text: String },
	}),
	partitions: field({
		input: count(
			"Partitions of every topic, of systems that have them. Default: 1; as many as consumers share the topic where each partition has one consumer.",
			10_000,
			[12],
		).optional(),
		// Of every topic. Message i without a key goes to partition sequence mod partitions.
		plan: z.int().positive().default(1),
		// null: what the system says, or needs.
		value: (n) => n ?? null,
		inName: (n) => counted(n ?? 1, "partition"),
		fact: { name: "partitions", plain: "1", text: String },
	}),
	consumers: field({
		input: count(
			"`work-queue` and `backlog`: consumers that share the messages; `request-reply`: responders. Default: 1.",
			10_000,
			[10],
		).optional(),
		// Members of the one group that shares the messages (work-queue, backlog), or responders (request-reply); else 0. With M members
		// and T topics there are max(M, T) subscriptions: number k is member k mod M on topic k mod T.
		plan: z.int().nonnegative().default(0),
		value: (n, { pattern }) => (CONSUMERS[pattern] ? (n ?? 1) : 0),
		only: ["work-queue", "backlog", "request-reply"],
		inName: (n) => counted(n, "consumer"),
		fact: { name: "consumers", plain: "0", text: String },
	}),
	subscriptions: field({
		input: count(
			"`fan-out`: subscribers, each of which gets every message of every topic.",
			10_000,
			[100],
		).optional(),
		// Subscribers, each of which gets every message of every topic; 1 where the pattern is another.
		plan: z.int().positive().default(1),
		value: (n, { pattern }) => (pattern === "fan-out" ? (n ?? 1) : 1),
		only: ["fan-out"],
		inName: (n) => counted(n, "subscription"),
		fact: { name: "subscriptions", plain: "1", text: String },
	}),
	consumerConnections: field({
		input: count(
			"Connections of consumers or subscribers, which share them in turn. Default: one for each.",
			10_000,
			[4],
		).optional(),
		// Numbered after those of producers; consumer k is on k mod consumerConnections. round-trip, publish: 0.
		plan: z.int().nonnegative().default(0),
		value: (n, { receivers }) => (receivers === 0 ? 0 : (n ?? receivers)),
		only: ["work-queue", "backlog", "request-reply", "fan-out"],
		inName: (n) => counted(n, "consumer connection"),
		fact: { name: "connections of consumers", plain: "0", text: String },
	}),
	wildcard: field({
		input: z
			.boolean()
			.meta({
				description:
					"`fan-out`: each subscriber has one subscription by a pattern over all topics, instead of one per topic.",
			})
			.default(false),
		plan: z.boolean().default(false),
		value: (on) => on ?? false,
		only: ["fan-out"],
		inName: (on) => (on ? "wildcard" : "no wildcard"),
		fact: {
			name: "wildcard",
			plain: "no",
			text: (on) => (on ? "yes" : "no"),
		},
	}),
	bystanders: field({
		input: z
			.int()
			.min(0)
			.max(1_000_000)
			.meta({
				description:
					"`fan-out`: that many subscriptions more, to topics on which nothing is sent; the broker has to tell them apart.",
				examples: [1000],
			})
			.default(0),
		plan: z.int().nonnegative().default(0),
		value: (n) => n ?? 0,
		only: ["fan-out"],
		inName: (n) => counted(n, "bystander"),
		fact: { name: "bystanders", plain: "0", text: String },
	}),
	work: field({
		input: z
			.union([
				span("Time for each message.", ["2ms"], "above 0"),
				z.strictObject({
					mean: span("Mean time for a message.", ["2ms"], "above 0"),
					distribution: z
						.enum(["constant", "exponential"])
						.default("constant")
						.meta({
							description:
								"`constant`, or `exponential`: mostly short, now and then long.",
						}),
				}),
			])
			.meta({
				description:
					"`work-queue` and `backlog`: what a consumer does with each message before it acknowledges it: it sleeps.",
				examples: ["2ms", { mean: "5ms", distribution: "exponential" }],
			})
			.optional(),
		// What a consumer does with each message before it acknowledges it; null: nothing.
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
		fact: {
			name: "work per message",
			plain: "none",
			text: (work) =>
				work === null
					? "none"
					: `${formatDurationExact(work.meanNs)} ${work.distribution}`,
		},
	}),
	keys: field({
		input: z
			.union([
				z.enum(["none", ...KeyDistribution.options]),
				z.strictObject({
					distribution: KeyDistribution.meta({
						description:
							"`round-robin`: one after the other; `random`: all equally often; `zipf`: the first most often, the second half as often, the third a third as often.",
					}),
					count: count(
						`How many keys there are. Default: ${KEYS}.`,
						100_000_000,
						[100],
					).default(KEYS),
				}),
			])
			.meta({
				description: `Keys of messages, by which brokers that have them choose the partition: how they are drawn, of ${KEYS} keys or as many as \`count\` says.`,
				examples: ["zipf", { distribution: "random", count: 100 }],
			})
			.default("none"),
		// null: messages have no keys. Key k of message i is a function of seed and i alone; its bytes are "k<number>".
		plan: z
			.strictObject({
				distribution: KeyDistribution,
				count: z.int().positive(),
				seed: z.int().nonnegative(),
			})
			.nullable()
			.default(null),
		value: (keys = "none"): Keys | null => {
			if (keys === "none") return null;
			return typeof keys === "string"
				? { distribution: keys, count: KEYS }
				: keys;
		},
		inName: (keys) =>
			keys === null ? "no keys" : `${keys.count} ${keys.distribution} keys`,
		fact: {
			name: "keys",
			plain: "none",
			// Not their seed: another one is another draw of the same.
			text: (keys) =>
				keys === null
					? "none"
					: `${formatCount(keys.count)} ${keys.distribution}`,
		},
	}),
	delivery: field({
		input: Delivery.meta({
			description:
				"What must hold of each message, whatever the broker promises: `at-least-once` adds the gate `lost == 0`, `exactly-once` also `duplicated == 0`. Default: the broker's own promise.",
		}).optional(),
		plan: Delivery,
		// null: what the system's broker promises.
		value: (delivery) => delivery ?? null,
		inName: (delivery) => delivery ?? "",
		fact: { name: "delivery", plain: "at-most-once", text: String },
	}),
	order: field({
		input: Order.meta({
			description:
				"In which order messages must arrive. `per-producer`: each producer's in the order of sending; `per-key`: those of one producer with one key. Adds the gate `reordered == 0`.",
		}).default("none"),
		plan: Order,
		value: (order) => order ?? "none",
		inName: (order) => `order ${order}`,
		fact: { name: "order", plain: "none", text: String },
	}),
};

type Fields = typeof FIELDS;
type PlainField = keyof Fields;
const names = Object.keys(FIELDS) as PlainField[];
/** What a case says in these fields, defaults included. */
export type PlainValues = {
	readonly [F in PlainField]: ReturnType<Fields[F]["value"]>;
};
type Written = { [F in PlainField]?: z.output<Fields[F]["input"]> | undefined };

/** What a scenario may write; forms in plan.json and in the load of result.json; which patterns have them. */
export const plainInput = each("input");
export const plainInPlan = each("plan");
export const onlyFor = each("only");

/** Consumers or subscribers; 0: the pattern has none of their own. */
export function receiversOf(
	pattern: Pattern,
	{ consumers = 1, subscriptions = 1 }: Written,
): number {
	if (pattern === "fan-out") return subscriptions;
	return CONSUMERS[pattern] ? consumers : 0;
}

/** The values that written ones come to. */
export function plainValues(
	written: Written,
	{ pattern, closed }: Pick<Around, "pattern" | "closed">,
): PlainValues {
	const { connections = 1 } = written;
	const receivers = receiversOf(pattern, written);
	const around = { pattern, closed, connections, receivers };
	return mapped((name) =>
		FIELDS[name].value(written[name] as never, around),
	) as PlainValues;
}

/** How they read in the name of a case. */
export const plainNames = mapped(
	(name) => (all: PlainValues) => FIELDS[name].inName(all[name] as never),
) as Readonly<Record<PlainField, (all: PlainValues) => string>>;

/** What they say about the work of a run, by name; and where that is as plain as can be. */
export function plainFacts(
	load: Readonly<Record<PlainField, unknown>>,
): Record<string, string> {
	return Object.fromEntries(
		names.map((name) => {
			const { fact } = FIELDS[name];
			return [fact.name, fact.text(load[name] as never)];
		}),
	);
}
export const PLAINEST: Readonly<Record<string, string>> = Object.fromEntries(
	Object.values(FIELDS).map(({ fact }) => [fact.name, fact.plain]),
);

// --- internal ---

interface Declared<In extends z.ZodType, Plan extends z.ZodType, Value> {
	/** As a person writes it, with its default or optional. */
	readonly input: In;
	readonly plan: Plan;
	/** Of a case: what is written, or its default, in a given surrounding. */
	readonly value: (written: z.output<In> | undefined, around: Around) => Value;
	/** Undefined: for all patterns. */
	readonly only?: readonly Pattern[];
	readonly inName: (value: Value) => string;
	/** `plain`, once released, is never changed: hashes in stored baselines would no longer be those of the same work. */
	readonly fact: {
		readonly name: string;
		readonly plain: string;
		readonly text: (value: z.output<Plan>) => string;
	};
}

function field<In extends z.ZodType, Plan extends z.ZodType, Value>(
	declared: Declared<In, Plan, Value>,
): Declared<In, Plan, Value> {
	return declared;
}

/** Of each field one part of its declaration. */
function each<Part extends keyof Fields[PlainField]>(part: Part) {
	return mapped((name) => FIELDS[name][part]) as {
		[F in PlainField]: Fields[F][Part];
	};
}

function mapped(of: (name: PlainField) => unknown): Record<string, unknown> {
	return Object.fromEntries(names.map((name) => [name, of(name)]));
}

function counted(n: number, noun: string): string {
	return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
