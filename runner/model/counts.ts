import { z } from "zod";

const Count = z.int().nonnegative();
const Maybe = Count.nullable();

/**
 * Counts over a warm-up's or window's messages; a fan-out's received, delivered and lost count copies. Null if not applicable or, in
 * result.json, not measured. `ledgers`: where messages cross between clients, only all their ledgers together are enough.
 */
const COUNTS = {
	intended: { recorded: Count, inResult: Count },
	notOffered: { recorded: Count, inResult: Maybe, tally: { label: "not offered" } },
	sent: { recorded: Count, inResult: Maybe },
	acked: { recorded: Maybe, inResult: Maybe },
	failed: { recorded: Count, inResult: Maybe, tally: {}, offends: true },
	unknown: { recorded: Count, inResult: Maybe, tally: {} },
	/** Distinct receipts of messages, or of replies (request-reply). Here and in the next two, null without receivers. */
	received: { recorded: Maybe, inResult: Maybe, ledgers: true },
	/** Receipts of messages that were acknowledged, or sent without error where nothing is acknowledged. */
	delivered: { recorded: Maybe, ledgers: true },
	/** Missing receipts of those messages: delivered + lost = receipts they should have. */
	lost: {
		recorded: Maybe,
		inResult: Maybe,
		tally: { copies: true, needs: ["receipts"] },
		offends: true,
		ledgers: true,
	},
	duplicated: amiss(Count, "receipts"),
	/** Among messages of one producer, in one partition or with one key. Null if no order is promised, or it cannot be determined. */
	reordered: amiss(Maybe, "receipts", "order"),
	failedReceived: { recorded: Maybe, ledgers: true },
	/** Received, never acknowledged. Where nothing is acknowledged, it is unknown whether they left. */
	unackedReceived: { recorded: Maybe, ledgers: true },
	/** Completed after the timeout; their true times are in the percentiles. */
	late: { recorded: Count, inResult: Maybe },
	/** Not completed within the timeout after their send, so their place in flight was reused. Null if not counted, or without `inFlight`. */
	timedOut: { recorded: Maybe.default(null), inResult: Maybe.default(null) },
	redelivered: amiss(Count, "receipts"),
	/** Wrong checksum, so not received. */
	corrupted: amiss(Maybe, "checksum", "receipts"),
	/** Due while an earlier message of the connection was in flight. Null where messages cross between clients: the sender cannot see it. */
	behind: { recorded: Maybe },
} as const satisfies Readonly<Record<string, Declared>>;

/** A tally means something only in a run that has these: scenario/rules/sla.ts refuses other lines. */
export type Need =
	| "checksum"
	| "receipts"
	| "backlog"
	| "faults"
	| "rate"
	| "acks"
	| "order"
	| "broker";

export interface AboutCount {
	/** In sentences, after the number. By default the name. */
	readonly label?: string;
	/** A fan-out counts copies, and its label adds that. */
	readonly copies?: true;
	/** The first missing one is the reason given. */
	readonly needs?: readonly Need[];
	/** A longer run cannot take it back. In a stopped run, failed includes messages that the stop held back. */
	readonly grows?: true;
}

interface Declared {
	readonly recorded: z.ZodType;
	readonly inResult?: z.ZodType;
	/** An SLA line may name it. */
	readonly tally?: AboutCount;
	/** Reports show the first such message. */
	readonly offends?: true;
	readonly ledgers?: true;
}

type All = typeof COUNTS;
type With<Part extends string> = {
	[C in keyof All]: All[C] extends Record<Part, unknown> ? C : never;
}[keyof All];

export function countsWith<Part extends keyof Declared>(part: Part): With<Part>[] {
	return (Object.keys(COUNTS) as With<Part>[]).filter((name) => part in COUNTS[name]);
}

export function countParts<Part extends keyof Declared>(part: Part) {
	return Object.fromEntries(
		countsWith(part).map((name) => [name, (COUNTS[name] as Declared)[part]]),
	) as { [C in With<Part>]: All[C] extends Record<Part, infer Value> ? Value : never };
}

// --- internal ---

/** Of receipts that should not be: a longer run takes none of them back. */
function amiss<Recorded extends z.ZodType>(recorded: Recorded, ...needs: Need[]) {
	const tally = { needs, grows: true } as const;
	return { recorded, inResult: Maybe, tally, offends: true } as const;
}
