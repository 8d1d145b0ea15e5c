import type { Level } from "../runner/plan/plan.ts";
import type { System } from "../runner/scenario/scenario.ts";

/**
 * What a target stands up: brokers to measure, clients that make the load, and the promise to take down again
 * whatever it started. The runner knows nothing else of a target.
 */
export interface Rig {
	/** Machines that run k6. */
	readonly clients: readonly Client[];
	/**
	 * Brings up (or finds) the broker of one system, for one run, and returns when it takes connections. Every run
	 * of a broker that we start gets a fresh process: no run inherits another one's state, and no rival idles beside it.
	 */
	open(request: BrokerRequest): Promise<Broker>;
	/** Ends everything that is still up. May be called at any moment, more than once. */
	teardown(): Promise<void>;
}

/** A machine that runs k6; this one, so far. */
export interface Client {
	readonly kind: "local";
	readonly index: number;
}

/** What a run needs of the broker of its system. */
export interface BrokerRequest {
	readonly system: System;
	/** Durability that the scenario asks for; null: the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
	/** CPUs for its processes, in the manner of taskset; null: wherever the kernel likes. */
	readonly cpus: string | null;
	/** Where its output goes. */
	readonly logPath: string;
}

export interface Broker {
	/** With password, for the driver alone. */
	readonly url: string;
	/** What it says of itself before the driver has asked: "nats-server 2.15.2"; "" when unknown. */
	readonly version: string;
	/** Path of the program that we started; null: not ours. */
	readonly binary: string | null;
	/** It shares this machine's cores with the generator. */
	readonly sameHost: boolean;
	/** Its processes on this machine, one per node; empty: none of ours. Their children belong to them. */
	readonly pids: readonly number[];
	/** The settings that durability and `config` came to, with their real names; empty: not ours to know. */
	readonly settings: Readonly<Record<string, string>>;
	/**
	 * Freezes its processes, of one node (from 1) or of all, until the function that it returns is called. Throws a sentence for a
	 * broker that is not ours.
	 */
	pause(node: number | null): () => void;
	/** Resolves with a sentence when a broker that we started ends by itself; never for one that we did not. */
	readonly died: Promise<string>;
	close(): Promise<void>;
}

/** A broker that is not ours never tells us that it died. */
export const NEVER: Promise<never> = new Promise(() => {});
