import type { NodeDescription } from "../../runner/brokers/process.ts";

/**
 * Where one node of a broker runs: a folder of this machine, a container, or a host over ssh. Everything that is done with brokers (bring-up,
 * health, faults, take-down) is written once, on top of this.
 */
export interface Place {
	/** For people; null for this machine. */
	readonly host: string | null;
	/** Whether signals pause it; otherwise the engine freezes it. */
	readonly signals: boolean;
	/** Puts the node's files there. Starts nothing. */
	prepare(node: NodeDescription): Promise<void>;
	/** Runs one of the preparations of the node. Absent: the place runs them itself at each start of the node. */
	run?(command: Command, take: TakeLine): Promise<NodeProcess>;
	/** Starts the node, for the first time or again, with the same data, address and log. */
	start(node: NodeDescription, take: TakeLine): Promise<NodeProcess>;
	/** Changes its network. Absent: mqbench does not control its network. */
	readonly network?: { partition(): Promise<Back>; latency(delayNs: number): Promise<Back> };
	/** Ends everything that was started there, or lets go of it if it is removed otherwise. */
	close(): Promise<void>;
}

export type TakeLine = (line: string) => void;

/** Undoes it. */
export type Back = () => Promise<void>;

export type Command = Pick<NodeDescription, "argv" | "env">;

/** A started node: one process and its descendants. */
export interface NodeProcess {
	/** Resolves when it has ended and its output is read. Never rejects. */
	readonly ended: Promise<End>;
	/** Its pid on this machine; null if it has none here. */
	pid(): Promise<number | null>;
	/** Signals all of its processes at once; resolves with their number. */
	signal(name: Signal): Promise<number>;
	/** Asks it to end, and kills it if it takes too long; resolves when it is gone. */
	end(): Promise<void>;
}

export type Signal = "STOP" | "CONT" | "KILL";

export interface End {
	/** "exit code 1", "SIGKILL", "out of memory: ...", for people. */
	readonly how: string;
	/** With exit code 0. */
	readonly well: boolean;
	/** Unknown, because the connection to its host was lost. */
	readonly lost: boolean;
}
