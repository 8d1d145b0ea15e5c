import { z } from "zod";
import { FaultAction } from "./plan.ts";

/** How exactly the clock of a client's machine is known against that of the runner, ns; null: it is the same clock. */
const ClockBound = z
	.strictObject({
		/** Its clock minus ours: what it was taken for when T0 was told, and after the run. */
		beforeNs: z.int(),
		afterNs: z.int().nullable(),
		/** What it read itself before the run, where T0 was told to all clients by one of them; null: it was told by this machine. */
		readNs: z.int().nullable(),
		/** The most that it may have been wrong by during the run: against ours (probes), or against UTC (chrony). */
		boundNs: z.int().nonnegative(),
		/** `chrony`: what keeps the clocks of all clients, each by its own words; `probes`: half of the shortest round trip to it. */
		source: z.enum(["chrony", "probes"]),
		/** Of chrony: the bound by the probes, which is how well its clock is known against ours. */
		probedNs: z.int().nonnegative().nullable(),
	})
	.nullable();

/** One client of a run, as the runner saw it. */
export const ClientEnd = z.strictObject({
	index: z.int().nonnegative(),
	/** For people: "this machine", "bench@10.0.0.11", "container 1". */
	name: z.string(),
	kind: z.enum(["local", "ssh", "docker", "pod"]),
	/** "linux amd64, 6.1.0-18, 16 cores"; null: it did not say. */
	machine: z.string().nullable(),
	k6Exit: z.int().nullable(),
	k6Signal: z.string().nullable(),
	/** First claim relative to T0, ns: negative is right. null: it did not come to it. */
	firstClaimNs: z.int().nullable(),
	clock: ClockBound,
	/** Why it is missing or broke off: a sentence without its name. null: nothing of that kind. */
	error: z.string().nullable(),
});
export type ClientEnd = z.infer<typeof ClientEnd>;

/** Its machine is not this one, as far as mqbench knows: it has a clock and samples of its own. */
export function isElsewhere(kind: ClientEnd["kind"]): boolean {
	return kind === "ssh" || kind === "pod";
}

/** How far the network is from a client to a node of the broker: TCP connects, before the run. */
export const NetworkPath = z.strictObject({
	client: z.int().nonnegative(),
	/** From 1, in the order of the broker's url. */
	node: z.int().positive(),
	/** The median of so many connects, and the extremes; null: not known. */
	connects: z.int().positive().nullable(),
	minNs: z.int().nonnegative().nullable(),
	p50Ns: z.int().nonnegative().nullable(),
	maxNs: z.int().nonnegative().nullable(),
	/** Why they are not known: the end of a sentence; null: they are. */
	error: z.string().nullable(),
});
export type NetworkPath = z.infer<typeof NetworkPath>;

/** A fault as it was carried out. Times are ns since T0. */
export const FaultDone = z.strictObject({
	action: FaultAction,
	/** Number of the node from 1; null: all of them. */
	node: z.int().positive().nullable(),
	/** It was chosen because it led the first topic. */
	leader: z.boolean(),
	/** The moment before the broker was told: it took effect between this and `beganNs`. null: it did not come to it. */
	calledNs: z.int().nullable(),
	/** When it was known to have taken effect (kill and restart: when the process was told). */
	beganNs: z.int(),
	/** When it was taken back (a node that was killed or restarted: when it was ready again); null: never in this run. */
	endedNs: z.int().nullable(),
	delayNs: z.int().nullable(),
	/** Why it could not be done or taken back; null: it was. */
	error: z.string().nullable(),
	/** The error is that the run was over first: nobody need have meant that, where a run was stopped. */
	runOver: z.boolean().default(false),
});
export type FaultDone = z.infer<typeof FaultDone>;

/** The moment that all durations of a fault count from, ns since T0: just before the broker was told, so that nothing seems shorter than it was. */
export function faultZeroNs({
	calledNs,
	beganNs,
}: Pick<FaultDone, "calledNs" | "beganNs">): number {
	return calledNs ?? beganNs;
}

/** `run.json` beside plan.json: how the run went as the runner saw it, written when k6 has ended. Defaults are for the published reports, which are older. */
export const RunFile = z.object({
	schema: z.literal(1),
	startedAt: z.iso.datetime(),
	endedAt: z.iso.datetime(),
	/** k6's exit code; null when a signal ended it. */
	k6Exit: z.int().nullable(),
	k6Signal: z.string().nullable(),
	/** Name of the signal with which the user stopped mqbench, else null. */
	interruptedBy: z.string().nullable(),
	/** The SLA line that could not pass any more, when mqbench stopped the run for it ("p99 < 20ms"), else null. */
	abortedBy: z.string().nullable(),
	/** Why the run could not be made or finished: an "error" verdict. null: nothing of that kind. */
	error: z.string().nullable(),
	/** Facts that a reader of the report has to know: "the broker ended with SIGKILL 4.2 s after T0". */
	notes: z.array(z.string()),
	/** Password-free URL of the broker, and what the rig says of it. */
	brokerUrl: z.string(),
	brokerVersion: z.string(),
	brokerBinary: z.string().nullable(),
	/** The broker's settings that durability and `config` came to, with their real names; empty: not ours to know. */
	brokerSettings: z.record(z.string(), z.string()).default({}),
	sameHost: z.boolean(),
	/** Nodes of the broker, and where they run when that is one machine ("3 nodes on 1 host"); null: not ours to know. */
	topology: z.string().nullable().default(null),
	nodesShareHost: z.boolean().default(false),
	/** Every client of the run, by index; empty: the published reports, of one process on this machine. */
	clients: z.array(ClientEnd).default([]),
	/** What was really done to the broker, in the order of time. */
	faults: z.array(FaultDone).default([]),
	/** From every client that is a host to every node; of others empty. */
	network: z.array(NetworkPath).default([]),
});
export type RunFile = z.infer<typeof RunFile>;
/** As it is written. */
export type RunFileInput = z.input<typeof RunFile>;
