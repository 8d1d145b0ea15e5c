import { z } from "zod";
import { type AboutCount, countParts, type Need } from "./counts.ts";

export const TallyUnit = z.enum(["messages", "messages/s", "ns", "bytes"]);
export type TallyUnit = z.infer<typeof TallyUnit>;

/** An SLA line about a tally of the unit. More is better for a rate, less for all others. */
export const UNITS = {
	messages: { ops: ["==", "<", "<="], example: "== 0" },
	"messages/s": { ops: [">=", ">"], example: ">= 2990/s" },
	ns: { ops: ["<", "<="], example: "< 30s" },
	bytes: { ops: ["<", "<="], example: "< 2KiB" },
} as const satisfies Record<TallyUnit, object>;

interface About extends AboutCount {
	readonly unit: TallyUnit;
	readonly sameAs?: string;
	/** What a message takes of broker or generator. */
	readonly cost?: true;
	/** For the reference: its meaning (for a count a remark), and a line about it without its name. */
	readonly says?: string;
	readonly example?: string;
}

const RECEIVED = {
	unit: "messages/s",
	needs: ["receipts"],
	label: "received",
	copies: true,
} satisfies About;

const OF_FAULTS = { unit: "ns", needs: ["faults"] } satisfies About;

/** Names for SLA lines. Rates and times can be compared with a baseline; counts have a fixed right value. */
const tallies = {
	...counts(),
	throughput: { ...RECEIVED, says: "messages received per second", example: ">= 100000/s" },
	"throughput.sent": {
		unit: "messages/s",
		needs: ["acks"],
		label: "acknowledged",
		says: "messages acknowledged per second",
	},
	"throughput.received": { ...RECEIVED, sameAs: "throughput" },
	achieved: {
		unit: "messages/s",
		needs: ["rate"],
		label: "sent",
		says: "messages actually sent per second",
	},
	drainRate: {
		unit: "messages/s",
		needs: ["backlog"],
		label: "received while the backlog was drained",
		says: "`backlog`: messages received per second while the backlog drains (producers continue); `catch-up`: until it has caught up",
		example: ">= 50000/s",
	},
	drainTime: {
		unit: "ns",
		needs: ["backlog"],
		label: "until the backlog was drained",
		says: "`backlog`: time until all waiting messages are received; `catch-up`: until the last message older than 1s before a second without one",
		example: "< 30s",
	},
	// The worst fault decides.
	unavailable: {
		...OF_FAULTS,
		says: "`faults`: longest time after a fault without an acknowledgement (without acknowledgements, and for faults of consumers: without a receipt)",
		example: "< 10s",
	},
	recovered: {
		...OF_FAULTS,
		says: "`faults`: time until the first latency line of the SLA is met again",
		example: "< 15s",
	},
	drained: {
		...OF_FAULTS,
		says: "`faults`: time until no more messages are in flight than before the fault",
		example: "< 30s",
	},
	served: {
		...OF_FAULTS,
		says: "`faults` of consumers: time until the last message that was due before the fault is received",
		example: "< 10s",
	},
	cpuPerMessage: {
		unit: "ns",
		needs: ["broker"],
		cost: true,
		label: "broker CPU time per message",
		says: "CPU time of the broker's processes in the window, per message delivered (fan-out: per copy; `publish`: acknowledged); also written `cpu per message`",
		example: "< 20us",
	},
	generatorCpuPerMessage: {
		unit: "ns",
		cost: true,
		label: "load generator CPU time per message",
		says: "the same for the load generator, producers and consumers together",
		example: "< 20us",
	},
	diskPerMessage: {
		unit: "bytes",
		needs: ["broker"],
		cost: true,
		label: "broker disk writes per message",
		says: "bytes that the broker's processes sent to the disk in the window, per message delivered",
	},
} satisfies Record<string, About>;

export type Tally = keyof typeof tallies;
export const Tally = z.enum(Object.keys(tallies) as Tally[]);

export const TALLIES: Readonly<Record<Tally, About>> = tallies;

export function needs(tally: Tally, need: Need): boolean {
	return TALLIES[tally].needs?.includes(need) ?? false;
}

// --- internal ---

function counts() {
	const parts = countParts("tally");
	return Object.fromEntries(
		Object.entries(parts).map(([name, about]) => [name, { unit: "messages", ...about }]),
	) as { [C in keyof typeof parts]: About };
}
