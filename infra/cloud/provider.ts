import type { CloudName, TargetName } from "../../runner/model/targets.ts";
import type { Cloud, RigFile } from "../../runner/scenario/rig-file.ts";
import type { Scenario } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import type { RigFolder } from "./rigs.ts";
import type { Stack } from "./stack.ts";

/**
 * A cloud, as renting needs it: everything else about renting (holding, standing up, keeping, taking down, sweeping, remembering) is the
 * same for all of them. What a rig consists of is its stack. The one seam
 * of renting: tests pass a fake.
 */
export interface Provider {
	readonly name: CloudName;
	/** The target whose machines are rented from it. */
	readonly target: TargetName;
	/** Environment variable by which people choose other credentials: "AWS_PROFILE". */
	readonly profileVariable: string;
	/** What the program is told, checked; throws where it is wrong. */
	parseConfig(value: unknown): RigConfig;
	/** The profile that a rig is to be taken down with later, when the environment may name another one; null: none. */
	profileOf(config: Offer["config"], env: World["env"]): string | null;
	/** System and processor of an instance type, by its name. */
	platformOf(instance: string): string;
	/** What renting needs of this machine and lacks, a sentence each: known before anybody is asked. */
	localTrouble(scenario: Scenario, world: World): Promise<string[]>;
	/** Opens the stack of a rig; nothing is made yet. `yes`: nobody is asked before a program is downloaded that it needs. */
	open(
		folder: RigFolder,
		world: World,
		asked: { readonly yes: boolean; say(line: string): void },
	): Promise<Stack>;
	/** Asks for everything that standing up needs, and the price. Rents nothing. */
	offer(scenario: Scenario, asked: OfferAsked, world: World): Promise<Offer>;
	/** The account of the credentials in use. */
	account(
		where: Pick<Cloud, "region" | "profile">,
		world: Pick<World, "env" | "stop">,
	): Promise<string>;
	/** Regions that are enabled for the account, by name. */
	regions(asked: Pick<SweepAsked, "profile">, world: World): Promise<string[]>;
	/** All that carries the tag of a rig in a region, rig by rig. Changes nothing. */
	find(asked: SweepAsked, world: World): Promise<TaggedRig[]>;
	/** Removes those that were chosen, and waits until machines have ended. Goes on behind what fails. */
	remove(
		rigs: readonly TaggedRig[],
		asked: Pick<SweepAsked, "region" | "profile">,
		world: World,
		say: (line: string) => void,
	): Promise<Swept>;
}

/** What every cloud's Pulumi program is told of a rig; each has settings of its own besides. */
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
	/** Systems that have a broker, in their order. */
	readonly systems: {
		readonly system: string;
		readonly broker: RigFile["brokers"][number]["broker"];
		readonly nodes: number;
	}[];
	readonly publicKey: string;
	readonly identity: string;
	readonly knownHosts: string;
}

/** What would be rented, and what it costs: the cloud has been asked, and nothing costs anything yet. */
export interface Offer {
	readonly cloud: CloudName;
	readonly config: Omit<RigConfig, "publicKey" | "identity" | "knownHosts">;
	/** How many of each type. */
	readonly machines: Record<string, number>;
	/** null: not known; `unpriced` says why. */
	readonly hourlyUsd: number | null;
	readonly unpriced: string | null;
	/** For people: machines, zone, image, who gets in, network, and the prices that make up `hourlyUsd`. */
	readonly lines: readonly string[];
	/** Sentences on what may spoil the measurement. */
	readonly warnings: readonly string[];
}

export interface OfferAsked {
	/** Debian packages that the brokers run on. */
	readonly packages: readonly string[];
	readonly systems: RigConfig["systems"];
	/** Name of the rig. */
	readonly id: string;
	/** How long the machines are going to be used, standing up included, ns; null: until somebody takes them down. */
	readonly plannedNs: number | null;
	/** The file that `mqbench down` takes when they stay; null: the command that rents them takes them down, or a person by hand. */
	readonly rigFile?: string | null | undefined;
}

/** Where to look, and for what. */
export interface SweepAsked {
	readonly region: string;
	/** Of the cloud's configuration files; null: the environment's. */
	readonly profile: string | null;
	/** Of the one rig; null: all that there are. */
	readonly id: string | null;
	/** Whose expired rigs are to go; null: the caller's own. */
	readonly owner: string | null;
}

/** What a cloud has of a rig, as its tags say. */
export interface TaggedRig {
	readonly id: string;
	/** "": it has no such tag. */
	readonly owner: string;
	/** The latest of its things; null: one of them does not say. */
	readonly expiresAt: string | null;
	readonly expired: boolean;
	/** A sweep is to remove it: it was asked for by its id, or it has expired and is the owner's. */
	readonly chosen: boolean;
	readonly things: readonly Thing[];
}

export interface Thing {
	/** "instance", "key-pair". */
	readonly kind: string;
	/** The cloud's own: "i-0abc", "vpc-0abc"; of placement groups and key pairs the name. */
	readonly id: string;
	/** For people: "i4i.xlarge, running"; "": nothing. */
	readonly detail: string;
	/** When it was made; null: the cloud does not say. */
	readonly since: string | null;
}

/** What came of a removal. */
export interface Swept {
	readonly removed: readonly Thing[];
	/** What stays, with the cloud's reason. */
	readonly left: readonly { readonly thing: Thing; readonly reason: string }[];
}
