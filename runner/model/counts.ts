import { z } from "zod";

const Count = z.int().nonnegative();
const Maybe = Count.nullable();

/**
 * Counts over all messages of a warm-up or window. Each is declared once: the lines of clients, result.json, lines of the SLA and offenders follow.
 * `recorded`: in a client's line; null: this system or pattern has no such thing. result.json has null as well for what was not measured. Of a fan-out
 * received, delivered and lost are of copies. `ledgers`: where messages cross from client to client only the ledgers of all of them know it.
 */
export const COUNTS = {
	intended: { recorded: Count, inResult: Count },
	/** Scheduled, never sent. */
	notOffered: { recorded: Count, inResult: Maybe, tally: { label: "not offered" } },
	sent: { recorded: Count, inResult: Maybe },
	/** null: the system acknowledges nothing. */
	acked: { recorded: Maybe, inResult: Maybe },
	failed: { recorded: Count, inResult: Maybe, tally: {}, offends: true },
	unknown: { recorded: Count, inResult: Maybe, tally: {} },
	/** Distinct receipts: of messages, or of replies (request-reply). null: nobody receives, as of the next two. */
	received: { recorded: Maybe, inResult: Maybe, ledgers: true },
	/** Receipts of messages that were acknowledged, or sent without error where nothing is acknowledged. */
	delivered: { recorded: Maybe, ledgers: true },
	/** Receipts that are missing of those messages: delivered + lost = receipts they should have. */
	lost: {
		recorded: Maybe,
		inResult: Maybe,
		tally: { copies: true, needs: ["receipts"] },
		offends: true,
		ledgers: true,
	},
	duplicated: {
		recorded: Count,
		inResult: Maybe,
		tally: { needs: ["receipts"], grows: true },
		offends: true,
	},
	/** Of the messages of one producer, in one partition or with one key. null: no order is promised, or it cannot be told. */
	reordered: {
		recorded: Maybe,
		inResult: Maybe,
		tally: { needs: ["receipts", "order"], grows: true },
		offends: true,
	},
	/** Received though their send failed. */
	failedReceived: { recorded: Maybe, ledgers: true },
	/** Received though never acknowledged; where nothing is acknowledged: though nobody knows whether they left. */
	unackedReceived: { recorded: Maybe, ledgers: true },
	/** Completed after the timeout; their true times are in the percentiles. */
	late: { recorded: Count, inResult: Maybe },
	/** Not completed within the timeout after their send: their slots in flight went to the next ones. null: no `inFlight`, or nobody counted. */
	timedOut: { recorded: Maybe.default(null), inResult: Maybe.default(null) },
	/** Deliveries that the broker itself flagged as second ones. */
	redelivered: {
		recorded: Count,
		inResult: Maybe,
		tally: { needs: ["receipts"], grows: true },
		offends: true,
	},
	/** Payloads whose checksum was wrong: not received. null: no checksum in the payloads. */
	corrupted: {
		recorded: Maybe,
		inResult: Maybe,
		tally: { needs: ["checksum", "receipts"], grows: true },
		offends: true,
	},
	/**
	 * Due while an earlier message of the connection was in flight: a closed loop would not have sent them at their time. null where messages cross from
	 * client to client: the sender does not hear when they arrive.
	 */
	behind: { recorded: Maybe },
} as const satisfies Readonly<Record<string, Declared>>;

/** What a run must have for a tally to mean something: scenario/rules/sla.ts refuses lines without it. */
export type Need = "checksum" | "receipts" | "backlog" | "faults" | "rate" | "acks" | "order";

/** What lines of the SLA about a count have to know. */
export interface AboutCount {
	/** In sentences, after the number; left out: the name. */
	readonly label?: string;
	/** Of a fan-out it is of copies, and says so. */
	readonly copies?: true;
	/** The first one that is missing is the reason that is told. */
	readonly needs?: readonly Need[];
	/** A longer run cannot take it back. Of a stopped one, failed holds those that the stop kept from leaving. */
	readonly grows?: true;
}

interface Declared {
	readonly recorded: z.ZodType;
	/** Left out: only checks read it. */
	readonly inResult?: z.ZodType;
	/** A line of the SLA may name it. */
	readonly tally?: AboutCount;
	/** The first message of that kind is shown. */
	readonly offends?: true;
	readonly ledgers?: true;
}

type All = typeof COUNTS;
type With<Part extends string> = {
	[C in keyof All]: All[C] extends Record<Part, unknown> ? C : never;
}[keyof All];

/** The names of those that have the part, in their order. */
export function countsWith<Part extends keyof Declared>(part: Part): With<Part>[] {
	return (Object.keys(COUNTS) as With<Part>[]).filter((name) => part in COUNTS[name]);
}

/** That part of each count that has it. */
export function countParts<Part extends keyof Declared>(part: Part) {
	return Object.fromEntries(
		countsWith(part).map((name) => [name, (COUNTS[name] as Declared)[part]]),
	) as { [C in With<Part>]: All[C] extends Record<Part, infer Value> ? Value : never };
}
