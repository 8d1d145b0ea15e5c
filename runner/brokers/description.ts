import type { Asked, HostSetup, ImageFacts, Signs, Tools } from "./process.ts";

/** How one kind of broker is run, wherever that is: `process.ts` of its folder. `at-places.ts` makes it serve each kind of place. */
export interface Description {
	/** Debian packages that it runs on, installed by the set-up of hosts. */
	readonly packages: readonly string[];
	/** What each of so many nodes listens on: the clients' first. In containers and on hosts with these numbers. */
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

export interface Setup extends Asked {
	readonly nodes: readonly Site[];
	readonly tools: Tools;
	/** Of containers: its entry point starts the broker. null: programs are started as they are. */
	readonly image: ImageFacts | null;
	/** Of hosts: runs a command there (HostSetup). null: this machine, or a container. */
	readonly ask: HostSetup["ask"] | null;
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
	/** Where clients reach it, "host:port". */
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
	readonly memory: {
		readonly freeBytes: number;
		folder(): Promise<string>;
	} | null;
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
