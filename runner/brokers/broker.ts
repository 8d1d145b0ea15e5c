import { z } from "zod";
import { CpuSet } from "../model/cpu-set.ts";
import { count, number, unit } from "../model/field.ts";
import { Level, type Pattern, type Target } from "../model/plan.ts";
import { parseBytes } from "../units.ts";

/** What may be promised of each message, and in which order messages arrive. */
export const Delivery = z.enum([
	"at-most-once",
	"at-least-once",
	"exactly-once",
]);
export type Delivery = z.infer<typeof Delivery>;
export const Order = z.enum(["none", "per-producer", "per-key"]);
export type Order = z.infer<typeof Order>;

/**
 * One kind of system that mqbench can measure: what a scenario may say of it, and what follows from that. A new one is
 * a file here, a driver in `extensions/` and a file in `infra/brokers/`, all under the same word.
 */
export interface Broker<Options = SystemOptionsOfAnyBroker> {
	/** What a scenario may say: a strict object with `broker: <name>`. */
	readonly options: z.ZodObject;
	/** Schemes of its URLs, the usual one first; empty: it has no process and no URL. */
	readonly urlSchemes: readonly string[];
	/** Port of a URL without one. */
	readonly defaultPort: number;
	/** Environment variable by which the driver gets the URL, password included. */
	readonly urlEnv: string;
	/** Other environment variables that its driver reads: secrets that have no place in a URL (a token, a path of credentials). */
	readonly secretEnv: readonly string[];
	/** What a system with these options is and promises. */
	traits(options: Options): Traits;
	/** The driver's own options, as its Go side decodes them. No secrets. */
	driverOptions(options: Options): Readonly<Record<string, Json>>;
	/** Options that are right by themselves and wrong together, or on that target: the key at fault, and a sentence with the remedy. */
	contradictions(
		options: Options,
		target: Target,
	): readonly { key: string; message: string }[];
	/** Options, besides durability and replicas, that are settings of topics which mqbench makes: topics of the user's own keep theirs. */
	readonly topicOptions: readonly string[];
}

/** What follows from a system's options, before anything runs. */
export interface Traits {
	/** For people: "NATS core", "JetStream", "Kafka". */
	readonly title: string;
	/** It confirms each message to the sender: only then does `ack` exist. */
	readonly acks: boolean;
	/** What it promises of each message. */
	readonly delivery: Delivery;
	/** It keeps the order of one producer's messages to one partition, or with one key. */
	readonly ordered: boolean;
	/** It does so also where the members of a group share the messages. */
	readonly groupOrdered: boolean;
	/** Messages have keys that mean something to it; topics have partitions. */
	readonly keys: boolean;
	readonly partitions: boolean;
	/** A subscription may be a pattern. */
	readonly wildcards: boolean;
	/** Largest message that it takes as mqbench sets it up; null: no limit. */
	readonly maxMessageBytes: number | null;
	/** Why it cannot do a pattern, as the end of a sentence ("nothing is stored"); patterns not named it can. */
	readonly cannot: Readonly<Partial<Record<Pattern, string>>>;
	/** Durability levels that it can give: what is set for each, for people ("sync_interval: always"). Empty: nothing is stored. */
	readonly levels: Readonly<Partial<Record<Level, string>>>;
	/** What it does without a level, for people: "interval 2m (default)"; "none, nothing is stored". */
	readonly ownDurability: string;
	/** Most messages that a member of a group holds and has not acknowledged; null: there is no such number. */
	readonly prefetch: number | null;
	/** A message that its consumer has held for so long is handed out again, ns; null: never while its connection lives. */
	readonly redeliverAfterNs: number | null;
	/** Most replicas of a topic; 1: it has none. */
	readonly maxReplicas: number;
	/** Nodes that mqbench can start. */
	readonly nodes: readonly number[];
}

export type Json =
	| string
	| number
	| boolean
	| null
	| readonly Json[]
	| { readonly [key: string]: Json };

/** Fields that every system with a process has; a broker's file adds its own. */
export const processFields = {
	url: z
		.string()
		.min(1)
		.optional()
		.meta({
			description: `Address of an existing broker (\`target: existing\`); several are separated by commas. \`${variable("NAME")}\` stands for an environment variable: passwords belong there, never in the file.`,
			examples: ["nats://10.0.0.5:4222", variable("NATS_URL")],
		}),
	port: z
		.int()
		.min(1)
		.max(65_535)
		.optional()
		.meta({
			description:
				"Port of the broker that mqbench starts (`target: local`). Default: a free one.",
			examples: [4222],
		}),
	version: z
		.string()
		.regex(/^[\w.+~-]+$/, "a version has digits, letters, dots and dashes")
		.optional()
		.meta({
			description:
				"Version of the broker that mqbench starts, where it can get others than its own; of `target: docker` the tag of the official image.",
			examples: ["4.1.1"],
		}),
	binary: z
		.string()
		.min(1)
		.optional()
		.meta({
			description:
				"Program (or installation folder) of the broker that mqbench starts: two builds side by side are two systems. A path is relative to the scenario's folder; a bare name is looked up on PATH.",
			examples: ["./build/nats-server", "/opt/kafka"],
		}),
	image: z
		.string()
		.regex(
			// A dash in front would be an option of docker's command.
			/^[A-Za-z0-9][\w./:@-]*$/,
			"an image is a name with an optional tag or digest, e.g. apache/kafka:4.1.1",
		)
		.optional()
		.meta({
			description:
				"Image of its containers (`target: docker`): two builds side by side are two systems. Default: the official one of `version`, pinned.",
			examples: ["apache/kafka:4.1.1"],
		}),
	cpus: number(
		"Most CPUs of each container (`target: docker`), as docker run --cpus takes them: 1.5 is one and a half. Default: no limit.",
		[2],
		{ least: 0.05, most: 1024 },
	).optional(),
	memory: unit(
		parseBytes,
		{
			description:
				"Most memory of each container (`target: docker`), as docker run --memory. Default: no limit.",
			examples: ["2GiB"],
		},
		(bytes) =>
			bytes < 16 * 1024 ** 2 ? "memory must be at least 16MiB" : undefined,
	).optional(),
	create: z
		.boolean()
		.optional()
		.meta({
			description:
				"`false`: use the topics of `topics`, which are yours (`target: existing`): none is made, changed or removed, and messages stay where yours stay. Default: mqbench makes its own, and removes them.",
			examples: [false],
		}),
	topics: z
		.array(
			z
				.string()
				.max(249)
				.regex(
					/^[^\p{C}\p{Z}]+$/u,
					"a topic's name has no blanks and no control characters; write it as the broker knows it",
				),
		)
		.min(1)
		.max(10_000)
		.optional()
		.meta({
			description:
				"Names of your topics, with `create: false`: as many as the workload has. What others send there is counted as foreign, never as lost or duplicated.",
			examples: [["orders"]],
		}),
	durability: Level.optional().meta({
		description:
			"What has happened to a message that is acknowledged. `memory`: nothing; `os`: written, not flushed; `interval`: flushed every so often; `fsync`: on disk. Default: the broker's own, printed on each chart.",
	}),
	config: z
		.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
		.optional()
		.meta({
			description:
				"Raw settings of the broker's own configuration; they override what durability sets.",
			examples: [{ max_payload: "8MB" }],
		}),
	pin: CpuSet.optional().meta({
		description:
			"CPUs of this broker (`target: local`, `docker` and `aws`); overrides the scenario's `pin.brokers`.",
		examples: ["2-3"],
	}),
} as const;

/** Of brokers that come as clusters. */
export const clusterFields = {
	nodes: count(
		"Nodes of the cluster that mqbench starts. On this machine they share its cores and its disk: good for trying, not for numbers; with `target: aws` each has a machine of its own.",
		3,
		[3],
	).optional(),
	replicas: count(
		"Copies of every topic, on as many nodes. Default: 1.",
		5,
		[3],
	).optional(),
} as const;

/** TLS towards an existing broker; the scheme of its URL, or this key, switches it on. */
export const tlsField = {
	tls: z
		.union([
			z.boolean(),
			z.strictObject({
				ca: z.string().optional().meta({
					description:
						"File with the certificates to trust (PEM). Default: the system's.",
				}),
				cert: z.string().optional().meta({
					description: "File with the client's certificate (PEM).",
				}),
				key: z.string().optional().meta({
					description: "File with the client's key (PEM).",
				}),
				serverName: z.string().optional().meta({
					description:
						"Name to expect in the broker's certificate. Default: the URL's host.",
				}),
				insecure: z.boolean().optional().meta({
					description: "Trust any certificate: for tests only.",
				}),
			}),
		])
		.optional()
		.meta({ description: "Encrypt connections.", examples: [true] }),
} as const;

/** What is common to the options of all brokers, as the rest of mqbench sees them. */
export interface SystemOptionsOfAnyBroker {
	readonly broker: string;
	readonly url?: string | undefined;
	readonly port?: number | undefined;
	readonly version?: string | undefined;
	readonly binary?: string | undefined;
	readonly image?: string | undefined;
	/** CPUs and bytes, of each container. */
	readonly cpus?: number | undefined;
	readonly memory?: number | undefined;
	readonly create?: boolean | undefined;
	readonly topics?: readonly string[] | undefined;
	readonly durability?: Level | undefined;
	readonly config?:
		| Readonly<Record<string, string | number | boolean>>
		| undefined;
	readonly pin?: string | undefined;
	readonly nodes?: number | undefined;
	readonly replicas?: number | undefined;
}

/** How a scenario names an environment variable. */
export function variable(name: string): string {
	return `\${${name}}`;
}
