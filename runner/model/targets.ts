/** A kind of place in which a target's brokers run. */
export type BrokerPlace = "process" | "container" | "host";

/** What a target is and can do. What stands it up is infra/targets.ts. */
export interface TargetTraits {
	/** Where mqbench starts its brokers; null: they are somebody else's, and up. */
	readonly place: BrokerPlace | null;
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
const REMOVE_URL = "or remove url to have mqbench start the broker";
const UNENCRYPTED =
	"a broker that mqbench starts listens on this machine alone, unencrypted";
const NO_TOPICS = "one that mqbench starts has no topics yet";
const TOPICS =
	"one that mqbench starts has none yet; write how many it is to get under workload: topics";

/** All targets, in the order in which people are told of them. */
export const targets = {
	local: {
		place: "process",
		here: true,
		rents: null,
		faults: PROCESS_FAULTS,
		otherFaults:
			"on target local mqbench has no network of its own; write target: docker, or remove it",
		without: {
			image:
				"add target: docker, or write binary for a program of this machine",
			cpus: "add target: docker, or hold the broker to CPUs by pin",
			memory: "add target: docker, or remove memory",
			url: `add target: existing, ${REMOVE_URL}`,
			tls: `${UNENCRYPTED}; add target: existing, or remove tls`,
			create: `${NO_TOPICS}; add target: existing with a url, or remove create`,
			topics: TOPICS,
		},
	},
	docker: {
		place: "container",
		here: true,
		rents: null,
		faults: [...PROCESS_FAULTS, "partition", "latency"],
		otherFaults: "",
		without: {
			port: "containers publish free ports; remove port",
			binary: "a container runs what is in its image; write image instead",
			url: `write target: existing, ${REMOVE_URL}`,
			tls: `${UNENCRYPTED}; write target: existing, or remove tls`,
			create: `${NO_TOPICS}; write target: existing with a url, or remove create`,
			topics: TOPICS,
		},
	},
	existing: {
		place: null,
		here: false,
		rents: null,
		faults: [],
		otherFaults: "",
		without: {
			port: "an existing one has a url",
			version: "an existing one says its own",
			binary: "an existing one runs already; remove binary",
			config: "set an existing one up before the run; remove config",
			nodes: "an existing one has as many as it has; remove nodes",
			pin: "pin an existing one where it runs; remove pin",
			image: "an existing one runs already; remove image",
			cpus: "limit an existing one where it runs; remove cpus",
			memory: "limit an existing one where it runs; remove memory",
		},
	},
	aws: {
		place: "host",
		here: false,
		rents: "aws",
		faults: PROCESS_FAULTS,
		otherFaults:
			"SSH to the hosts goes over the very network that it would disturb; write action: pause, or remove it",
		without: {
			port: "on machines of its own a broker has its usual one; remove port",
			binary:
				"rented machines run what mqbench brings there or Debian packages; remove binary",
			image:
				"rented machines run no containers; remove image, or write target: docker",
			cpus: "choose the machine by aws: brokers: instance, or hold the broker to CPUs by pin; remove cpus",
			memory: "choose the machine by aws: brokers: instance; remove memory",
			url: `write target: existing, ${REMOVE_URL}`,
			tls: "a broker that mqbench starts listens within its own network alone, unencrypted; write target: existing, or remove tls",
			create: `${NO_TOPICS}; write target: existing with a url, or remove create`,
			topics: TOPICS,
		},
	},
} as const satisfies Readonly<Record<string, TargetTraits>>;

export type TargetName = keyof typeof targets;

export const TARGETS = Object.keys(targets) as TargetName[];

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

/** The target as which mqbench starts brokers on hosts, whoever they belong to. */
export const ON_HOSTS: TargetName = TARGETS.find(
	(target) => targets[target].place === "host",
) as TargetName;

/** The target whose machines are rented. */
export const RENTING: TargetName = TARGETS.find(
	(target) => targets[target].rents !== null,
) as TargetName;

/** "local, docker and aws": those that are so. */
export function targetsThat(are: (traits: TargetTraits) => boolean): string {
	return new Intl.ListFormat("en-GB").format(
		TARGETS.filter((target) => are(targets[target])),
	);
}
