import type { Program } from "../binaries/build.ts";

/** How one kind of broker is run on this machine: one file of `infra/brokers/`. */
export interface LocalBroker {
	readonly program: Program;
	/** `port` null: a free one. `store`: an empty folder of its own. */
	argv(where: { port: number | null; store: string }): string[];
	/** Reads a line of its stdout: what it says when it takes connections, else null. */
	ready(line: string): Ready | null;
	/** Whether its log says that somebody else listens on its port. */
	portTaken(log: string): boolean;
}

export interface Ready {
	readonly url: string;
	readonly version: string;
	readonly pid: number;
}
