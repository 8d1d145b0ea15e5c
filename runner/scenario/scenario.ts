import type { Sla } from "../plan/plan.ts";
import type { Rate } from "../units.ts";
import type { BrokerName, Delivery, Order } from "./brokers.ts";
import type { Pattern, Payload, Target } from "./schema.ts";

/**
 * A scenario that has been read, checked and completed: every default is filled in, every case spelled out.
 * It may hold secrets (`System.url`): never write it to a file or a terminal as a whole.
 */
export interface Scenario {
	readonly name: string;
	readonly target: Target;
	readonly systems: readonly System[];
	readonly cases: readonly Case[];
	readonly sla: readonly SlaLine[];
	readonly repeat: number;
	readonly strict: boolean;
}

export interface System {
	/** What the scenario calls it; equal to `broker` when it gives no name of its own. */
	readonly key: string;
	readonly broker: BrokerName;
	/** Where an existing broker listens, password included; null on other targets. */
	readonly url: string | null;
	/** Port for a broker that we start; null: a free one. */
	readonly port: number | null;
}

export interface Case {
	/** Unique within the scenario: "1KiB 3000/s". */
	readonly name: string;
	readonly pattern: Pattern;
	readonly rate: Rate;
	readonly messageBytes: number;
	readonly payload: Payload;
	readonly checksum: boolean;
	/** null: what the system's broker promises. */
	readonly delivery: Delivery | null;
	readonly order: Order;
	readonly warmupNs: number;
	readonly durationNs: number;
	readonly drainNs: number;
	readonly timeoutNs: number;
	/** Most messages in flight per producer; null: no limit. */
	readonly inFlight: number | null;
	readonly connections: number;
	readonly producers: number;
	readonly topics: number;
}

export interface SlaLine {
	readonly expect: Sla;
	/** Key of the system, name of the case that it is for; null: for all of them. */
	readonly system: string | null;
	readonly case: string | null;
}
