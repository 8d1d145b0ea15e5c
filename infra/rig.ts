import type { Described } from "../runner/brokers/process.ts";
import type { HostSettings, MachineSettings } from "../runner/model/machine-settings.ts";
import type { FaultAction, Level } from "../runner/model/plan.ts";
import type { ClientEnd } from "../runner/model/run-file.ts";
import type { System } from "../runner/scenario/scenario.ts";
import type { Ping } from "./ping.ts";
import type { Supervised, SupervisedOptions } from "./process.ts";

/**
 * The rig of a target: brokers to measure, clients that make the load, and a way to take down everything that it started. The runner uses
 * nothing else of a target. A rig that stays up between commands is in a file (rig-file.ts).
 */
export interface Rig {
	/** Docker's network of its brokers, which clients in containers join. */
	readonly network?: string;
	/**
	 * Brings up (or finds) the broker of one system for one run, and returns when it accepts connections. A broker that we start gets a new
	 * process for every run: no run inherits state and no other broker idles next to it.
	 */
	open(request: BrokerRequest): Promise<Broker>;
	/** Ends everything that is still up. May be called at any time, more than once. */
	teardown(): Promise<void>;
}

/** A future process of k6: on this machine, on a host over SSH, or in a container. */
export interface Client {
	readonly index: number;
	/** For people: "this machine", "bench@10.0.0.11", "container 1". */
	readonly name: string;
	readonly kind: ClientEnd["kind"];
	/**
	 * Whether its clock is this machine's: then T0 is the same moment for all, and times across clients are exact. Otherwise `clock` measures the
	 * difference.
	 */
	readonly sameClock: boolean;
	/**
	 * Connects, collects facts, and copies the programs there unless they are there (compared by sha256). Fails with `client-unreachable`, naming
	 * it.
	 */
	prepare(): Promise<ClientFacts>;
	/** Its clock minus ours, ns, with the bound of the error (half of the shortest round trip), and its own chrony's figures. */
	clock(): Promise<ClockReading>;
	/**
	 * How long it takes from there to connect to a listening port, "10.0.0.5:4222" or "[fd00::5]:4222". Fails with a sentence. Absent if this
	 * cannot be measured.
	 */
	ping?(address: string): Promise<Ping>;
	/** A folder for one run on it. `local` is the folder here with the run's files, where its results go. */
	workspace(local: string): Promise<Workspace>;
	/** Removes its copied files there, except for the programs, and disconnects. May be called more than once. */
	close(): Promise<void>;
}

export interface ClientFacts {
	/** "linux amd64, 6.1.0-18, 16 cores". */
	readonly machine: string;
	readonly cores: number;
	readonly kernel: string;
	/** Identifies the machine, however it is reached; never for reports. null or absent if unknown. */
	readonly identity?: string | null;
	/** Its address for other clients, where systems have no server; "own" for the one it has. Absent for loopback. */
	readonly address?: string;
	/** A host's; absent if it shares this machine's. */
	readonly settings?: MachineSettings;
}

export interface ClockReading {
	readonly offsetNs: number;
	readonly boundNs: number;
	/** The largest difference of its clock to UTC, ns, by its own chrony; null or absent if unknown. */
	readonly utcBoundNs?: number | null;
}

/** The folder of a run on a client. On this machine it is the run's folder itself. */
export interface Workspace {
	/** Copies a file of the local folder there, checked by sha256. */
	put(name: string): Promise<void>;
	/** Starts k6 there, with the workspace as its working folder and home. It ends when mqbench or the connection does. */
	start(command: ClientCommand): ClientProcess;
	/** Copies a file back, checked by sha256; false if it does not exist. */
	fetch(name: string): Promise<boolean>;
	remove(): Promise<void>;
}

export interface ClientCommand
	extends Pick<SupervisedOptions, "graceMs" | "onStdout" | "onStderr"> {
	/** Arguments after the program k6. */
	readonly args: readonly string[];
	/** Added to a minimal environment. May hold secrets, so never on a command line. */
	readonly env: Readonly<Record<string, string>>;
	/** CPUs in the manner of taskset; null for any. */
	readonly cpus: string | null;
}

/** k6 behind agent, there. `ended`: also when the connection is gone (code null, signal null). */
export interface ClientProcess extends Omit<Supervised, "pid"> {
	/** Agent's process on this machine, whose child is k6; null if k6 is elsewhere. */
	readonly pid: number | null;
}

/** A run's requirements for the broker of its system. */
export interface BrokerRequest {
	readonly system: System;
	/** Durability that the scenario asks for; null for the broker's own. */
	readonly level: Level | null;
	/** Largest payload of the run. */
	readonly messageBytes: number;
	/** CPUs for its processes, in the manner of taskset; null for any. */
	readonly cpus: string | null;
	/** Where its output goes. */
	readonly logPath: string;
	/** Faults of the run: one that is not possible here fails before the run. */
	readonly faults?: readonly FaultAction[];
}

export interface Broker {
	/** With password, only for the driver. As the clients reach it. */
	readonly url: string;
	/** Its own description before the driver has asked: "nats-server 2.15.2"; "" if unknown. */
	readonly version: string;
	/** Path of the program that we started, or the image; null if it is not ours. */
	readonly binary: string | null;
	/** It shares this machine's cores with the generator. If `identities` has its machines, those decide. */
	readonly sameHost: boolean;
	/** Its nodes' machines, as in clients' facts; absent if unknown. */
	readonly identities?: readonly string[];
	/** Its nodes' hosts with their settings; absent if it has no hosts. */
	readonly hosts?: readonly HostSettings[];
	/** Notes for readers of the run, one sentence each; complete once the broker is closed. */
	readonly notes?: readonly string[];
	/** "3 nodes on 1 host", "1 container, 2 CPUs, 1GiB"; null if it is not ours. */
	readonly topology: string | null;
	/** Several nodes share one host. */
	readonly nodesShareHost: boolean;
	/**
	 * Its processes on this machine, one per node, and those ended by `disturb`, whose use still counts; empty if none are ours. Their
	 * children belong to them. Ask again each time: a node that was restarted is another process.
	 */
	readonly pids: readonly number[];
	/** Its nodes' own metrics, in order. Absent if mqbench did not start it, or it reports none. */
	readonly metrics?: NonNullable<Described["metrics"]>;
	/** The settings that follow from durability and `config`, with their real names; empty if it is not ours. */
	readonly settings: Readonly<Record<string, string>>;
	/** Number of the node, from 1, that the broker itself calls by this name ("mqbench-2", "3"); null if none of ours. */
	nodeOf(name: string): number | null;
	/**
	 * Does something to a node (from 1), or to all, and resolves when it has taken effect, with a function that undoes it. That resolves when the
	 * node is as before (after kill and restart: when it is ready again). Throws a sentence if it cannot be done.
	 */
	disturb(what: Disturbance): Promise<() => Promise<void>>;
	/** Resolves with a sentence when a broker that we started ends by itself, not by `disturb`; never for one that we did not start. */
	readonly died: Promise<string>;
	/** All of its nodes have ended by themselves, so none can answer. */
	readonly gone: boolean;
	close(): Promise<void>;
}

/** A fault of the plan for nodes of a broker, after the leader was found. */
export interface Disturbance {
	readonly action: FaultAction;
	readonly node: number | null;
	/** For latency, how much later its packets leave, ns; otherwise null. */
	readonly delayNs: number | null;
}

/** A rig of the brokers that `open` brings up; after them `end` ends the rest. */
export function rigOf<Asked>(
	open: (asked: Asked) => Promise<Broker>,
	end: () => Promise<void> = async () => {},
) {
	const up = new Set<Broker>();
	return {
		async open(asked: Asked): Promise<Broker> {
			const broker = await open(asked);
			up.add(broker);
			return broker;
		},
		async teardown(): Promise<void> {
			await Promise.all([...up].map((broker) => broker.close()));
			up.clear();
			await end();
		},
	};
}

/** For a broker that is not ours, whose death is never reported. */
export const NEVER: Promise<never> = new Promise(() => {});

/** One without a process, or without one of ours: nothing to start or stop. */
export function untouchedBroker(): Broker {
	return {
		url: "",
		version: "",
		binary: null,
		sameHost: true,
		pids: [],
		settings: {},
		topology: null,
		nodesShareHost: false,
		nodeOf: () => null,
		disturb: async () => {
			throw new Error("this broker has no processes of ours to disturb");
		},
		died: NEVER,
		gone: false,
		close: async () => {},
	};
}
