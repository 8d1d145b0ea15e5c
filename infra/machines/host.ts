import type { World } from "../../runner/world.ts";
import type { Link } from "./link.ts";

/** A machine of its own, or a pod, that makes load or runs a node of a broker: whoever can connect to it can do everything there. */
export interface RemoteHost {
	/** As people write it: "bench@10.0.0.11:2222", "pod mqbench-k3x-clients-0". */
	readonly name: string;
	/** System whose broker runs there, for messages. Default: it makes load. */
	readonly broker?: string;
	/** mqbench's set-up script has prepared it: then its disk is to be used. */
	readonly setUp: boolean;
	/** It is a container of its machine, whose cores it has at most so many of (null: all), and which several may be on. */
	readonly container?: { readonly cpus: number | null };
	/** Connects; `stop` cancels. `first`: the first connection, when it may still be starting. Fails with a sentence. */
	connect(using: Connecting, stop: AbortSignal, first: boolean): Promise<Link>;
}

export interface Connecting {
	/** The program agent of this machine. */
	readonly agent: string;
	readonly world: Pick<World, "env" | "cwd" | "clock">;
	/** Called with what it is waiting for, a line for people. */
	say(line: string): void;
}
