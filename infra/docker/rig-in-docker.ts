import type { Tools } from "../../runner/brokers/process.ts";
import type { World } from "../../runner/world.ts";
import type { Docker } from "./cli.ts";
import type { Engine } from "./engine.ts";
import type { Flush } from "./flush.ts";
import type { Network } from "./network.ts";

/** The engine and a rig's things in it. */
export interface RigInDocker {
	readonly docker: Docker;
	readonly engine: Engine;
	readonly network: Network;
	/** On everything that is made. */
	readonly labels: Readonly<Record<string, string>>;
	readonly world: World;
	/** Of this machine. */
	readonly tools: Tools;
	/** Called with a line when something takes long. */
	say(text: string): void;
	/** How long the disk of volumes takes to flush; measured when data is going to be on one. */
	flush(): Promise<Flush | null>;
	/** Clients are containers of the same network and can always use the others' addresses. */
	readonly inside: boolean;
}

/** Clients use the containers' published ports. */
export function isHop({ network, inside }: Pick<RigInDocker, "network" | "inside">): boolean {
	return !network.direct && !inside;
}
