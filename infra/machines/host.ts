import type { World } from "../../runner/world.ts";
import type { Link } from "./link.ts";

/** A machine, or a pod, that makes load or runs a node of a broker: a user who can connect to it can do everything there. */
export interface RemoteHost {
	/** As written by people: "bench@10.0.0.11:2222", "pod mqbench-k3x-clients-0". */
	readonly name: string;
	/** System whose broker runs there, for messages. Default: it makes load. */
	readonly broker?: string;
	/** mqbench's set-up script has prepared it: then its disk is to be used. */
	readonly setUp: boolean;
	/** It is a container of its machine, which several may share, with at most `cpus` of its cores (null for all). */
	readonly container?: { readonly cpus: number | null };
	/** Connects; `stop` cancels. `first` is true for the first connection, when it may still be starting. Fails with a sentence. */
	connect(using: Connecting, stop: AbortSignal, first: boolean): Promise<Link>;
}

export interface Connecting {
	/** The program agent of this machine. */
	readonly agent: string;
	readonly world: Pick<World, "env" | "cwd" | "clock">;
	/** Called with the reason for waiting, a line for people. */
	say(line: string): void;
}
