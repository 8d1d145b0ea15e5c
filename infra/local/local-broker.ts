import type { Level } from "../../runner/model/plan.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";

/** How one kind of broker is run on this machine: one file of `infra/brokers/`. */
export interface LocalBroker {
	/**
	 * Finds its programs, writes its configuration into the store, and says what to start. Fails with `broker-missing` (what
	 * is missing, and how to install it here) or `broker-start`. Starts nothing that outlives the call.
	 */
	launch(setup: Setup): Promise<Launch>;
}

export interface Setup {
	readonly system: System;
	/** Durability that the scenario asks for; null: the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
	/** An empty folder of this run's own, removed afterwards: data, configuration, HOME. */
	readonly store: string;
	/** Ports on 127.0.0.1 that are free now; the first one is the system's own `port`, if it has one. */
	ports(count: number): Promise<number[]>;
	readonly binaries: Binaries;
	readonly world: World;
}

/** What to start, and how to know that it is up. */
export interface Launch {
	/** Commands that have to end well before the nodes start (formatting a store), one after the other. */
	readonly before: readonly Command[];
	readonly nodes: readonly Command[];
	/** Reads a line of a node's stdout or stderr: true, it takes connections. All nodes have to say so. */
	ready(line: string, node: number): boolean;
	/** Asked every 100 ms once all nodes are ready, until it is true: a cluster has its leader. */
	healthy?(): Promise<boolean>;
	/** What drivers get; asked for when everything is up. */
	url(): string;
	/** "nats-server 2.15.2", as the broker said while it started; "" when it did not. */
	version(): string;
	/** The settings that durability and `config` came to, with their real names: {"sync_interval": "always"}. */
	readonly settings: Readonly<Record<string, string>>;
	/** Folders outside of the store that go with it: data that is to lie in memory. */
	readonly outside?: readonly string[];
	/** How long it may take to come up, and to go down before it is killed. */
	readonly startMs: number;
	readonly stopMs: number;
	/** Whether its output says that somebody else listens on its port. */
	portTaken(log: string): boolean;
}

export interface Command {
	readonly argv: readonly string[];
	/** Added to the bare environment (PATH, HOME = store). */
	readonly env?: Readonly<Record<string, string>>;
}
