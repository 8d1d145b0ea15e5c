import type { Level } from "../model/plan.ts";
import type { SystemOptionsOfAnyBroker } from "./fields.ts";

/** How one kind of broker is run, wherever that is: `process.ts` of its folder. */
export interface BrokerProcess {
	/** Debian packages that it runs on, installed by the set-up of hosts. */
	readonly packages: readonly string[];
	/** What each of so many nodes listens on: the clients' first, of which some have several. In containers and on hosts with these numbers. */
	ports(nodes: number): readonly Port[];
	/** What the official images lay down. */
	readonly container: {
		/** Where they read configuration. Default: nowhere in particular. */
		readonly folder?: string;
		/** Where they keep data: their user may write there. */
		readonly data: string;
		/** Processes that it starts need a parent that waits for them. */
		readonly init?: boolean;
	};
	/** What runs on hosts of systems that name no image. */
	readonly onHosts: {
		/** For plans: "the host's redis-server". */
		text(options: SystemOptionsOfAnyBroker): string;
		/** Any `version` of it is copied there. Left out: another version than this is its official image. */
		readonly anyVersion?: true;
	};
	/** Gets what takes a while to get on this machine (once), before rented hosts wait for it. Default: nothing does. */
	prepare?(setup: Pick<Setup, "system" | "tools">): Promise<unknown>;
	/** What to start. Starts nothing itself. Fails with `broker-missing`: what is missing, and how to install it. */
	describe(setup: Setup): Promise<Described>;
}

export interface Port {
	readonly number: number;
	/** Who comes to it: on a host those of `itself` are on its loopback. */
	readonly from: "clients" | "nodes" | "health" | "itself";
}

/** Numbers of the ports at which clients come to it. */
export function clientPorts(kind: Pick<BrokerProcess, "ports">): number[] {
	return portsFrom(kind, "clients");
}

/** Numbers of the ports at which others than nodes come to it: the clients' first, then that of its health, if it has one. */
export function reachedPorts(kind: Pick<BrokerProcess, "ports">): number[] {
	return [...portsFrom(kind, "clients"), ...portsFrom(kind, "health")];
}

/** What is to be started, and where. */
export interface Setup {
	readonly system: StartedSystem;
	/** Durability that the scenario asks for; null: the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
	readonly nodes: readonly Site[];
	/** Of this machine; what is `built` is for where the nodes run. */
	readonly tools: Tools;
	/** Of containers, on hosts too: its entry point starts the broker. null: programs are started as they are. */
	readonly image: ImageFacts | null;
	/** Of hosts. null: this machine, or a container. */
	readonly ask: Ask | null;
	/** In words, for reports: where data lies on a disk, and what is memory. */
	readonly where: { readonly disk: string; readonly memory: string };
}

/** Where a node is. Paths and addresses are as it sees them. */
export interface Site {
	/** Address that it listens on: one of its own, or ANY. */
	readonly listen: string;
	/** Address at which other nodes find it. */
	readonly ip: string;
	/** Name of its host, for people. */
	readonly hostname: string;
	/** Where clients reach it, "host:port" of each of its `clientPorts`. */
	readonly clients: readonly string[];
	/** The first of them. */
	readonly client: string;
	/** Clients have another address for it than other nodes do: it has to tell them theirs. */
	readonly published: boolean;
	/** Numbers of its ports, in the description's order. */
	readonly ports: readonly number[];
	/** Where mqbench asks for its health, "host:port"; "" without such a port. */
	readonly health: string;
	/** Where its files lie. */
	readonly folder: string;
	/** Where data goes, on the disk that is measured. */
	readonly data: string;
	/** Where data goes that is to lie in memory, and what is free there; null: there is no such place. */
	readonly memory: { readonly freeBytes: number; folder(): Promise<string> } | null;
	/** Path there of a file or folder of this machine, which is brought if need be. */
	bring(name: string, from: string): string;
}

/** Within a container: its own network has nobody else in it. */
export const ANY = "0.0.0.0";

/** What to start, and how it tells that it is up, and where and what it is. */
export interface Described {
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
	/** How long it may take to come up, and to go down before it is killed. */
	readonly startMs: number;
	readonly stopMs: number;
	readonly nodes: readonly NodeDescription[];
	/** Where it keeps what it stores; null: it stores nothing. */
	readonly data: "disk" | "memory" | null;
	/** What it keeps waits for a disk: how long a flush takes there belongs into reports. */
	readonly flushes: boolean;
}

export interface NodeDescription {
	/** Commands that have to end well before it starts, one after the other. */
	readonly before?: readonly (readonly string[])[];
	/** In a container: behind the image's entry point, unless something comes before. */
	readonly argv: readonly string[];
	/** Added to a bare environment. */
	readonly env?: Readonly<Record<string, string>>;
	/** Text by path from the node's folder; only its user may read it. */
	readonly files: Readonly<Record<string, string>>;
}

/**
 * Runs a command on the host of that node (from 0) to its end, without anything on standard input: what is installed there? `said` is its
 * stdout and stderr; code 127: there is no such program. Fails as the connection does.
 */
export type Ask = (
	node: number,
	argv: readonly string[],
) => Promise<{ readonly code: number; readonly said: string }>;

/** What this machine has for whoever starts a broker. */
export interface Tools {
	readonly env: Readonly<Record<string, string | undefined>>;
	/**
	 * Path of a server that mqbench builds itself, by its program's name: for where it is going to run. Builds it if need be. Fails as that
	 * does: no Go.
	 */
	built(program: string): Promise<string>;
	/** Where a program lies: on PATH (of `env`), or where servers are put that users' PATHs leave out. */
	findOnPath(name: string, env?: Readonly<Record<string, string | undefined>>): string | null;
	/** The system's own `binary`, else `own`. Fails with `broker-missing`, with the way to install that. */
	findProgram(
		system: StartedSystem,
		own?: { readonly name: string; readonly install: string },
	): string;
	/**
	 * Folder with the jars of a pom, which are `name` for people, and all that they need at run time: fetched once by Maven (the program `mvn`),
	 * with those properties of the pom. `sums`: file with the sha256 of each; null: none are pinned. `system`: for errors.
	 */
	jars(asked: {
		readonly name: string;
		readonly pom: string;
		readonly properties: Readonly<Record<string, string>>;
		readonly sums: string | null;
		readonly mvn: string;
		readonly system: string;
	}): Promise<string>;
}

/** A system of a scenario, as far as starting it goes. */
export interface StartedSystem {
	readonly key: string;
	/** Path of the broker to start, absolute or a name on PATH; null: mqbench's own choice. */
	readonly binary: string | null;
	readonly options: SystemOptionsOfAnyBroker;
}

/** What an image is, beside its name. */
export interface ImageFacts {
	readonly name: string;
	/** "sha256:..." of the registry, which anybody may pull; null: it was built here. */
	readonly digest: string | null;
	/** Of this engine alone. */
	readonly id: string;
	/** Environment that it gives its containers. */
	readonly env: Readonly<Record<string, string>>;
	/** Words before a container's command. */
	readonly entrypoint: readonly string[];
}

// --- internal ---

function portsFrom({ ports }: Pick<BrokerProcess, "ports">, who: Port["from"]): number[] {
	return ports(Number.POSITIVE_INFINITY)
		.filter(({ from }) => from === who)
		.map(({ number }) => number);
}
