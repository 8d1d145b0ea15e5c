import { commonOptions, type SystemOptions } from "../brokers/index.ts";
import type { Target } from "./schema.ts";

/**
 * Settings of a system that stand on a target without them, each with a sentence: where they belong, and what to do. The first
 * word of a scenario that is moved from one target to another.
 */
export function misplacedSettings(
	options: SystemOptions,
	target: Target,
): { key: string; message: string }[] {
	const common = {
		...commonOptions(options),
		tls: "tls" in options ? options.tls : undefined,
	};
	return KEYS.flatMap((key) => {
		const { on, why, instead } = SETTINGS[key];
		const value = common[key];
		if (value === undefined || value === DEFAULTS[key]) return [];
		if (on.includes(target)) return [];
		return [
			{
				key,
				message: `${key} is for target ${words(on)}${why}; ${instead[target] ?? `remove ${key}`}`,
			},
		];
	});
}

// --- internal ---

/** "local, docker and aws". */
function words(targets: readonly Target[]): string {
	return targets.length < 3
		? targets.join(" and ")
		: `${targets.slice(0, -1).join(", ")} and ${targets.at(-1)}`;
}

interface Setting {
	/** Targets that have it. */
	readonly on: readonly Target[];
	/** Why only they: the rest of the sentence. */
	readonly why: string;
	/** What to do on another one. Default: remove it. */
	readonly instead: Readonly<Partial<Record<Target, string>>>;
}

/** Written or not, it is the same. */
const DEFAULTS: Readonly<Partial<Record<Key, unknown>>> = {
	create: true,
	tls: false,
};

const STARTS = ", where mqbench starts the broker";
const CONTAINERS = ", where brokers are containers";
const YOURS = ", where brokers are yours";

type Key =
	| "port"
	| "version"
	| "binary"
	| "config"
	| "nodes"
	| "pin"
	| "image"
	| "cpus"
	| "memory"
	| "url"
	| "tls"
	| "create"
	| "topics";

const SETTINGS: Readonly<Record<Key, Setting>> = {
	port: {
		on: ["local"],
		why: STARTS,
		instead: {
			existing: "an existing one has a url",
			docker: "containers publish free ports; remove port",
			aws: "on machines of its own a broker has its usual one; remove port",
		},
	},
	version: {
		on: ["local", "docker", "aws"],
		why: STARTS,
		instead: { existing: "an existing one says its own" },
	},
	binary: {
		on: ["local"],
		why: STARTS,
		instead: {
			existing: "an existing one runs already; remove binary",
			docker: "a container runs what is in its image; write image instead",
			aws: "rented machines run what mqbench brings there or Debian packages; remove binary",
		},
	},
	config: {
		on: ["local", "docker", "aws"],
		why: STARTS,
		instead: {
			existing: "set an existing one up before the run; remove config",
		},
	},
	nodes: {
		on: ["local", "docker", "aws"],
		why: STARTS,
		instead: {
			existing: "an existing one has as many as it has; remove nodes",
		},
	},
	pin: {
		on: ["local", "docker", "aws"],
		why: STARTS,
		instead: { existing: "pin an existing one where it runs; remove pin" },
	},
	image: {
		on: ["docker"],
		why: CONTAINERS,
		instead: {
			existing: "an existing one runs already; remove image",
			local:
				"add target: docker, or write binary for a program of this machine",
			aws: "rented machines run no containers; remove image, or write target: docker",
		},
	},
	cpus: {
		on: ["docker"],
		why: CONTAINERS,
		instead: {
			existing: "limit an existing one where it runs; remove cpus",
			local: "add target: docker, or hold the broker to CPUs by pin",
			aws: "choose the machine by aws: brokers: instance, or hold the broker to CPUs by pin; remove cpus",
		},
	},
	memory: {
		on: ["docker"],
		why: CONTAINERS,
		instead: {
			existing: "limit an existing one where it runs; remove memory",
			local: "add target: docker, or remove memory",
			aws: "choose the machine by aws: brokers: instance; remove memory",
		},
	},
	url: {
		on: ["existing"],
		why: "",
		instead: {
			local:
				"add target: existing, or remove url to have mqbench start the broker",
			docker:
				"write target: existing, or remove url to have mqbench start the broker",
			aws: "write target: existing, or remove url to have mqbench start the broker",
		},
	},
	tls: {
		on: ["existing"],
		why: "",
		instead: {
			local:
				"a broker that mqbench starts listens on this machine alone, unencrypted; add target: existing, or remove tls",
			docker:
				"a broker that mqbench starts listens on this machine alone, unencrypted; write target: existing, or remove tls",
			aws: "a broker that mqbench starts listens within its own network alone, unencrypted; write target: existing, or remove tls",
		},
	},
	create: {
		on: ["existing"],
		why: YOURS,
		instead: {
			local:
				"one that mqbench starts has no topics yet; add target: existing with a url, or remove create",
			docker:
				"one that mqbench starts has no topics yet; write target: existing with a url, or remove create",
			aws: "one that mqbench starts has no topics yet; write target: existing with a url, or remove create",
		},
	},
	topics: {
		on: ["existing"],
		why: YOURS,
		instead: {
			local:
				"one that mqbench starts has none yet; write how many it is to get under workload: topics",
			docker:
				"one that mqbench starts has none yet; write how many it is to get under workload: topics",
			aws: "one that mqbench starts has none yet; write how many it is to get under workload: topics",
		},
	},
};

const KEYS = Object.keys(SETTINGS) as Key[];
