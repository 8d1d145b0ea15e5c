import type { Level } from "../model/plan.ts";
import type { SystemOptionsOfAnyBroker } from "./fields.ts";

/** How one kind of broker is run: `process.ts` of its folder. */
export interface BrokerProcess {
	/** As processes of this machine. */
	readonly local: LocalBroker;
	/** In containers. */
	readonly docker: DockerBroker;
	/** On hosts that ssh reaches, a node on each. */
	readonly hosts: HostBroker;
}

/** What this machine has for whoever starts a broker. */
export interface Tools {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Path of a program that mqbench builds itself, by its name ("nats-server"): for where it is going to run. */
	built(program: string): string;
	/** Where a program lies: on PATH (of `env`), or where servers are put that users' PATHs leave out. */
	findOnPath(
		name: string,
		env?: Readonly<Record<string, string | undefined>>,
	): string | null;
	/** The system's own `binary`, else the first of `names` that is there. Fails with `broker-missing`. */
	findProgram(
		system: StartedSystem,
		names: readonly string[],
		install: Install,
	): string;
	/** The way to install something on this platform. */
	installHere(install: Install): string;
	/**
	 * Folder with the jars of a pom, which are `name` for people, and all that they need at run time: fetched once by Maven (the program `mvn`),
	 * with those properties of the pom. `system`: for errors.
	 */
	jars(asked: {
		readonly name: string;
		readonly pom: string;
		readonly properties: Readonly<Record<string, string>>;
		readonly mvn: string;
		readonly system: string;
	}): Promise<string>;
	/** A folder that goes with this process. */
	temporaryFolder(parent: string): Promise<string>;
}

/** How a person gets a program: by platform, as the end of "Install it: ...". */
export interface Install {
	readonly linux: string;
	readonly darwin: string;
	readonly other: string;
}

/** A system of a scenario, as far as starting it goes. */
export interface StartedSystem {
	readonly key: string;
	/** Path of the broker to start, absolute or a name on PATH; null: mqbench's own choice. */
	readonly binary: string | null;
	readonly options: SystemOptionsOfAnyBroker;
}

/** What is to be started, wherever that is. */
export interface Asked {
	readonly system: StartedSystem;
	/** Durability that the scenario asks for; null: the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
}

/** How a broker tells that it is up, and where and what it is. */
export interface Signs {
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
}

export interface LocalBroker {
	/**
	 * Finds its programs, writes its configuration into the store, and says what to start. Fails with `broker-missing` (what
	 * is missing, and how to install it here) or `broker-start`. Starts nothing that outlives the call.
	 */
	launch(setup: Setup): Promise<Launch>;
}

export interface Setup extends Asked {
	/** An empty folder of this run's own, removed afterwards: data, configuration, HOME. */
	readonly store: string;
	/** Ports on 127.0.0.1 that are free now; the first one is the system's own `port`, if it has one. */
	ports(count: number): Promise<number[]>;
	readonly tools: Tools;
}

/** What to start, and how to know that it is up. */
export interface Launch extends Signs {
	/** Commands that have to end well before the nodes start (formatting a store), one after the other. */
	readonly before: readonly Command[];
	readonly nodes: readonly Command[];
	/** Folders outside of the store that go with it: data that is to lie in memory. */
	readonly outside?: readonly string[];
	/** Whether its output says that somebody else listens on its port. */
	portTaken(log: string): boolean;
}

export interface Command {
	readonly argv: readonly string[];
	/** Added to the bare environment (PATH, HOME = store). */
	readonly env?: Readonly<Record<string, string>>;
}

export interface DockerBroker {
	/**
	 * Ports that a node listens on within its container: the clients' first, then those that mqbench asks for its health. Where
	 * containers cannot be reached by their addresses these are published.
	 */
	readonly ports: readonly number[];
	/** What each container is to be. Starts nothing. */
	contain(setup: ContainerSetup): Promise<Containment>;
}

export interface ContainerSetup extends Asked {
	readonly tools: Tools;
	readonly image: ImageFacts;
	readonly nodes: readonly NodeAddress[];
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
}

/** Where a node is to be found. */
export interface NodeAddress {
	/** In the network of the containers: for other nodes, and for clients in containers. */
	readonly ip: string;
	/** Name of its host, within the container and for people: "mqbench-1". */
	readonly hostname: string;
	/** Where clients reach it, "host:port". */
	readonly client: string;
	/** Where mqbench itself reaches each of `ports`, "host:port". */
	readonly reached: readonly string[];
	/** Clients have another address for it than other nodes do: it has to tell them theirs. */
	readonly published: boolean;
}

/** What containers to make, and how to know that the broker in them is up. */
export interface Containment extends Signs {
	readonly nodes: readonly NodeContainer[];
}

export interface NodeContainer {
	/** Behind the image's own entry point. */
	readonly args: readonly string[];
	/** Instead of the image's own entry point. */
	readonly entrypoint?: string;
	readonly env?: Readonly<Record<string, string>>;
	/** Text by absolute path within the container: mounted read-only. */
	readonly files: Readonly<Record<string, string>>;
	/** Where it keeps what it stores, and whether that is a volume or memory; null: it stores nothing. */
	readonly data: {
		readonly path: string;
		readonly kind: "volume" | "memory";
	} | null;
	/** Processes that it starts need a parent that waits for them. */
	readonly init?: boolean;
}

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
	prepare?(setup: Pick<HostSetup, "system" | "tools">): Promise<unknown>;
	/** What to bring and what to start. Starts nothing itself. */
	place(setup: HostSetup): Promise<Placement>;
}

export interface HostSetup extends Asked {
	readonly nodes: readonly HostAddress[];
	/** Of this machine; what is `built` is for the hosts' system and processor. */
	readonly tools: Tools;
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
export interface Placement extends Signs {
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
