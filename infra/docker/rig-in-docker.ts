import type { Tools } from "../../runner/brokers/process.ts";
import type { World } from "../../runner/world.ts";
import type { Docker } from "./cli.ts";
import type { Engine } from "./engine.ts";
import type { Flush } from "./flush.ts";
import type { Network } from "./network.ts";

/** The engine, and what a rig has in it. */
export interface RigInDocker {
	readonly docker: Docker;
	readonly engine: Engine;
	readonly network: Network;
	/** On everything that is made. */
	readonly labels: Readonly<Record<string, string>>;
	readonly world: World;
	/** Of this machine. */
	readonly tools: Tools;
	/** Told of what takes long. */
	say(text: string): void;
	/** How long the disk of volumes takes to flush; asked for when data is to be on one. */
	flush(): Promise<Flush | null>;
	/** Clients are containers of the same network: they reach the others by their addresses wherever the engine is. */
	readonly inside: boolean;
}

/** Clients reach the containers through published ports. */
export function isHop({
	network,
	inside,
}: Pick<RigInDocker, "network" | "inside">): boolean {
	return !network.direct && !inside;
}
