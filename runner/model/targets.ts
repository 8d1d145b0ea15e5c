import { tell } from "../text/tell.ts";

/** A kind of place in which a target's brokers run. */
export type BrokerPlace = "process" | "container" | "host" | "pod";

/** Places in which a broker comes as an image. */
export function isImaged(place: BrokerPlace | null): boolean {
	return place === "container" || place === "pod";
}

/** What a target is and can do. What stands it up is infra/targets.ts. */
export interface TargetTraits {
	/** Where mqbench starts its brokers; null: they are somebody else's, and up. */
	readonly place: BrokerPlace | null;
	/** Its brokers can stay up when the command has ended. */
	readonly stays: boolean;
	/** Brokers and generator share this machine. */
	readonly here: boolean;
	/** The cloud that its machines are rented from; null: nobody pays by the hour. */
	readonly rents: "aws" | null;
	/** What can be done to its brokers in a run. */
	readonly faults: readonly FaultName[];
	/** Why the others cannot, and what to do: the end of a sentence. */
	readonly otherFaults: string;
	/** For settings of a system that it does not understand: what to do instead. Those that are not here it understands. */
	readonly without: Readonly<Partial<Record<SystemSetting, string>>>;
}

/** Settings of a system that some targets understand and others do not. */
export const SYSTEM_SETTINGS = [
	"port",
	"version",
	"binary",
	"config",
	"nodes",
	"pin",
	"image",
	"cpus",
	"memory",
	"url",
	"tls",
	"create",
	"topics",
] as const;
export type SystemSetting = (typeof SYSTEM_SETTINGS)[number];

type FaultName = "pause" | "kill" | "restart" | "partition" | "latency";

const PROCESS_FAULTS = ["pause", "kill", "restart"] as const;
const EXISTING = "write target: existing";
const YOURS = { url: EXISTING, tls: EXISTING, create: EXISTING, topics: tell("topics-elsewhere") };
const CLUSTERS_OWN = tell("clusters-own");
const CONTAINER = "write target: docker";
const REMOVE = "remove it";

/** All targets, in the order in which people are told of them. */
export const targets = {
	local: {
		place: "process",
		stays: true,
		here: true,
		rents: null,
		faults: PROCESS_FAULTS,
		otherFaults: tell("faults-local"),
		without: { image: CONTAINER, cpus: CONTAINER, memory: CONTAINER, ...YOURS },
	},
	docker: {
		place: "container",
		stays: false,
		here: true,
		rents: null,
		faults: [...PROCESS_FAULTS, "partition", "latency"],
		otherFaults: "",
		without: { port: REMOVE, binary: "write image instead", ...YOURS },
	},
	existing: {
		place: null,
		stays: false,
		here: false,
		rents: null,
		faults: [],
		otherFaults: "",
		without: Object.fromEntries(
			SYSTEM_SETTINGS.filter((setting) => !(setting in YOURS)).map((setting) => [setting, REMOVE]),
		),
	},
	aws: {
		place: "host",
		stays: true,
		here: false,
		rents: "aws",
		faults: PROCESS_FAULTS,
		otherFaults: tell("faults-on-hosts"),
		without: { port: REMOVE, binary: REMOVE, ...YOURS },
	},
	kubernetes: {
		place: "pod",
		stays: false,
		here: false,
		rents: null,
		faults: PROCESS_FAULTS,
		otherFaults: tell("faults-in-pods"),
		without: {
			port: REMOVE,
			binary: "write image instead",
			pin: "write cpus instead",
			url: CLUSTERS_OWN,
			tls: CLUSTERS_OWN,
			create: CLUSTERS_OWN,
			topics: tell("topics-elsewhere"),
		},
	},
} as const satisfies Readonly<Record<string, TargetTraits>>;

export type TargetName = keyof typeof targets;

export const TARGETS = Object.keys(targets) as TargetName[];

/** Targets of rigs: brokers that stay up, or were up before. */
export const RIG_TARGETS = TARGETS.filter(
	(target) => targets[target].stays || targets[target].place === null,
);

export function targetTraits(target: TargetName): TargetTraits {
	return targets[target];
}

/** Clouds that machines are rented from. */
export type CloudName = NonNullable<TargetTraits["rents"]>;
export const CLOUDS: readonly CloudName[] = TARGETS.flatMap(
	(target) => targets[target].rents ?? [],
);

/** As people call them. */
export const CLOUD_TITLES: Readonly<Record<CloudName, string>> = { aws: "AWS" };

/** The target as which mqbench starts brokers on hosts, whoever they belong to; and the one whose machines are rented. */
export const ON_HOSTS: TargetName = "aws";
export const RENTING: TargetName = "aws";

/** "local, docker or aws": those that are so. */
export function targetsThat(are: (traits: TargetTraits) => boolean): string {
	return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
		TARGETS.filter((target) => are(targets[target])),
	);
}
