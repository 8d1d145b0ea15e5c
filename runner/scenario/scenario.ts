import type { z } from "zod";
import type { BrokerName, SystemOptions, Traits } from "../brokers/index.ts";
import type { Drivers } from "../brokers/outside.ts";
import type { BaselineSla, Plan, Sla, Target } from "../model/plan.ts";
import type { Workload } from "../model/workload.ts";
import type { Aws } from "./aws.ts";
import type { Kubernetes } from "./kubernetes-schema.ts";
import type { RigFile } from "./rig-file.ts";
import type { ScenarioFile } from "./schema.ts";

export type { Aws, AwsVolume } from "./aws.ts";
export type { Kubernetes } from "./kubernetes-schema.ts";

/** A checked scenario with all defaults and cases filled in. It may hold secrets (`System.url`): never write it out as a whole. */
export interface Scenario {
	readonly name: string;
	/** With a rig, the target that stood it up. */
	readonly target: Target;
	/** Brokers that stay up; null if each run has its own, or the user's. */
	readonly rig: RigFile | null;
	readonly clients: Clients;
	/** Null on other targets, and with a rig. */
	readonly aws: Aws | null;
	/** Null if neither brokers nor load run in pods. */
	readonly kubernetes: Kubernetes | null;
	readonly systems: readonly System[];
	readonly cases: readonly Case[];
	readonly sla: readonly SlaLine[];
	readonly baselineSla: readonly BaselineLine[];
	/** The system's key or an absolute path; null leaves it to the command line. */
	readonly baseline:
		| { readonly system: string; readonly path: null }
		| { readonly system: null; readonly path: string }
		| null;
	readonly repeat: number;
	/** Sorted; each one ends before the next. */
	readonly faults: readonly Fault[];
	/** CPU sets, "0-3,8"; null leaves it to the kernel. A system's own `pin` overrides `brokers`. */
	readonly pin: { readonly generator: string | null; readonly brokers: string | null };
	readonly pacing: Plan["pacing"]["mode"];
	readonly strict: boolean;
	/** Environment variables that fill in its systems, including variables of a rig. */
	readonly variables: readonly string[];
	/** Null without extensions. */
	readonly drivers: Drivers | null;
	/** Shortened by `--quick`: its figures are not results. */
	readonly quick: boolean;
}

/** `atNs` counts from the end of the warm-up; a null `node` means all nodes. */
export type Fault = z.output<typeof ScenarioFile>["faults"][number];

/** Local processes, hosts over SSH ("user@host:port"), containers, pods or rented machines. */
export type Clients =
	| { readonly kind: "local" | "docker" | "pods" | "rented"; readonly count: number }
	| {
			readonly kind: "ssh";
			readonly hosts: readonly string[];
			readonly access?: Readonly<Record<string, SshAccess>>;
	  };

/** Paths are absolute; null leaves the choice to ssh. */
interface SshAccess
	extends Pick<RigFile["clients"][number], "hostKeyKnown" | "setUp" | "bootMinutes"> {
	readonly identity: string | null;
	readonly knownHosts: string | null;
}

export interface System {
	/** The scenario's name for it, `broker` by default. */
	readonly key: string;
	readonly broker: BrokerName;
	/** For an existing broker, password included; null on other targets. */
	readonly url: string | null;
	/** For a broker that mqbench starts; null means a free port. */
	readonly port: number | null;
	/** Absolute path or a name on PATH; null leaves the choice to mqbench. */
	readonly binary: string | null;
	/** Null means its version's image (target docker), or none. */
	readonly image: string | null;
	/** The user's topics, neither created nor removed; null if mqbench creates its own. */
	readonly existingTopics: readonly string[] | null;
	/** With variables filled in and paths absolute. Only `url` may still name a variable, because it may hold a password. */
	readonly options: SystemOptions;
	readonly traits: Traits;
	/** How its settings store messages, `config` included, in words for reports. */
	readonly durability: string;
}

export interface Case extends Readonly<Workload> {
	/** Unique within the scenario: "1KiB 3000/s"; of a load beside it "1KiB 3000/s, bulk". */
	readonly name: string;
	/** The name in `background`; null for the case itself, which is the main load. */
	readonly load: string | null;
	/** From the main load's T0 to its own. */
	readonly startNs: number;
	readonly background: readonly Case[];
}

export interface SlaLine<Expect = Sla> {
	readonly expect: Expect;
	/** The system's key and the case's name; null means all. */
	readonly system: string | null;
	readonly case: string | null;
	/** Null means the main load. */
	readonly load: string | null;
}
/** `system` is never the baseline itself. */
export type BaselineLine = SlaLine<BaselineSla>;
