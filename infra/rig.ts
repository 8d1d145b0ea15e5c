import type { FaultAction, Level } from "../runner/model/plan.ts";
import type { ClientEnd } from "../runner/model/run-file.ts";
import type { RigFileInput } from "../runner/scenario/rig-file.ts";
import type { System } from "../runner/scenario/scenario.ts";
import type { Ended } from "./process.ts";

/**
 * What a target stands up: brokers to measure, clients that make the load, and the promise to take down again
 * whatever it started. The runner knows nothing else of a target. What of it stays up between commands is a file (rig-file.ts).
 */
export interface Rig {
	/** Machines and processes that run k6, by index. */
	readonly clients: readonly Client[];
	/** Docker's network in which its brokers are: clients in containers join it. */
	readonly network?: string;
	/**
	 * Brings up (or finds) the broker of one system, for one run, and returns when it takes connections. Every run
	 * of a broker that we start gets a fresh process: no run inherits another one's state, and no rival idles beside it.
	 */
	open(request: BrokerRequest): Promise<Broker>;
	/** Ends everything that is still up. May be called at any moment, more than once. */
	teardown(): Promise<void>;
}

/** A process of k6 to be: on this machine, on a host over SSH, or in a container. */
export interface Client {
	readonly index: number;
	/** For people: "this machine", "bench@10.0.0.11", "container 1". */
	readonly name: string;
	readonly kind: ClientEnd["kind"];
	/**
	 * Whether its clock is that of this machine: then T0 is the same moment for all, and times across clients are exact. Else `clock`
	 * says how far the two are apart.
	 */
	readonly sameClock: boolean;
	/**
	 * Reaches it, finds out what it is, and brings the programs there unless they are there already (compared by sha256). Fails with
	 * `client-unreachable`, naming it.
	 */
	prepare(): Promise<ClientFacts>;
	/** Its clock minus ours, ns, and the bound of the error: half of the shortest round trip; and what its own chrony says of it. */
	clock(): Promise<ClockReading>;
	/**
	 * How long it takes from there to connect to a port that listens, "10.0.0.5:4222" or "[fd00::5]:4222". Fails with a sentence. Absent: it
	 * cannot be asked.
	 */
	ping?(address: string): Promise<Ping>;
	/** A folder for one run on it. `local` is the folder here that holds the run's files and gets its results. */
	workspace(local: string): Promise<Workspace>;
	/** Removes what it put there but the programs, and lets go of the connection. More than once is no harm. */
	close(): Promise<void>;
}

export interface ClientFacts {
	/** "linux amd64, 6.1.0-18, 16 cores". */
	readonly machine: string;
	readonly cores: number;
	readonly kernel: string;
	/** What no other machine has, however it is reached: never for reports. null or absent: not known. */
	readonly identity?: string | null;
}

export interface ClockReading {
	readonly offsetNs: number;
	readonly boundNs: number;
	/** Most that its clock is away from UTC, ns, by its own chrony; null or absent: not known. */
	readonly utcBoundNs?: number | null;
}

/** TCP connects one after the other, ns. */
export interface Ping {
	readonly connects: number;
	readonly minNs: number;
	readonly p50Ns: number;
	readonly maxNs: number;
}

/** The folder of a run on a client. For a client on this machine it is the run's folder itself. */
export interface Workspace {
	/** Copies a file of the local folder there, checked by sha256. */
	put(name: string): Promise<void>;
	/** Starts k6 there, with the workspace as its working folder and home; it ends when mqbench does, or the connection. */
	start(command: ClientCommand): ClientProcess;
	/** Copies a file back, checked by sha256; false: it is not there. */
	fetch(name: string): Promise<boolean>;
	remove(): Promise<void>;
}

export interface ClientCommand {
	/** Behind the program k6. */
	readonly args: readonly string[];
	/** Added to a bare environment. May hold secrets: never on a command line. */
	readonly env: Readonly<Record<string, string>>;
	/** CPUs in the manner of taskset; null: wherever the kernel likes. */
	readonly cpus: string | null;
	/** How long it may take to end by itself once mqbench is gone or has abandoned it. */
	readonly graceMs: number;
	onStdout(line: string): void;
	onStderr(line: string): void;
}

export interface ClientProcess {
	/** Process of agent on this machine, whose child is k6; null: k6 is elsewhere. */
	readonly pid: number | null;
	/** Resolves when k6 has ended and its output is read, or the connection is gone (code null, signal null). Never rejects. */
	readonly ended: Promise<Ended>;
	/** One line for k6's standard input. */
	say(line: string): void;
	signal(name: "SIGINT" | "SIGTERM"): void;
	/** Ends it for sure: agent interrupts it, and kills its process group after the grace. */
	abandon(): void;
	/** Kills everything below agent at once. */
	kill(): void;
}

/** What a run needs of the broker of its system. */
export interface BrokerRequest {
	readonly system: System;
	/** Durability that the scenario asks for; null: the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
	/** CPUs for its processes, in the manner of taskset; null: wherever the kernel likes. */
	readonly cpus: string | null;
	/** Where its output goes. */
	readonly logPath: string;
	/** What is going to be done to it in the run: what cannot be done here fails before it. */
	readonly faults?: readonly FaultAction[];
}

export interface Broker {
	/** With password, for the driver alone. As the clients reach it. */
	readonly url: string;
	/** What it says of itself before the driver has asked: "nats-server 2.15.2"; "" when unknown. */
	readonly version: string;
	/** Path of the program that we started, or the image; null: not ours. */
	readonly binary: string | null;
	/** It shares this machine's cores with the generator; where `identities` says on which machines it runs, these decide. */
	readonly sameHost: boolean;
	/** Its nodes' machines, as clients' facts tell them; absent: not known. */
	readonly identities?: readonly string[];
	/** What a reader of the run has to know, a sentence each; whole once it is closed. */
	readonly notes?: readonly string[];
	/** "3 nodes on 1 host", "1 container, 2 CPUs, 1GiB"; null: not ours to know. */
	readonly topology: string | null;
	/**
	 * Its processes on this machine, one per node, and those that `disturb` has ended, whose use still counts; empty: none of ours. Their
	 * children belong to them. Ask anew: a node that was started again is another process.
	 */
	readonly pids: readonly number[];
	/** The settings that durability and `config` came to, with their real names; empty: not ours to know. */
	readonly settings: Readonly<Record<string, string>>;
	/** It stays up when it is closed: whatever is done to it must be taken back, or the next run meets it. Default: it goes with the run. */
	readonly stays?: boolean;
	/** Number of the node, from 1, that the broker itself calls by this name ("mqbench-2", "3"); null: none of ours. */
	nodeOf(name: string): number | null;
	/**
	 * Does something to a node (from 1), or to all, and resolves when it has taken effect: with the function that takes it back, which
	 * resolves when the node is as before (of kill and restart: when it is ready again). Throws a sentence where it cannot be done.
	 */
	disturb(what: Disturbance): Promise<() => Promise<void>>;
	/** Resolves with a sentence when a broker that we started ends by itself, not by `disturb`; never for one that we did not. */
	readonly died: Promise<string>;
	close(): Promise<void>;
}

/** What is done to nodes of a broker: a fault of the plan, whose leader has been found. */
export interface Disturbance {
	readonly action: FaultAction;
	readonly node: number | null;
	/** latency: how much later its packets leave, ns; else null. */
	readonly delayNs: number | null;
}

/** A rig that has been stood up, to stay between commands. */
export interface StoodUp {
	/** What its rig.json says. */
	readonly file: RigFileInput;
	/**
	 * It lives as long as this process: resolves with a sentence when a broker of it ends by itself. null: it stays by itself until it
	 * is taken down.
	 */
	readonly broken: Promise<string> | null;
	/** Its file is written, and people know of it: from now on it stays when this process is gone, if it can. Until then it goes with it. */
	keep(): Promise<void>;
	/** Takes all of it down again. */
	teardown(): Promise<void>;
}

/** A broker that is not ours never tells us that it died. */
export const NEVER: Promise<never> = new Promise(() => {});

/** One that has no process, or none of ours: nothing to start, nothing to stop. */
export function untouchedBroker(): Broker {
	return {
		url: "",
		version: "",
		binary: null,
		sameHost: true,
		pids: [],
		settings: {},
		topology: null,
		nodeOf: () => null,
		disturb: async () => {
			throw new Error("this broker has no processes of ours to disturb");
		},
		died: NEVER,
		close: async () => {},
	};
}
