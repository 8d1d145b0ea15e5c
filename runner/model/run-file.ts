import { z } from "zod";
import { maybe } from "./field.ts";
import { faultOf } from "./plan.ts";

/** How far a client's clock may differ from the runner's, ns. Null if it is the same clock. */
const ClockBound = maybe({
	beforeNs: z.int(),
	afterNs: z.int().nullable(),
	/** Its own reading before the run, if one client sent T0 to all. Null if this machine sent it. */
	readNs: z.int().nullable(),
	/** Maximum error during the run: against ours (probes), or against UTC (chrony). */
	boundNs: z.int().nonnegative(),
	/** `chrony` keeps all clients' clocks and gives their bounds; `probes`: half of the shortest round trip. */
	source: z.enum(["chrony", "probes"]),
	/** For chrony: the bound by probes, which limits the comparison of its clock with ours. */
	probedNs: z.int().nonnegative().nullable(),
});

export const ClientEnd = z.strictObject({
	index: z.int().nonnegative(),
	name: z.string(),
	kind: z.enum(["local", "ssh", "docker", "pod"]),
	machine: z.string().nullable(),
	k6Exit: z.int().nullable(),
	k6Signal: z.string().nullable(),
	/** Relative to T0, ns; negative is right. Null if it never claimed. */
	firstClaimNs: z.int().nullable(),
	clock: ClockBound,
	error: z.string().nullable(),
});
export type ClientEnd = z.infer<typeof ClientEnd>;

export function isElsewhere(kind: ClientEnd["kind"]): boolean {
	return kind === "ssh" || kind === "pod";
}

/** TCP connects from a client to a broker node, before the run. */
export const NetworkPath = z.strictObject({
	client: z.int().nonnegative(),
	/** From 1, in the order of the broker's url. */
	node: z.int().positive(),
	connects: z.int().positive().nullable(),
	minNs: z.int().nonnegative().nullable(),
	p50Ns: z.int().nonnegative().nullable(),
	maxNs: z.int().nonnegative().nullable(),
	error: z.string().nullable(),
});
export type NetworkPath = z.infer<typeof NetworkPath>;

/** Times are ns since T0. */
export const FaultDone = z.strictObject({
	...faultOf,
	/** From 1. Null means all of them. */
	node: z.int().positive().nullable(),
	leader: z.boolean(),
	/** Just before the command was given: the fault took effect between this and `beganNs`. Null if the command was never given. */
	calledNs: z.int().nullable(),
	/** When it had certainly taken effect (kill and restart: when the signal was sent). */
	beganNs: z.int(),
	/** When it was taken back (kill and restart: when the node was ready again). Null if never in this run. */
	endedNs: z.int().nullable(),
	delayNs: z.int().nullable(),
	error: z.string().nullable(),
	/** The error is that the run ended first, which is not a mistake in a stopped run. */
	runOver: z.boolean().default(false),
});
export type FaultDone = z.infer<typeof FaultDone>;

/** Zero of a fault's durations, ns since T0: just before the command was given, so nothing seems shorter than it was. */
export function faultZeroNs(fault: Pick<FaultDone, "calledNs" | "beganNs">): number {
	return fault.calledNs ?? fault.beganNs;
}

/** `run.json` next to plan.json: the run as the runner saw it, written when k6 has ended. Defaults are for the older published reports. */
export const RunFile = z.object({
	schema: z.literal(1),
	startedAt: z.iso.datetime(),
	endedAt: z.iso.datetime(),
	/** Null if a signal ended it. */
	k6Exit: z.int().nullable(),
	k6Signal: z.string().nullable(),
	interruptedBy: z.string().nullable(),
	abortedBy: z.string().nullable(),
	/** Why the run could not be made or finished: an "error" verdict. */
	error: z.string().nullable(),
	notes: z.array(z.string()),
	brokerUrl: z.string(),
	brokerVersion: z.string(),
	brokerBinary: z.string().nullable(),
	/** Settings that follow from durability and `config`, with the broker's own names. Empty if unknown. */
	brokerSettings: z.record(z.string(), z.string()).default({}),
	sameHost: z.boolean(),
	/** "3 nodes on 1 host". Null if unknown. */
	topology: z.string().nullable().default(null),
	nodesShareHost: z.boolean().default(false),
	clients: z.array(ClientEnd).default([]),
	faults: z.array(FaultDone).default([]),
	network: z.array(NetworkPath).default([]),
});
export type RunFile = z.infer<typeof RunFile>;
export type RunFileInput = z.input<typeof RunFile>;
