import { z } from "zod";
import { formatDurationExact } from "../units.ts";
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
export const CONSUMERS: Readonly<Partial<Record<Pattern, string>>> = {
	"work-queue": "consumers",
	backlog: "consumers",
	"request-reply": "responders",
};

/** Fields that only some patterns have; `why`: what a person is told who writes one elsewhere. */
export interface OnlyFor {
	readonly patterns: readonly Pattern[];
	readonly why: (pattern: Pattern) => string;
}

/** What the value of a field may depend on besides what is written for it. */
interface Around {
	readonly pattern: Pattern;
	/** Consumers or subscribers; 0: the pattern has none of their own. */
	readonly receivers: number;
}

const WorkOfMessage = z.strictObject({
	meanNs: z.int().nonnegative(),
	distribution: z.enum(["constant", "exponential"]),
});
type WorkOfMessage = z.infer<typeof WorkOfMessage>;

/**
 * The fields of a workload that stand in plan.json and result.json as the scenario's cases have them, each declared here and nowhere else:
 * schema, docs, cases, names of cases, plan, result and "is it the same work?" follow from this table. Its order is that of plan.json.
 */
const FIELDS = {
	partitions: field({
		input: count(
			"Partitions of every topic, where a broker has them. Default: 1.",
			10_000,
			[12],
		).default(1),
		// Of every topic. Message i without a key goes to partition sequence mod partitions.
		...counts(1),
		value: (n) => n ?? 1,
		inName: (n) => counted(n, "partition"),
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
		...counts(0),
		value: (n, { pattern }) => (CONSUMERS[pattern] ? (n ?? 1) : 0),
		only: {
			patterns: ["work-queue", "backlog", "request-reply"],
			why: (pattern) =>
				({
					"round-trip": "each connection receives its own messages",
					"fan-out": "it has subscriptions",
					publish: "nobody receives",
				})[pattern as string] ?? "",
		},
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
		...counts(1),
		value: (n, { pattern }) => (pattern === "fan-out" ? (n ?? 1) : 1),
		only: {
			patterns: ["fan-out"],
			why: (pattern) =>
				CONSUMERS[pattern]
					? "write consumers"
					: "no message goes to several subscribers",
		},
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
		...counts(0),
		value: (n, { receivers }) => (receivers === 0 ? 0 : (n ?? receivers)),
		only: {
			patterns: ["work-queue", "backlog", "request-reply", "fan-out"],
			why: (pattern) =>
				pattern === "publish"
					? "nobody receives"
					: "each connection receives its own messages",
		},
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
		result: z.boolean(),
		value: (on) => on ?? false,
		only: {
			patterns: ["fan-out"],
			why: () => "only subscribers take topics by a pattern",
		},
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
		...counts(0),
		value: (n) => n ?? 0,
		only: {
			patterns: ["fan-out"],
			why: () => "only there subscriptions are told apart",
		},
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
		result: WorkOfMessage.nullable().default(null),
		value: (work): WorkOfMessage | null => {
			if (work === undefined) return null;
			return typeof work === "number"
				? { meanNs: work, distribution: "constant" }
				: { meanNs: work.mean, distribution: work.distribution };
		},
		only: {
			patterns: ["work-queue", "backlog"],
			why: () => "only those consumers acknowledge what they have done",
		},
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
};

type Fields = typeof FIELDS;
export type PlainField = keyof Fields;
/** The values of these fields, with all defaults. */
export type PlainValues = {
	[F in PlainField]: z.output<Fields[F]["plan"]>;
};
export const plainFields = Object.keys(FIELDS) as PlainField[];

/** Of each field one part of its declaration. */
function each<Part extends keyof Fields[PlainField]>(part: Part) {
	return Object.fromEntries(
		plainFields.map((name) => [name, FIELDS[name][part]]),
	) as { [F in PlainField]: Fields[F][Part] };
}

/** What a scenario may write; forms in plan.json and in the load of result.json. */
export const plainInput = each("input");
export const plainInPlan = each("plan");
export const plainInResult = each("result");
export const onlyFor = each("only");

/**
 * For lists with an order of their own (docs, names of cases), which say where these stand: what was declared later comes at their end.
 */
type Listed =
	| "partitions"
	| "consumers"
	| "subscriptions"
	| "consumerConnections"
	| "wildcard"
	| "bystanders"
	| "work";
export function unlisted<All extends Record<PlainField, unknown>>(
	all: All,
): Omit<All, Listed> {
	return all;
}

/** The values that written ones come to. */
export function plainValues(
	written: { [F in PlainField]?: unknown },
	around: Around,
): PlainValues {
	return mapped((name) =>
		FIELDS[name].value(written[name] as never, around),
	) as PlainValues;
}

/** These fields of a case or plan, in their order. */
export function plainOf(all: PlainValues): PlainValues {
	return mapped((name) => all[name]) as PlainValues;
}

/** How they read in the name of a case. */
export const plainNames = mapped(
	(name) => (all: PlainValues) => FIELDS[name].inName(all[name] as never),
) as Readonly<Record<PlainField, (all: PlainValues) => string>>;

/** What they say about the work of a run, by name; and where that is as plain as can be. */
export function plainFacts(all: PlainValues): Record<string, string> {
	return Object.fromEntries(
		plainFields.map((name) => {
			const { fact } = FIELDS[name];
			return [fact.name, fact.text(all[name] as never)];
		}),
	);
}
export const PLAINEST: Readonly<Record<string, string>> = Object.fromEntries(
	Object.values(FIELDS).map(({ fact }) => [fact.name, fact.plain]),
);

// --- internal ---

interface Declared<
	In extends z.ZodType,
	Plan extends z.ZodType,
	Result extends z.ZodType,
> {
	/** As a person writes it, with its default or optional. */
	readonly input: In;
	readonly plan: Plan;
	readonly result: Result;
	/** What is written, or its default, in a given surrounding. */
	readonly value: (
		written: z.output<In> | undefined,
		around: Around,
	) => z.output<Plan>;
	/** Undefined: for all patterns. */
	readonly only?: OnlyFor;
	readonly inName: (value: z.output<Plan>) => string;
	/** `plain`, once released, is never changed: hashes in stored baselines would no longer be those of the same work. */
	readonly fact: {
		readonly name: string;
		readonly plain: string;
		readonly text: (value: z.output<Plan>) => string;
	};
}

function field<
	In extends z.ZodType,
	Plan extends z.ZodType,
	Result extends z.ZodType,
>(declared: Declared<In, Plan, Result>): Declared<In, Plan, Result> {
	return declared;
}

function counts(least: 0 | 1) {
	const Count = z.int().nonnegative();
	return {
		plan: (least === 0 ? Count : z.int().positive()).default(least),
		result: Count,
	};
}

function mapped(of: (name: PlainField) => unknown): Record<string, unknown> {
	return Object.fromEntries(plainFields.map((name) => [name, of(name)]));
}

function counted(n: number, noun: string): string {
	return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
