import type { Level } from "../../runner/model/plan.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import type { NodeAddress } from "../docker/docker-broker.ts";
import type { Launch } from "../local/local-broker.ts";

/**
 * How one kind of broker is run on hosts that ssh reaches, a node on each: one file of `infra/brokers/`, which it shares with how it is run
 * as processes here and in containers.
 */
export interface HostBroker {
	/** Debian packages that it runs on, installed by the hosts' set-up. */
	readonly packages: readonly string[];
	/** Ports that a node listens on: the clients' first, then those that mqbench asks for its health. */
	readonly ports: readonly number[];
	/** Ports on which each of so many nodes listens, at its address and on its host's loopback: nobody else may hold them. */
	listens(nodes: number): {
		readonly address: readonly number[];
		readonly loopback?: readonly number[];
	};
	/** Gets what takes a while to get on this machine (once), before rented hosts wait for it. Default: nothing does. */
	prepare?(
		setup: Pick<HostSetup, "system" | "world" | "binaries">,
	): Promise<unknown>;
	/** What to bring and what to start. Starts nothing itself. */
	place(setup: HostSetup): Promise<Placement>;
}

export interface HostSetup {
	readonly system: System;
	/** Durability that the scenario asks for; null: the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
	readonly nodes: readonly HostAddress[];
	/** Programs for the hosts' system and processor. */
	readonly binaries: Binaries;
	readonly world: World;
	/**
	 * Runs a command on the host of that node (from 0) to its end, without anything on standard input: what is installed there? `said` is its
	 * stdout and stderr; code 127: there is no such program. Fails as the connection does.
	 */
	ask(
		node: number,
		argv: readonly string[],
	): Promise<{ readonly code: number; readonly said: string }>;
}

/**
 * `ip` is the one address that the node listens on; `hostname` is the host for people, as rig.json has it; `reached` are tunnels of this machine to
 * `ports`, until the broker is up; never `published`.
 */
export interface HostAddress extends NodeAddress {
	/** Empty folder of this run on that host, on the disk that is measured. Gone afterwards. */
	readonly store: string;
	/** The same in memory (tmpfs); `memoryBytes` are free there. null: that host has no such place. */
	readonly memory: string | null;
	readonly memoryBytes: number | null;
	/** Where what is brought lies: a file or folder by its name below. */
	readonly brought: string;
}

/** What is run on the hosts, and how to know that the broker there is up. */
export interface Placement
	extends Pick<
		Launch,
		"ready" | "healthy" | "url" | "version" | "settings" | "startMs" | "stopMs"
	> {
	/** Files and folders of this machine that have to lie in `brought`, by their name there: copied once, checked by sha256. */
	readonly bring: Readonly<Record<string, string>>;
	readonly nodes: readonly HostNode[];
	/** What it keeps lies in the store: how long a flush takes there belongs into reports. */
	readonly onDisk: boolean;
}

export interface HostNode {
	/** Commands that have to end well before it starts, one after the other. */
	readonly before: readonly (readonly string[])[];
	readonly argv: readonly string[];
	/** Added to a bare environment (PATH, HOME = store). */
	readonly env?: Readonly<Record<string, string>>;
	/** Text by path below the store; written with mode 0600. */
	readonly files: Readonly<Record<string, string>>;
}
