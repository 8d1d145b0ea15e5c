import { tell } from "../text/tell.ts";

export type BrokerPlace = "process" | "container" | "host" | "pod";

export function isImaged(place: BrokerPlace | null): boolean {
	return place === "container" || place === "pod";
}

/** Properties of a target. infra/targets.ts starts it. */
export interface TargetTraits {
	/** Where mqbench starts its brokers. Null if they already exist. */
	readonly place: BrokerPlace | null;
	readonly stays: boolean;
	/** Brokers and generator share this machine. */
	readonly here: boolean;
	readonly rents: "aws" | null;
	readonly faults: readonly (typeof FAULT_ACTIONS)[number][];
	readonly otherFaults: string;
	/** Unsupported settings, each with its remedy. */
	readonly without: Readonly<Partial<Record<SystemSetting, string>>>;
}

export const SYSTEM_SETTINGS = [
	...(["port", "version", "binary", "command", "config", "nodes", "pin", "image"] as const),
	...(["cpus", "memory", "url", "tls", "create", "topics"] as const),
] as const;
export type SystemSetting = (typeof SYSTEM_SETTINGS)[number];

/** Freeze a node, SIGKILL and start it again, stop and start it again, cut off its network, delay it. */
export const FAULT_ACTIONS = ["pause", "kill", "restart", "partition", "latency"] as const;

const PROCESS_FAULTS = ["pause", "kill", "restart"] as const;
const EXISTING = "write target: existing";
const YOURS = { url: EXISTING, tls: EXISTING, create: EXISTING, topics: tell("topics-elsewhere") };
const CLUSTERS_OWN = tell("clusters-own");
const CONTAINER = "write target: docker";
const REMOVE = "remove it";
const NONE = { stays: false, here: false, rents: null, faults: [], otherFaults: "" } as const;

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
		...NONE,
		place: "container",
		here: true,
		faults: FAULT_ACTIONS,
		without: { port: REMOVE, binary: "write image instead", command: REMOVE, ...YOURS },
	},
	existing: {
		...NONE,
		place: null,
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
		without: { port: REMOVE, binary: REMOVE, command: REMOVE, ...YOURS },
	},
	kubernetes: {
		...NONE,
		place: "pod",
		faults: PROCESS_FAULTS,
		otherFaults: tell("faults-in-pods"),
		without: {
			port: REMOVE,
			binary: "write image instead",
			command: REMOVE,
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

/** Brokers that stay up, or were up before. */
export const RIG_TARGETS = TARGETS.filter(
	(target) => targets[target].stays || targets[target].place === null,
);

export function targetTraits(target: TargetName): TargetTraits {
	return targets[target];
}

/** How mqbench starts brokers on any hosts, and the one target with rented machines. */
export const ON_HOSTS: TargetName = "aws";
export const RENTING: TargetName = "aws";

export function targetsThat(are: (traits: TargetTraits) => boolean): string {
	return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
		TARGETS.filter((target) => are(targets[target])),
	);
}
