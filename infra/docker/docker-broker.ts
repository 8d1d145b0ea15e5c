import type { Level } from "../../runner/model/plan.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import type { Launch } from "../local/local-broker.ts";
import type { ImageFacts } from "./images.ts";

/** How one kind of broker is run in containers: one file of `infra/brokers/`, which it shares with how it is run as processes here. */
export interface DockerBroker {
	/**
	 * Ports that a node listens on within its container: the clients' first, then those that mqbench asks for its health. Where
	 * containers cannot be reached by their addresses these are published.
	 */
	readonly ports: readonly number[];
	/** What each container is to be. Starts nothing. */
	contain(setup: ContainerSetup): Containment;
}

export interface ContainerSetup {
	readonly system: System;
	/** Durability that the scenario asks for; null: the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
	readonly image: ImageFacts;
	readonly nodes: readonly NodeAddress[];
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
export interface Containment
	extends Pick<
		Launch,
		"ready" | "healthy" | "url" | "version" | "settings" | "startMs" | "stopMs"
	> {
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
