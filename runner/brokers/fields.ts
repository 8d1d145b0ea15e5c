import { z } from "zod";
import { bytes, CpuSet, count, described, flag, number, text, word } from "../model/field.ts";
import { Level } from "../model/plan.ts";
import { Acknowledge } from "../model/workload.ts";
import { tell } from "../text/tell.ts";

const MetricsUrl = z
	.string()
	.meta({ description: "http:// or https://; passwords come from the environment." });

export const processFields = {
	url: word(
		`Address of an existing broker (\`target: existing\`); separate several with commas. Passwords come from the environment: \`${variable("NAME")}\`.`,
		[variable("BROKER_URL")],
	).optional(),
	port: count(
		"Port of the broker (`target: local`). Default: a free one.",
		65_535,
		[4222],
	).optional(),
	version: word(
		"Version of the broker; in containers and pods the image's tag. On this machine only for brokers on Java, which mqbench downloads. Hosts and `aws` get those, too, and Docker images of all others. Default: pinned by mqbench; on PATH the installed one.",
		["4.1.1"],
		[/^[\w.+~-]+$/, tell("version-form")],
	).optional(),
	binary: word(
		"Program or installation folder of the broker (`target: local`), relative to the scenario's folder; a bare name is looked up on PATH.",
		["./build/server", "/opt/broker"],
	).optional(),
	image: word(
		"Image of its containers (`target: docker`, `kubernetes`, `aws`). Default: the official one; on hosts and `aws` none without `version`.",
		["registry.example.com/broker:4.1.1"],
		[
			// A leading dash would be an option of docker.
			/^[A-Za-z0-9][\w./:@-]*$/,
			tell("image-form"),
		],
	).optional(),
	cpus: number("CPU limit of each container, as in docker run --cpus. Default: no limit.", [2], {
		least: 0.05,
		most: 1024,
	}).optional(),
	memory: bytes(
		"Memory limit of each container. Default: no limit.",
		["2GiB"],
		16 * 1024 ** 2,
	).optional(),
	metrics: described(
		z.union([
			z.literal(false),
			MetricsUrl,
			z.strictObject({
				url: MetricsUrl.optional(),
				show: described(
					z.array(z.string().min(1).max(200)).min(1).max(50).optional(),
					"Names for the chart; `*` stands for any text.",
					[["*_messages_ready", "process_*_bytes"]],
				),
			}),
		]),
		`The broker's own metrics, read once a second: Prometheus text, or numbers in JSON. \`{port}\` is the broker's port; separate several nodes with commas. \`{ url, show }\` chooses what the chart shows; details.json has everything. Default: the broker's own, where mqbench starts it and it has some; \`false\`: nothing.`,
		["http://127.0.0.1:9404/metrics"],
	).optional(),
	create: flag(
		"`false`: use your existing `topics` (`target: existing`); mqbench creates, changes and removes none. Default: true.",
		[false],
	).optional(),
	topics: described(
		z
			.array(
				z
					.string()
					.max(249)
					.regex(/^[^\p{C}\p{Z}]+$/u, tell("topic-form")),
			)
			.min(1)
			.max(10_000),
		"With `create: false`, your topics: as many as the workload has. Messages of other senders count as foreign.",
		[["orders"]],
	).optional(),
	durability: Level.optional().meta({
		description:
			"Where an acknowledged message is. `memory`: in memory; `os`: written, not flushed; `interval`: flushed at intervals; `fsync`: on disk. Default: the broker's own, printed on each chart.",
	}),
	config: described(
		z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
		`Raw settings of the broker, except those that \`durability\` sets. Reports show the durability that follows from them. Secrets come from the environment (\`${variable("NAME")}\`) and are hidden in reports.`,
	),
	pin: CpuSet.optional().meta({
		description:
			"CPUs of this broker (`target: local`, `docker`, `aws`). Default: the scenario's `pin.brokers`.",
		examples: ["2-3"],
	}),
} as const;

export const clusterFields = {
	nodes: count(
		"Nodes of the cluster: 1 or 3. On one machine they share cores and disk, so figures say little. Default: 1.",
		3,
		[3],
	).optional(),
	replicas: count("Copies of every topic, each on another node. Default: 1.", 5, [3]).optional(),
} as const;

export const acknowledgeField = {
	acknowledge: Acknowledge.optional().meta({
		description:
			"When consumers acknowledge. `automatic`: never; `message`: each message; `batch`: messages that arrived together; `interval`: every 100ms. Default: `message` if consumers share a topic (work-queue, backlog, request-reply), else `automatic`.",
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
	tls: described(
		z.union([
			z.boolean(),
			z.strictObject({
				ca: text("PEM file with the certificates to trust. Default: the system's."),
				cert: text("PEM file with the client's certificate."),
				key: text("PEM file with the client's key."),
				serverName: text("Expected name in the broker's certificate. Default: the URL's host."),
				insecure: flag("Trust any certificate (for tests only). Default: false.").optional(),
			}),
		]),
		"Encrypt connections (`target: existing`). Default: only if the url asks for it.",
		[true],
	).optional(),
} as const;

/** Options that no driver gets. */
export const OF_PROCESSES: readonly string[] = [
	...["broker", "heap", "partitions", "command"],
	...Object.keys({ ...processFields, ...clusterFields }),
];

export const DEFINITION = Symbol("definition");

const allFields = z.object({
	broker: z.string(),
	...processFields,
	...clusterFields,
	...tlsField,
	partitions: z.int().optional(),
	command: z.array(z.string()).readonly().optional(),
	/** Filled in by mqbench: parts of `config` that must stay hidden. */
	secrets: z.array(z.string()).readonly().optional(),
});
export type SystemOptionsOfAnyBroker = Readonly<z.infer<typeof allFields>> & {
	/** The definition of a broker from outside (outside.ts). Copies keep it, JSON does not. */
	readonly [DEFINITION]?: object;
};
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
