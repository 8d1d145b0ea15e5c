import type { NodeDescription } from "../../runner/brokers/process.ts";

/**
 * Where one node of a broker runs: in a folder of this machine, in a container, on a host that ssh reaches. All that is done with brokers
 * (bring-up, health, faults, take-down) is written once, over this.
 */
export interface Place {
	/** For people; null: this machine. */
	readonly host: string | null;
	/** Whether it is paused by signals; else the engine freezes it. */
	readonly signals: boolean;
	/** Puts there what the node needs. Starts nothing. */
	prepare(node: NodeDescription): Promise<void>;
	/** Runs one of the commands that come before the node. Absent: the place does so by itself each time that the node starts. */
	run?(command: Command, take: TakeLine): Promise<NodeProcess>;
	/** Starts the node, for the first time or once more, with the same data, address and log. */
	start(node: NodeDescription, take: TakeLine): Promise<NodeProcess>;
	/** Takes a node that runs there already, with what it writes from now on. */
	attach?(take: TakeLine): Promise<NodeProcess>;
	/** What can be done to its network. Absent: it has none of mqbench's own. */
	readonly network?: {
		partition(): Promise<Back>;
		latency(delayNs: number): Promise<Back>;
	};
	/** Ends whatever has been started there, or lets go of it where it is removed otherwise, or stays. */
	close(): Promise<void>;
}

export type TakeLine = (line: string) => void;

/** Takes back what was done. */
export type Back = () => Promise<void>;

export type Command = Pick<NodeDescription, "argv" | "env">;

/** A node that has been started: one process, and whatever it has started. */
export interface NodeProcess {
	/** Resolves when it has ended and its output is read. Never rejects. */
	readonly ended: Promise<End>;
	/** Its number on this machine; null: it has none here. */
	pid(): Promise<number | null>;
	/** Signals all of its processes at once; resolves with how many there were. */
	signal(name: Signal): Promise<number>;
	/** Asks it to end, and kills it if it does not in time; resolves when it is gone. */
	end(): Promise<void>;
}

export type Signal = "STOP" | "CONT" | "KILL";

export interface End {
	/** "exit code 1", "SIGKILL", "out of memory: ...", for people. */
	readonly how: string;
	/** With exit code 0. */
	readonly well: boolean;
	/** Nobody knows: the connection to its host was lost. */
	readonly lost: boolean;
}
