import { z } from "zod";
import { count, span, unit } from "../../model/field.ts";
import { acknowledgeField, clusterFields, processFields, tlsField } from "../fields.ts";
import { heapField } from "../java.ts";

const MAX_BATCH_BYTES = 64 * 1024 ** 2;

/** As Kafka's own clients write them, with and without quotes. */
const Acks = z
	.literal(["all", 1, 0, "1", "0", -1, "-1"])
	.transform((acks): "all" | 1 | 0 =>
		acks === "all" || Number(acks) === -1 ? "all" : Number(acks) === 1 ? 1 : 0,
	);

export const KafkaOptions = z.strictObject({
	broker: z
		.literal("kafka")
		.meta({ description: "Apache Kafka: partitioned logs, consumer groups." }),
	...processFields,
	...clusterFields,
	...tlsField,
	partitions: count("Partitions of each topic. Default: the workload's.", 10_000, [12]).optional(),
	acks: Acks.prefault("all").meta({
		description:
			"Who has a message when it is acknowledged: `all` replicas in sync (default, as Kafka's own), the leader (`1`), or nobody (`0`: nothing is acknowledged).",
		examples: ["all", 1, 0],
	}),
	idempotence: z.boolean().optional().meta({
		description:
			"The broker tells second copies of a batch apart, so that the client may try again. Default: with `acks: all`, as Kafka's own. Without it a message is tried once.",
	}),
	linger: span(
		"How long a client waits for more messages before it sends a batch. Default: 0ms, it sends at once; Kafka's own is 5ms since 4.0, 0 before.",
		["0ms", "5ms"],
	).default(0),
	batch: unit(
		"size",
		{
			description:
				"Largest batch. Default: 1MiB, so that it does not hold up a fast producer; Kafka's own is 16KiB.",
			examples: ["16KiB", "1MiB"],
		},
		(bytes) => (bytes < 1024 || bytes > MAX_BATCH_BYTES ? "must be 1KiB to 64MiB" : undefined),
	).optional(),
	compression: z.enum(["none", "gzip", "snappy", "lz4", "zstd"]).default("none").meta({
		description: "Compression of batches. Random payloads do not shrink: set `payload` as well.",
	}),
	minInsyncReplicas: count(
		"Replicas that must have a message before `acks: all` acknowledges it. Default: the broker's own (1).",
		5,
		[2],
	).optional(),
	fetchMinBytes: unit(
		"size",
		{
			description:
				"A broker answers a consumer when it has this much. Default: 1B, at once, as Kafka's own.",
			examples: ["1B", "64KiB"],
		},
		(bytes) => (bytes < 1 || bytes > MAX_BATCH_BYTES ? "must be 1B to 64MiB" : undefined),
	).optional(),
	fetchMaxWait: span("... or after this long. Default: 500ms, as Kafka's own.", [
		"500ms",
	]).optional(),
	assignor: z.enum(["range", "cooperative-sticky"]).default("range").meta({
		description:
			"How partitions are shared out to the members of a group. Default: `range`, as Kafka's own.",
	}),
	...acknowledgeField,
	commitInterval: span(
		"How often a member of a group commits with `acknowledge: interval`, for which it stands; what it had handled since is delivered again if it dies. Default: 100ms; Kafka's own is 5s.",
		["100ms", "5s"],
		"above 0",
	).optional(),
	...heapField("Kafka's own scripts give 1GiB"),
	sasl: z
		.enum(["plain", "scram-sha-256", "scram-sha-512"])
		.optional()
		.meta({ description: "How the user and password of the url are proved. Default: `plain`." }),
});
export type KafkaOptions = z.infer<typeof KafkaOptions>;
