import { z } from "zod";
import defaults from "../../../extensions/xk6-pulsar/defaults.json" with { type: "json" };
import { choice, count, flag, named, span } from "../../model/field.ts";
import { broker } from "../broker.ts";
import { acknowledgeField, onlyIn, processFields, tlsField, unacknowledged } from "../fields.ts";
import { heapField } from "../jvm.ts";
import { server, stores } from "./process.ts";

const PulsarOptions = z.strictObject({
	broker: named(
		"pulsar",
		"Apache Pulsar: topics with subscriptions, stored by BookKeeper. Standalone, it needs 1.9 GB of memory. Its driver is built on first use.",
	),
	...processFields,
	...tlsField,
	partitions: count(
		"Partitions of each topic. Default: the workload's `partitions`.",
		10_000,
		[12],
	).optional(),
	subscription: choice(
		["shared", "key_shared", "failover", "exclusive"],
		"Subscription of a group. `shared`: each message to any member; `key_shared`: by key; `failover`: each partition to one member; `exclusive`: one member. Other consumers are readers.",
	).default("shared"),
	linger: span(
		"How long a batch waits. Default: 0ms, no batches; Pulsar's Java client: 1ms.",
		["1ms"],
		"from 0",
	).default(0),
	batch: count(`Most messages of a batch. Default: ${defaults.batch}.`, 100_000, [100]).optional(),
	compression: choice(
		["none", "lz4", "zlib", "zstd", "snappy"],
		"Random payloads do not shrink: set `payload`.",
	).default("none"),
	prefetch: count(
		`Most waiting messages of a partition; 1 spreads slow work best. Default: ${defaults.prefetch}, as in Pulsar.`,
		100_000,
		[1],
	).optional(),
	...acknowledgeField,
	cumulative: flag(
		"Acknowledgements cover all earlier messages (`failover`, `exclusive`). A failover can then lose some.",
	).default(false),
	...heapField,
});
const MAX_MESSAGE_BYTES = 5 * 1024 ** 2;
/** The limit includes a message's metadata. */
const METADATA = 512;

export const pulsar = broker(PulsarOptions, {
	title: "Pulsar",
	alsoCalled: { bookkeeper: "{ broker: pulsar }" },
	urls: { pulsar: 6650, "pulsar+ssl": 6651 },
	apart: true,
	server,
	traits: ({ subscription, acknowledge, prefetch = defaults.prefetch, config }) => ({
		acks: true,
		delivery: "at-least-once",
		// The library's readers acknowledge every 100 ms.
		acknowledge: { alone: "interval", group: acknowledge ?? "message" },
		groupOrdered: subscription !== "shared",
		keys: true,
		partitions: true,
		groupsByPartition: subscription === "failover" || subscription === "exclusive",
		replays: true,
		maxMessageBytes: (Number(config?.maxMessageSize) || MAX_MESSAGE_BYTES) - METADATA,
		prefetch,
		jvm: true,
	}),
	stores: () => stores,
	configExample: { journalMaxGroupWaitMSec: 0 },
	config: {
		file: "standalone.conf",
		options: { brokerserviceport: "port" },
		reserved: `webserviceport bindaddress bindaddresses advertisedaddress advertisedlisteners clustername
			metadatastoreurl configurationmetadatastoreurl zookeeperservers bookkeepermetadataserviceuri
			listeninginterface allowloopback advertisedlistenername authenticationenabled authorizationenabled`,
	},
	check: (options, place) => ({
		broker: place === "container" && "it does not run in containers here; write target: local",
		...unacknowledged("Pulsar", options.acknowledge, {
			automatic: "a subscription waits for it",
			batch: "its client acknowledges each message, or every 100ms",
		}),
		batch:
			options.batch !== undefined &&
			options.linger === 0 &&
			"without linger there are no batches; write linger: 1ms",
		...onlyIn("subscription", ["failover", "exclusive"], ["cumulative"], {
			...options,
			cumulative: options.cumulative || undefined,
		}),
	}),
});
