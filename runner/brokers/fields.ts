import { z } from "zod";
import { bytes, CpuSet, count, flag, number, word } from "../model/field.ts";
import { Level } from "../model/plan.ts";
import { Acknowledge } from "../model/workload.ts";
import { tell } from "../text/tell.ts";

export const processFields = {
	url: word(
		`Address of an existing broker (\`target: existing\`); several are separated by commas. \`${variable("NAME")}\` stands for an environment variable: passwords belong there, never in the file.`,
		[variable("BROKER_URL")],
	).optional(),
	port: count(
		"Port of the broker that mqbench starts (`target: local`). Default: a free one.",
		65_535,
		[4222],
	).optional(),
	version: word(
		"Version of the broker that mqbench starts, where it can get others than its own. With `target: docker` the tag of the official image; on hosts and `target: aws` too, where Docker runs it on the host, unless mqbench can copy any version there.",
		["4.1.1"],
		[/^[\w.+~-]+$/, tell("version-form")],
	).optional(),
	binary: word(
		"Program (or installation folder) of the broker that mqbench starts: two builds side by side are two systems. A path is relative to the scenario's folder; a bare name is looked up on PATH.",
		["./build/server", "/opt/broker"],
	).optional(),
	image: word(
		"Image of its containers (`target: docker`, `aws`, and hosts with Docker): two builds side by side are two systems. Default: the official one of `version`, pinned; on hosts without `version` none.",
		["registry.example.com/broker:4.1.1"],
		[
			// A leading dash would be an option of docker.
			/^[A-Za-z0-9][\w./:@-]*$/,
			tell("image-form"),
		],
	).optional(),
	cpus: number(
		"Most CPUs of each container, as docker run --cpus takes them: 1.5 is one and a half. Default: no limit.",
		[2],
		{ least: 0.05, most: 1024 },
	).optional(),
	memory: bytes(
		"Most memory of each container, as docker run --memory. Default: no limit.",
		["2GiB"],
		16 * 1024 ** 2,
	).optional(),
	create: flag(
		"`false`: use the topics of `topics`, which are yours (`target: existing`): none is made, changed or removed, and messages stay where yours stay. Default: mqbench makes its own, and removes them.",
		[false],
	).optional(),
	topics: z
		.array(
			z
				.string()
				.max(249)
				.regex(/^[^\p{C}\p{Z}]+$/u, tell("topic-form")),
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
			description: `Raw settings of the broker's own configuration. What they make of durability is what reports say; with \`durability\` they must not set what it sets. Secrets come from the environment (\`${variable("NAME")}\`), hidden in reports.`,
			examples: [{ max_payload: "8MB" }],
		}),
	pin: CpuSet.optional().meta({
		description:
			"CPUs of this broker (`target: local`, `docker` and `aws`); overrides the scenario's `pin.brokers`.",
		examples: ["2-3"],
	}),
} as const;

export const clusterFields = {
	nodes: count(
		"Nodes of the cluster that mqbench starts. On this machine they share its cores and its disk: good for trying, not for numbers; with `target: aws` each has a machine of its own.",
		3,
		[3],
	).optional(),
	replicas: count("Copies of every topic, on as many nodes. Default: 1.", 5, [3]).optional(),
} as const;

export const acknowledgeField = {
	acknowledge: Acknowledge.optional().meta({
		description:
			"When consumers acknowledge what they have handled. `automatic`: never; `message`: each message; `batch`: those that arrived together; `interval`: every 100ms. Default: `message` in groups (work-queue, backlog, responders), `automatic` where a consumer shares with nobody (round-trip, fan-out); one that reads from a position of its own there has nothing to acknowledge.",
		examples: ["message"],
	}),
} as const;

/** One default for all systems keeps comparisons fair. */
export function acknowledges(written: Acknowledge | undefined) {
	return { alone: written ?? "automatic", group: written ?? "message" } as const;
}

/** Rejects a way to `acknowledge`; `cannot` has the reasons. */
export function unacknowledged(
	system: string,
	way: Acknowledge | undefined,
	cannot: Readonly<Partial<Record<Acknowledge, string>>>,
) {
	const why = way && cannot[way];
	return { acknowledge: why && tell("acknowledge-way", { system, way, why }) };
}

/** Rejects `keys` that only apply with one of `values`. */
export function onlyIn<Key extends string>(
	option: Key,
	values: readonly string[],
	keys: readonly string[],
	options: Readonly<Record<string, unknown>> & { readonly [_ in Key]: string },
) {
	const is: string = options[option];
	const needs = `needs ${option}: ${values.join(" or ")}; this ${option} is ${is}`;
	return Object.fromEntries(
		keys
			.filter((key) => options[key] !== undefined && !values.includes(is))
			.map((key) => [key, `${key} ${needs}`]),
	);
}

export const tlsField = {
	tls: z
		.union([
			z.boolean(),
			z.strictObject({
				ca: z.string().optional().meta({
					description: "File with the certificates to trust (PEM). Default: the system's.",
				}),
				cert: z
					.string()
					.optional()
					.meta({ description: "File with the client's certificate (PEM)." }),
				key: z.string().optional().meta({ description: "File with the client's key (PEM)." }),
				serverName: z.string().optional().meta({
					description: "Name to expect in the broker's certificate. Default: the URL's host.",
				}),
				insecure: flag("Trust any certificate: for tests only.").optional(),
			}),
		])
		.optional()
		.meta({ description: "Encrypt connections.", examples: [true] }),
} as const;

/** Options that no driver gets. */
export const OF_PROCESSES: readonly string[] = [
	...["broker", "heap", "partitions"],
	...Object.keys({ ...processFields, ...clusterFields }),
];

const allFields = z.object({
	broker: z.string(),
	...processFields,
	...clusterFields,
	...tlsField,
	partitions: z.int().optional(),
	/** Filled in by mqbench: parts of `config` that must stay hidden. */
	secrets: z.array(z.string()).readonly().optional(),
});
export type SystemOptionsOfAnyBroker = Readonly<z.infer<typeof allFields>>;
export type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

export function variable(name: string): string {
	return `\${${name}}`;
}

export type Json =
	| string
	| number
	| boolean
	| null
	| readonly Json[]
	| { readonly [key: string]: Json };
