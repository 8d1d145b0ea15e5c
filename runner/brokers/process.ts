import type { MetricsReader } from "../model/metrics-file.ts";
import type { Level } from "../model/plan.ts";
import type { SystemOptionsOfAnyBroker } from "./fields.ts";

export interface BrokerProcess {
	/** Debian packages that the set-up of hosts installs. */
	readonly packages: readonly string[];
	/** Ports of each of `nodes`, the clients' first; containers and hosts use these numbers. */
	ports(nodes: number): readonly Port[];
	readonly container: {
		/** Where official images read configuration. */
		readonly folder?: string;
		/** Where official images keep data: their user may write there. */
		readonly data: string;
		/** Its child processes need an init that waits for them. */
		readonly init?: boolean;
	};
	/** For systems on hosts that name no image. */
	readonly onHosts: {
		text(options: SystemOptionsOfAnyBroker): string;
		/** mqbench copies any `version`; otherwise another version runs as the official image. */
		readonly anyVersion?: true;
	};
	/** Does slow downloads once, before rented hosts wait for them. */
	prepare?(setup: Pick<Setup, "system" | "tools">): Promise<unknown>;
	/** Starts nothing itself. Fails with `broker-missing` and how to install the missing program. */
	describe(setup: Setup): Promise<Described>;
}

export interface Port {
	readonly number: number;
	/** On a host, ports for `itself` are on its loopback. */
	readonly from: "clients" | "nodes" | "health" | "itself";
}

export function clientPorts(kind: Pick<BrokerProcess, "ports">): number[] {
	return portsFrom(kind, "clients");
}

/** Ports for others than nodes: the clients' first, then health. */
export function reachedPorts(kind: Pick<BrokerProcess, "ports">): number[] {
	return [...portsFrom(kind, "clients"), ...portsFrom(kind, "health")];
}

export interface Setup {
	readonly system: StartedSystem;
	/** The scenario's durability; null for the broker's own. */
	readonly level: Level | null;
	readonly messageBytes: number;
	readonly nodes: readonly Site[];
	/** For this machine; only `built` compiles for the nodes' machines. */
	readonly tools: Tools;
	/** For containers, on hosts too: the image's entry point starts the broker. */
	readonly image: ImageFacts | null;
	readonly ask: Ask | null;
	readonly where: { readonly disk: string; readonly memory: string };
}

/** Paths and addresses are as the node sees them. */
export interface Site {
	/** Its own address or ANY. */
	readonly listen: string;
	/** For other nodes. */
	readonly ip: string;
	readonly hostname: string;
	/** "host:port" of each of its `clientPorts`. */
	readonly clients: readonly string[];
	readonly client: string;
	/** Clients use another address than other nodes do, so it has to send them theirs. */
	readonly published: boolean;
	/** In the order of `BrokerProcess.ports`. */
	readonly ports: readonly number[];
	/** "host:port"; "" without such a port. */
	readonly health: string;
	readonly folder: string;
	/** On the disk that is measured. */
	readonly data: string;
	/** For data in memory; null if there is no such place. */
	readonly memory: { readonly freeBytes: number; folder(): Promise<string> } | null;
	/** Path on the node of a file or folder of this machine, copied if need be. */
	bring(name: string, from: string): string;
}

/** For containers, whose network is private. */
export const ANY = "0.0.0.0";

export interface Described {
	/** Reads a line of a node's output; true if it takes connections. All nodes have to. */
	ready(line: string, node: number): boolean;
	/** Whether it takes connections, polled every 100 ms, of one that may log nothing. */
	answers?(): Promise<boolean>;
	/** Polled every 100 ms once all nodes are ready, until true. A cluster then has its leader. */
	healthy?(): Promise<boolean>;
	/** For drivers; called when everything is up. */
	url(): string;
	/** Its nodes' own metrics: URLs, or the broker's own way to read them. */
	readonly metrics?: readonly (string | MetricsReader)[];
	/** "nats-server 2.15.2" from its log; "" if it logged none. */
	version(): string;
	/** Effective settings under their real names: {"sync_interval": "always"}. */
	readonly settings: Readonly<Record<string, string>>;
	readonly startMs: number;
	readonly stopMs: number;
	readonly nodes: readonly NodeDescription[];
	readonly data: "disk" | "memory" | null;
	/** It waits for a disk, so reports show how long a flush takes there. */
	readonly flushes: boolean;
}

export interface NodeDescription {
	/** Run one after the other before it starts; each must succeed. */
	readonly before?: readonly (readonly string[])[];
	/** In a container these follow the image's entry point, unless `before` has commands. */
	readonly argv: readonly string[];
	/** Added to a bare environment. */
	readonly env?: Readonly<Record<string, string>>;
	/** Text by path within the node's folder, readable only by its user. */
	readonly files: Readonly<Record<string, string>>;
}

/** Runs a command on a node's host without stdin. `said` is stdout and stderr. Code 127 means that there is no such program. */
export type Ask = (
	node: number,
	argv: readonly string[],
) => Promise<{ readonly code: number; readonly said: string }>;

export interface Tools {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Path of a server that mqbench builds, for where it is going to run, or of a driver's module. Fails without Go. */
	built(program: string): Promise<string>;
	/** Searches PATH (of `env`) and the folders of servers that users' PATHs leave out. */
	findOnPath(name: string, env?: Readonly<Record<string, string | undefined>>): string | null;
	/** The system's `binary`, else `own`. Fails with `broker-missing`. */
	findProgram(
		system: StartedSystem,
		own?: { readonly name: string; readonly install: string },
	): string;
	/** Folder with the jars of a pom and their dependencies, which `mvn` fetches once. `sums`: file of pinned sha256s. */
	jars(asked: {
		readonly name: string;
		readonly pom: string;
		readonly properties: Readonly<Record<string, string>>;
		readonly sums: string | null;
		readonly mvn: string;
		readonly system: string;
	}): Promise<string>;
}

export interface StartedSystem {
	readonly key: string;
	/** An absolute path or a name on PATH; null for mqbench's own choice. */
	readonly binary: string | null;
	/** The option that has it. */
	readonly option?: "binary" | "command";
	readonly options: SystemOptionsOfAnyBroker;
}

export interface ImageFacts {
	readonly name: string;
	/** "sha256:..." of the registry; null if it was built here. */
	readonly digest: string | null;
	/** Valid on this engine only. */
	readonly id: string;
	readonly env: Readonly<Record<string, string>>;
	readonly entrypoint: readonly string[];
}

// --- internal ---

function portsFrom({ ports }: Pick<BrokerProcess, "ports">, who: Port["from"]): number[] {
	return ports(Number.POSITIVE_INFINITY)
		.filter(({ from }) => from === who)
		.map(({ number }) => number);
}
