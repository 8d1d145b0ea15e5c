import type { CloudName, TargetName } from "../../runner/model/targets.ts";
import type { Cloud, RigFile } from "../../runner/scenario/rig-file.ts";
import type { Scenario } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import type { RigFolder } from "./rigs.ts";

/**
 * What renting needs from a cloud. Everything else (holding, standing up, keeping, taking down, sweeping, remembering) is the same for all
 * clouds. What a rig consists of is in its stack. Tests pass a fake.
 */
export interface Provider {
	readonly name: CloudName;
	/** The target that rents its machines there. */
	readonly target: TargetName;
	/** Environment variable that selects other credentials: "AWS_PROFILE". */
	readonly profileVariable: string;
	/** Checks the program's input; throws if it is wrong. */
	parseConfig(value: unknown): RigConfig;
	/** The profile that takes a rig down later, when the environment may name another one; null: none. */
	profileOf(config: Offer["config"], env: World["env"]): string | null;
	/** System and processor of an instance type, by its name. */
	platformOf(instance: string): string;
	/** What renting needs on this machine and is missing, one sentence each. Checked before anybody is asked. */
	localTrouble(scenario: Scenario, world: World): Promise<string[]>;
	/** Opens the stack of a rig; makes nothing yet. `yes`: downloads a program that it needs without asking. */
	open(
		folder: RigFolder,
		world: World,
		asked: { readonly yes: boolean; say(line: string): void },
	): Promise<Stack>;
	/** Asks for everything that standing up needs, and the price. Rents nothing. */
	offer(scenario: Scenario, asked: OfferAsked, world: World): Promise<Offer>;
	/** What to do about a failure of the program, by the cloud's words in it; null: they have to do. */
	remedyFor(words: string): string | null;
	/** What a machine of a rig has written to its console since it started; "": nothing yet. */
	console(
		host: string,
		rig: Pick<Cloud, "region" | "profile"> & { readonly id: string },
		world: Pick<World, "env" | "stop">,
	): Promise<string>;
	/** The account of the credentials in use. */
	account(
		where: Pick<Cloud, "region" | "profile">,
		world: Pick<World, "env" | "stop">,
	): Promise<string>;
	/** Regions that are enabled for the account, by name. */
	regions(asked: Pick<SweepAsked, "profile">, world: World): Promise<string[]>;
	/** Everything with the tag of a rig in a region, rig by rig. Changes nothing. */
	find(asked: SweepAsked, world: World): Promise<TaggedRig[]>;
	/** Removes those that were chosen, and waits until machines have ended. It goes on after failures. */
	remove(
		rigs: readonly TaggedRig[],
		asked: Pick<SweepAsked, "region" | "profile">,
		world: World,
		say: (line: string) => void,
	): Promise<Swept>;
}

/** Input that every cloud's Pulumi program gets; each cloud adds settings of its own. */
export interface RigConfig {
	readonly id: string;
	readonly owner: string;
	readonly version: string;
	readonly expiresAt: string;
	readonly ttlMinutes: number;
	readonly region: string;
	readonly zone: string;
	readonly profile: string | null;
	readonly account: string | null;
	/** The image that machines start from. */
	readonly ami: string;
	readonly clients: { readonly count: number };
	/** Systems that have a broker, in order. */
	readonly systems: {
		readonly system: string;
		readonly broker: RigFile["brokers"][number]["broker"];
		readonly nodes: number;
	}[];
	readonly publicKey: string;
	readonly identity: string;
	/** File of the private half of the machines' host key; null: they make their own. */
	readonly hostKey: string | null;
	readonly knownHosts: string;
}

/** What a rig's config has beside that of an offer: made when it is stood up. */
export type RigKeys = "publicKey" | "identity" | "hostKey" | "knownHosts";

/** What would be rented, and its price: the cloud has been asked, and nothing costs anything yet. */
export interface Offer {
	readonly config: Omit<RigConfig, RigKeys>;
	/** How many of each type. */
	readonly machines: Record<string, number>;
	/** null: not known. */
	readonly hourlyUsd: number | null;
	readonly cloud: CloudName;
	/** Why the price is not known; null: it is. */
	readonly unpriced: string | null;
	/** For people: machines, zone, image, who gets in, and the prices that make up `hourlyUsd`. */
	readonly lines: readonly string[];
	/** Warnings about what may spoil the measurement. */
	readonly warnings: readonly string[];
}

export interface OfferAsked {
	/** Debian packages for the brokers. */
	readonly packages: readonly string[];
	readonly systems: RigConfig["systems"];
	/** Name of the rig. */
	readonly id: string;
	/** How long the machines are going to be used, including standing up, ns; null: until somebody takes them down. */
	readonly plannedNs: number | null;
	/** The file for `mqbench down` if the machines stay; null: the command that rents them takes them down, or a person by hand. */
	readonly rigFile?: string | null | undefined;
}

/** Where and what to look for. */
export interface SweepAsked {
	readonly region: string;
	/** A profile of the cloud's configuration files; null: the environment's. */
	readonly profile: string | null;
	/** Only this rig; null: all rigs. */
	readonly id: string | null;
	/** Whose expired rigs to remove; null: the caller's own. */
	readonly owner: string | null;
}

/** What a cloud has of a rig, by its tags. */
export interface TaggedRig {
	readonly id: string;
	/** "": the tag is missing. */
	readonly owner: string;
	/** The latest of its things; null: one of them has no time. */
	readonly expiresAt: string | null;
	readonly expired: boolean;
	/** A sweep should remove it: its id was given, or it has expired and belongs to the owner. */
	readonly chosen: boolean;
	readonly things: readonly Thing[];
}

export interface Thing {
	/** "instance", "key-pair". */
	readonly kind: string;
	/** The cloud's id: "i-0abc", "vpc-0abc"; for placement groups and key pairs the name. */
	readonly id: string;
	/** For people: "i4i.xlarge, running"; "": nothing. */
	readonly detail: string;
	/** When it was made; null: the cloud does not say. */
	readonly since: string | null;
}

/** The result of a removal. */
export interface Swept {
	readonly removed: readonly Thing[];
	/** What is left, with the cloud's reason. */
	readonly left: readonly { readonly thing: Thing; readonly reason: string }[];
}

/**
 * What the lifecycle of a rented rig needs from Pulumi: one stack, its machines, and the file that remembers them. `automation.ts` is the real
 * one, over Pulumi's Automation API; tests pass a fake.
 */
export interface Stack {
	/** Makes what is missing; resolves with the program's output "rig". Aborting `signal` asks Pulumi once to end properly. */
	up(options: StackOptions): Promise<unknown>;
	/** Takes down everything that the state knows, after asking the cloud what really exists; goes on after failures. */
	destroy(options: StackOptions): Promise<void>;
	/** Drops the lock that a killed Pulumi has left. It is fine if there is none. */
	cancel(): Promise<void>;
	/**
	 * What the state still has, for people: "aws:ec2/instance:Instance broker-1 (i-0abc)"; empty: nothing. null: there is no state, which was
	 * never written or is lost.
	 */
	resources(): Promise<string[] | null>;
	/** What a killed Pulumi was about to make and may exist: destroy does not see it. */
	unsure(): Promise<string[]>;
	/** Forgets the stack, when nothing is left of it. */
	remove(): Promise<void>;
}

export interface StackOptions {
	readonly signal: AbortSignal;
	/** Called with each step, a line for people. */
	say(line: string): void;
}
