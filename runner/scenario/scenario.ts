import type { z } from "zod";
import type { BrokerName, SystemOptions, Traits } from "../brokers/index.ts";
import type { BaselineSla, Plan, Sla, Target } from "../model/plan.ts";
import type { Workload } from "../model/workload.ts";
import type { Aws } from "./aws.ts";
import type { Kubernetes } from "./kubernetes-schema.ts";
import type { RigFile } from "./rig-file.ts";
import type { ScenarioFile } from "./schema.ts";

export type { Aws, AwsVolume } from "./aws.ts";
export type { Kubernetes } from "./kubernetes-schema.ts";

/**
 * A scenario that has been read, checked and completed: every default is filled in, every case spelled out.
 * It may hold secrets (`System.url`): never write it to a file or a terminal as a whole.
 */
export interface Scenario {
	readonly name: string;
	/** Of a rig: what stood it up. */
	readonly target: Target;
	/** Brokers that stay up, by the keys of the systems; null: each run has its own, or the user's. */
	readonly rig: RigFile | null;
	readonly clients: Clients;
	/** What target aws rents; null: another target, or a rig that is up. */
	readonly aws: Aws | null;
	/** Where pods run, of brokers or load; null: there are none. */
	readonly kubernetes: Kubernetes | null;
	readonly systems: readonly System[];
	readonly cases: readonly Case[];
	readonly sla: readonly SlaLine[];
	/** Lines of `sla` that compare with a baseline. */
	readonly baselineSla: readonly BaselineLine[];
	/** What they compare with: the system of that key, or the file or folder at an absolute path; null: the command line says. */
	readonly baseline:
		| { readonly system: string; readonly path: null }
		| { readonly system: null; readonly path: string }
		| null;
	readonly repeat: number;
	/** In their order, none before the one before it is over. */
	readonly faults: readonly Fault[];
	/** CPU sets, "0-3,8"; null: wherever the kernel likes. A system's own `pin` comes before `brokers`. */
	readonly pin: { readonly generator: string | null; readonly brokers: string | null };
	/** How the load generator waits for a message's time. */
	readonly pacing: Plan["pacing"]["mode"];
	readonly strict: boolean;
	/** Names of the environment's variables that its systems are filled in with, also by a rig. */
	readonly variables: readonly string[];
	/** Shortened to see that it works (`--quick`): its figures are no results. */
	readonly quick: boolean;
}

/** What is done to a broker in mid-run. Times in ns; `atNs` counts from the end of the warm-up; `node` null: all of them. */
export type Fault = z.output<typeof ScenarioFile>["faults"][number];

/** What makes the load: processes here, hosts over SSH ("user@host:port"), containers, pods, or machines that target aws rents. */
export type Clients =
	| { readonly kind: "local" | "docker" | "pods" | "rented"; readonly count: number }
	| {
			readonly kind: "ssh";
			readonly hosts: readonly string[];
			/** How ssh gets in, by host, where a rig says it; else ssh's own choice. */
			readonly access?: Readonly<Record<string, SshAccess>>;
	  };

/** What a rig says of a host beside its name. Paths are absolute; null: ssh's own choice. */
export interface SshAccess
	extends Pick<RigFile["clients"][number], "hostKeyKnown" | "setUp" | "bootMinutes"> {
	readonly identity: string | null;
	readonly knownHosts: string | null;
}

export interface System {
	/** What the scenario calls it; equal to `broker` when it gives no name of its own. */
	readonly key: string;
	readonly broker: BrokerName;
	/** Where an existing broker listens, password included; null on other targets. */
	readonly url: string | null;
	/** Port for a broker that we start; null: a free one. */
	readonly port: number | null;
	/** Path of the broker to start, absolute or a name on PATH; null: mqbench's own choice. */
	readonly binary: string | null;
	/** Image of its containers; null: that of its version (target docker), or none. */
	readonly image: string | null;
	/** The user's own topics, which are there already: none is made or removed; null: mqbench makes its own. */
	readonly existingTopics: readonly string[] | null;
	/** As the scenario says, with variables filled in and paths absolute; only `url` may still name a variable, as it may hold a password. */
	readonly options: SystemOptions;
	readonly traits: Traits;
	/** What its settings come to for stored messages, `config` included, for people. */
	readonly durability: string;
}

export interface Case extends Readonly<Workload> {
	/** Unique within the scenario: "1KiB 3000/s". */
	readonly name: string;
}

export interface SlaLine<Expect = Sla> {
	readonly expect: Expect;
	/** Key of the system, name of the case that it is for; null: for all of them. */
	readonly system: string | null;
	readonly case: string | null;
	/** Of the file, from 1; null: the command line has set it. */
	readonly line: number | null;
}
/** `system` is never the baseline itself. */
export type BaselineLine = SlaLine<BaselineSla>;
