import { z } from "zod";
import defaults from "../../../extensions/xk6-rabbitmq/defaults.json" with { type: "json" };
import { choice, count, flag, named } from "../../model/field.ts";
import type { Level } from "../../model/plan.ts";
import type { Delivery } from "../../model/workload.ts";
import { broker, storesAs } from "../broker.ts";
import {
	acknowledgeField,
	acknowledges,
	clusterFields,
	onlyIn,
	processFields,
	tlsField,
	unacknowledged,
} from "../fields.ts";
import { FRAME_OVERHEAD, server } from "./process.ts";

const Queue = z.enum(["classic", "quorum", "transient", "stream"]);
type Queue = z.infer<typeof Queue>;

const RabbitmqOptions = z.strictObject({
	broker: named(
		"rabbitmq",
		"RabbitMQ over AMQP 0.9.1: one queue for each subscriber or group; or streams over their own protocol. `metrics: {}` reads its own metrics, by plugin rabbitmq_prometheus, which takes CPU.",
	),
	...processFields,
	replicas: clusterFields.replicas,
	...tlsField,
	queue: Queue.optional().meta({
		description:
			"`classic`: durable; `quorum`: replicated, on disk before a confirm; `transient`: gone with the broker, and a subscriber's own queue with its connection; `stream`: a log that each consumer reads whole (plugin rabbitmq_stream). Default: what `durability` needs, else classic.",
	}),
	exchange: choice(
		["direct", "fanout", "topic"],
		"Type of the exchange; `fanout`: one for each topic. Default: direct; topic with `wildcard`.",
	).optional(),
	confirms: flag(
		"Publisher confirms: the broker acknowledges each message. Default: true.",
	).optional(),
	persistent: flag(
		"Delivery mode 2: messages survive a restart of the broker. Default: true; false in transient queues.",
	).optional(),
	subEntrySize: count(
		"Streams: most waiting messages that one entry holds; consumers get them together. 1: no sub-entries. Default: 1.",
		1000,
		[10],
	).optional(),
	...acknowledgeField,
	prefetch: count(
		`Most unacknowledged messages of a consumer; 0: no limit. 1 spreads slow work best. Default: ${defaults.prefetch}.`,
		65_535,
		[1, 100],
		0,
	).optional(),
});
type RabbitmqOptions = z.infer<typeof RabbitmqOptions>;
/** mqbench raises stream.frame_max (1 MiB) as far as RabbitMQ 4's own max_message_size. */
const MAX_STREAM_BYTES = 16 * 1024 ** 2;
/** RabbitMQ 3's default; RabbitMQ 4 takes 16 MiB until mqbench or `config` sets more. */
const MAX_MESSAGE_BYTES = 128 * 1024 ** 2;

export const rabbitmq = broker(RabbitmqOptions, {
	title: "RabbitMQ",
	alsoCalled: {
		rabbit: "rabbitmq",
		"rabbitmq-stream": "{ broker: rabbitmq, queue: stream }",
		"rabbitmq-streams": "{ broker: rabbitmq, queue: stream }",
	},
	urls: { amqp: 5672, amqps: 5671, "rabbitmq-stream": 5552, "rabbitmq-stream+tls": 5551 },
	// rabbitmq_prometheus
	metrics: {
		show: `rabbitmq_global_messages_received_total
			rabbitmq_global_messages_delivered_total rabbitmq_queue_messages_ready
			rabbitmq_queue_messages_unacked rabbitmq_process_resident_memory_bytes`.split(/\s+/),
	},
	server,
	traits(options) {
		const { acknowledge, confirms = defaults.confirms, prefetch = defaults.prefetch } = options;
		const queue = queueOf(options);
		if (queue === "stream") return streamTraits(options);
		const automatic = acknowledge === "automatic";
		const most = Number(options.config?.max_message_size);
		return {
			title: `RabbitMQ ${queue}`,
			acks: confirms,
			delivery: deliveryOf(options),
			// A consumer that ends loses the messages on their way to it.
			...(acknowledge === undefined && { deliveryAlone: "at-most-once" as const }),
			acknowledge: acknowledges(acknowledge),
			wildcards: (options.exchange ?? "topic") === "topic",
			maxMessageBytes: Number.isInteger(most) && most > 0 ? most : MAX_MESSAGE_BYTES,
			cannot: automatic ? { backlog: [TO_PAUSED, "write acknowledge: message"] } : {},
			instead: "write confirms: true",
			dials: true,
			prefetch: automatic ? null : prefetch,
			// The default consumer_timeout.
			redeliverAfterNs: 1800e9,
			killedAfterNs: 0,
			maxReplicas: queue === "quorum" ? 5 : 1,
		};
	},
	stores: (options) =>
		storesAs({
			own: ownDurability(options),
			levels: queueOf(options) === "stream" ? { os: STREAM } : LEVELS,
			byDriver: true,
		}),
	durabilityOn,
	configExample: { "vm_memory_high_watermark.relative": 0.8 },
	config: {
		file: "rabbitmq.conf",
		options: { "listeners.tcp.1": "port" },
		reserved: `listeners.* stream.listeners.* default_user default_pass default_vhost log.console log.console.level log.file log.dir
			cluster_formation.* cluster_name distribution.* raft.data_dir`,
	},
	check(options) {
		const { durability, persistent, acknowledge, prefetch, config, replicas = 1 } = options;
		const queue = queueOf(options);
		const ofLevel = durability && QUEUE_OF_LEVEL[durability];
		const stream = queue === "stream";
		const other = ofLevel !== undefined && queue !== ofLevel && !stream;
		const written = durability === "os" || durability === "fsync";
		const embedded = "queue_index_embed_msgs_below";
		return {
			config:
				durability === "os" &&
				config?.[embedded] !== undefined &&
				`durability: os sets ${embedded} itself; remove ${embedded}`,
			queue:
				other &&
				`queue: ${queue} contradicts durability: ${durability}, which means queue: ${ofLevel}; remove queue`,
			persistent:
				!other &&
				persistent !== undefined &&
				persistent === (queue === "transient") &&
				(queue !== "classic" || durability === "os") &&
				`persistent: ${persistent} contradicts ${durability ? `durability: ${durability}` : `queue: ${queue}`}; remove persistent`,
			confirms:
				written &&
				options.confirms === false &&
				`durability: ${durability} needs confirms: true; remove confirms`,
			prefetch:
				acknowledge === "automatic" &&
				prefetch !== undefined &&
				"prefetch needs acknowledge: message, because acknowledge: automatic leaves nothing unacknowledged; remove prefetch",
			replicas:
				replicas > 1 &&
				((queue !== "quorum" && `replicas need queue: quorum; this queue is ${queue}`) ||
					(options.url === undefined &&
						`mqbench starts one node of RabbitMQ, and ${replicas} replicas need a cluster; remove replicas`)),
			...onlyIn("queue", ["stream"], ["subEntrySize"], { ...options, queue }),
			...onlyIn("queue", ["classic", "quorum", "transient"], OF_QUEUES, { ...options, queue }),
			...(stream && unacknowledged("RabbitMQ streams", acknowledge, { interval: BY_CHUNK })),
			url:
				/^(amqps?|rabbitmq-stream)/.test(options.url ?? "") &&
				stream !== /^rabbitmq-stream/.test(options.url ?? "") &&
				`queue: ${queue} needs a url like ${stream ? "rabbitmq-stream://host:5552" : "amqp://host"}`,
		};
	},
	omb: {
		packages: ["rabbitmq"],
		system: { broker: "rabbitmq", queue: "classic", persistent: false },
		path: true,
		keys: {
			// Connections go to the first node.
			amqpUris(uris) {
				const [servers = "", ...others] = uris.split(/,(?=\w+:\/\/)/);
				return { at: { servers }, partly: others.length > 0 };
			},
			messagePersistence: (on) => ({ persistent: on === "true" }),
			queueType: (type) =>
				/^quorum$/i.test(type) ? { queue: "quorum" } : /^classic$/i.test(type) ? null : undefined,
		},
	},
});

// --- internal ---

const TO_PAUSED = "with acknowledge: automatic it hands messages out to paused consumers as well";

const OF_QUEUES = ["exchange", "confirms", "persistent", "prefetch"];
const BY_CHUNK = "offsets are stored by message or by chunk (batch)";
const STREAM = "queue: stream (a confirm: most replicas have written it, none has flushed)";

function streamTraits({ acknowledge = "message", config }: RabbitmqOptions) {
	const frame = Number(config?.["stream.frame_max"]);
	return {
		title: "RabbitMQ stream",
		acks: true,
		delivery: "at-least-once",
		acknowledge: { alone: "automatic", group: acknowledge },
		replays: true,
		maxMessageBytes: frame > 0 ? frame - FRAME_OVERHEAD : MAX_STREAM_BYTES,
		cannot: { connect: ["a stream for each connection would be measured too", "remove queue"] },
		cannotShare: "each consumer of a stream gets every message",
	} as const;
}

const LEVELS: Readonly<Partial<Record<Level, string>>> = {
	memory: "queue: transient, delivery mode 1",
	os: "queue: classic (of version 2: not flushed before a confirm), delivery mode 2",
	fsync: "queue: quorum (its log is flushed before a confirm)",
};

const QUEUE_OF_LEVEL: Readonly<Partial<Record<Level, Queue>>> = {
	memory: "transient",
	os: "classic",
	fsync: "quorum",
};

/** Classic queues differ by version. */
const OF_VERSION = {
	3: "RabbitMQ 3 flushes before it confirms",
	4: "RabbitMQ 4 only writes",
} as const;
const BOTH = Object.values(OF_VERSION).join(", ");
const CLASSIC = `classic queue (default): ${BOTH}`;

function durabilityOn(text: string, server: string): string {
	const version = /\b([34])\.\d/.exec(server)?.[1] as "3" | "4" | undefined;
	return version ? text.replace(BOTH, OF_VERSION[version]) : text;
}

function queueOf({ queue, durability }: RabbitmqOptions): Queue {
	return queue ?? (durability && QUEUE_OF_LEVEL[durability]) ?? "classic";
}

function persistentOf(options: RabbitmqOptions): boolean {
	return options.persistent ?? queueOf(options) !== "transient";
}

/** A queue that is not durable, no confirms, or automatic acknowledgement: each may lose messages. */
function deliveryOf(options: RabbitmqOptions): Delivery {
	const kept =
		persistentOf(options) &&
		(options.confirms ?? defaults.confirms) &&
		options.acknowledge !== "automatic";
	return kept ? "at-least-once" : "at-most-once";
}

function ownDurability(options: RabbitmqOptions): string {
	const queue = queueOf(options);
	if (options.confirms === false) return `none is promised (${queue} queue, confirms: false)`;
	if (queue === "quorum") return "fsync (quorum queue)";
	if (queue === "transient") return "memory (transient queue)";
	if (queue === "stream") return "os (stream: not flushed before a confirm)";
	return persistentOf(options) ? CLASSIC : "memory (classic queue, persistent: false)";
}
