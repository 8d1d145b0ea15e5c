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
		/** For plans: "the host's redis-server". `version`: what the scenario asks for, if it can. */
		text(version: string | undefined): string;
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

export interface Setup extends Asked {
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

/** What to start, and how to know that it is up. */
export interface Described extends Signs {
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
	/** The system's own `binary`, else the first of `names` that is there. Fails with `broker-missing`. */
	findProgram(system: StartedSystem, names: readonly string[], install: Install): string;
	/** The way to install something on this platform. */
	installHere(install: Install): string;
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

/** A server, by what differs from others. */
interface Parts<Options> extends Pick<BrokerProcess, "container"> {
	/** Left out: none. */
	readonly packages?: readonly string[];
	readonly onHosts: string | BrokerProcess["onHosts"];
	/** The port of its only kind, or all of them. */
	readonly ports: number | BrokerProcess["ports"];
	readonly program: Program;
	launch(setup: Setup, options: Options): Promise<Launch> | Launch;
}

/** What stands before a node's arguments, and how that is got. */
export interface Program extends Pick<BrokerProcess, "prepare"> {
	command(setup: Setup, node: Site, index: number): Promise<readonly string[]>;
}

/** What a server is started with, and how it tells that it is up. */
interface Launch extends Omit<Described, "nodes" | "settings" | "ready" | "version" | "url"> {
	/** As reports show them. */
	readonly settings: Readonly<Record<string, unknown>>;
	readonly url: string;
	readonly says: Pick<Signs, "ready" | "version">;
	/** `argv`: behind the program. */
	node(site: Site, index: number): NodeDescription | Promise<NodeDescription>;
}

/** How such a server is run. The scenario's word chose the file that says so: the options are its own. */
export function server<Options>({
	packages = [],
	onHosts,
	container,
	ports,
	program,
	launch,
}: Parts<Options>): BrokerProcess {
	return {
		packages,
		onHosts: typeof onHosts === "string" ? { text: () => onHosts } : onHosts,
		container,
		ports: typeof ports === "number" ? () => [{ number: ports, from: "clients" }] : ports,
		...(program.prepare ? { prepare: program.prepare } : {}),
		async describe(setup) {
			const { node, settings, url, says, ...made } = await launch(
				setup,
				setup.system.options as Options,
			);
			return {
				...made,
				...says,
				url: () => url,
				settings: texts(settings),
				nodes: await Promise.all(
					setup.nodes.map(async (site, i) => {
						const first = await program.command(setup, site, i);
						const described = await node(site, i);
						return { ...described, argv: [...first, ...described.argv] };
					}),
				),
			};
		},
	};
}

/** A server that tells its version in one line of its log, and in one that it is up. `name` stands before the version. */
export function says(name: string, tells: RegExp, up: RegExp): Pick<Signs, "ready" | "version"> {
	let version = "";
	return {
		ready(line) {
			version ||= tells.exec(line)?.[1] ?? "";
			return up.test(line);
		},
		version: () => version && `${name} ${version}`,
	};
}

/** A server that mqbench builds, where the scenario names no other. `bare`: the program of an image that has no entry point. */
export function built(program: string, install: Install, bare: readonly string[] = []): Program {
	return {
		async prepare({ system, tools }) {
			if (system.binary === null) await tools.built(program);
		},
		async command({ system, tools, image }, { bring }) {
			if (image) return image.entrypoint.length > 0 ? [] : bare;
			return system.binary === null
				? [bring(program, await tools.built(program))]
				: [tools.findProgram(system, [], install)];
		},
	};
}

/** Settings as text. */
export function texts(all: Readonly<Record<string, unknown>>): Record<string, string> {
	return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, String(value)]));
}

/** A file with a line for each setting. */
export function lines(
	all: Readonly<Record<string, unknown>>,
	between: string,
	text: (value: unknown) => string = String,
): string {
	return Object.entries(all)
		.map(([key, value]) => `${key}${between}${text(value)}\n`)
		.join("");
}

/** The same way on every platform. */
export function everywhere(way: string): Install {
	return { linux: way, darwin: way, other: way };
}

// --- internal ---

function portsFrom({ ports }: Pick<BrokerProcess, "ports">, who: Port["from"]): number[] {
	return ports(Number.POSITIVE_INFINITY)
		.filter(({ from }) => from === who)
		.map(({ number }) => number);
}
