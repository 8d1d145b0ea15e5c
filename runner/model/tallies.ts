import { z } from "zod";

/** Of a tally: a count, a rate or a time. */
export const TallyUnit = z.enum(["messages", "messages/s", "ns"]);
export type TallyUnit = z.infer<typeof TallyUnit>;

/** What an SLA line about a tally of the unit looks like. More of a rate is better, less of all others. */
export const UNITS = {
	messages: { ops: ["==", "<", "<="], example: "== 0" },
	"messages/s": { ops: [">=", ">"], example: ">= 2990/s" },
	ns: { ops: ["<", "<="], example: "< 30s" },
} as const satisfies Record<TallyUnit, object>;

/** What a run must have for a tally to mean something: scenario/rules/sla.ts refuses lines without it. */
export type Need = "checksum" | "receipts" | "backlog" | "faults" | "rate" | "acks" | "order";

interface About {
	readonly unit: TallyUnit;
	/** In sentences, after the number; left out: the name. */
	readonly label?: string;
	/** Of a fan-out it is of copies, and says so. */
	readonly copies?: true;
	/** The first one that is missing is the reason that is told. */
	readonly needs?: readonly Need[];
	/** A longer run cannot take it back. Of a stopped one, failed holds those that the stop kept from leaving. */
	readonly grows?: true;
	/** Another name of that tally, which baselines have it under. */
	readonly sameAs?: string;
	/** Which count of each second shows where it was lowest. */
	readonly tick?: "received" | "acked" | "sent";
	/** For the reference: what it is, of a count a remark; and a line about it without its name. */
	readonly says?: string;
	readonly example?: string;
}

const RECEIVED = {
	unit: "messages/s",
	needs: ["receipts"],
	tick: "received",
	label: "received",
	copies: true,
} satisfies About;

/** Counters, rates and times that an SLA may name. Rates and times can be compared with a baseline; counts have a right value of their own. */
const tallies = {
	lost: { unit: "messages", copies: true, needs: ["receipts"] },
	failed: { unit: "messages" },
	unknown: { unit: "messages" },
	duplicated: { unit: "messages", needs: ["receipts"], grows: true },
	reordered: { unit: "messages", needs: ["receipts", "order"], grows: true },
	redelivered: { unit: "messages", needs: ["receipts"], grows: true },
	corrupted: {
		unit: "messages",
		needs: ["checksum", "receipts"],
		grows: true,
	},
	notOffered: { unit: "messages", label: "not offered" },
	throughput: { ...RECEIVED, says: "messages received per second", example: ">= 100000/s" },
	"throughput.sent": {
		unit: "messages/s",
		needs: ["acks"],
		tick: "acked",
		label: "acknowledged",
		says: "messages acknowledged per second",
	},
	"throughput.received": { ...RECEIVED, sameAs: "throughput" },
	achieved: {
		unit: "messages/s",
		needs: ["rate"],
		tick: "sent",
		label: "sent",
		says: "messages really sent per second",
	},
	// Of a backlog, from the moment its consumers resume.
	drainRate: {
		unit: "messages/s",
		needs: ["backlog"],
		label: "received while the backlog was drained",
		says: "`backlog`: messages received per second while it is drained, with producers going on",
		example: ">= 50000/s",
	},
	drainTime: {
		unit: "ns",
		needs: ["backlog"],
		label: "until the backlog was drained",
		says: "`backlog`: until the messages that have piled up are received",
		example: "< 30s",
	},
	// Of each fault: the worst one decides.
	unavailable: {
		unit: "ns",
		needs: ["faults"],
		says: "`faults`: the longest stretch after a fault in which nothing is acknowledged (where nothing is acknowledged: received)",
		example: "< 10s",
	},
	recovered: {
		unit: "ns",
		needs: ["faults"],
		says: "from a fault until the first latency line of the SLA is met again",
		example: "< 15s",
	},
	drained: {
		unit: "ns",
		needs: ["faults"],
		says: "from a fault until no more messages are in flight than before it",
		example: "< 30s",
	},
} satisfies Record<string, About>;

export type Tally = keyof typeof tallies;
export const Tally = z.enum(Object.keys(tallies) as Tally[]);

export const TALLIES: Readonly<Record<Tally, About>> = tallies;

export function needs(tally: Tally, need: Need): boolean {
	return TALLIES[tally].needs?.includes(need) ?? false;
}
