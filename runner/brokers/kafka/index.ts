import { z } from "zod";
import defaults from "../../../extensions/xk6-kafka/defaults.json" with { type: "json" };
import { bytes, choice, count, described, flag, named, span, text } from "../../model/field.ts";
import { formatBytesExact, formatDurationExact } from "../../units.ts";
import { broker, type Stores, storesBy } from "../broker.ts";
import { largestPayload, varintBytes } from "../config.ts";
import {
	acknowledgeField,
	clusterFields,
	onlyIn,
	processFields,
	tlsField,
	unacknowledged,
} from "../fields.ts";
import { heapField } from "../jvm.ts";
import { omb } from "./import-omb.ts";
import { SCHEDULER, server } from "./process.ts";

/** Larger ones come near the request limit of a broker, 100 MiB (socket.request.max.bytes). */
const MAX_BATCH_BYTES = 64 * 1024 ** 2;
const IAM = "aws-msk-iam";
/** Kafka's max.poll.records (pollRecords in extensions/xk6-kafka/client.go). */
const SHARE_RECORDS = 500;

const KafkaOptions = z.strictObject({
	broker: named("kafka", "Apache Kafka: partitioned logs, consumer groups."),
	...processFields,
	...clusterFields,
	...tlsField,
	partitions: count(
		"Partitions of each topic. Default: the workload's `partitions`.",
		10_000,
		[12],
	).optional(),
	acks: z.literal(["all", 1, 0]).default("all").meta({
		description:
			"Which replicas have an acknowledged message: `all` in sync, or the leader (`1`). `0`: nothing is acknowledged.",
	}),
	idempotence: flag(
		"The broker recognizes a repeated batch, so the client may retry. `false`: each message is tried once. Default: true with `acks: all`, as in Kafka.",
	).optional(),
	linger: span(
		"How long a client waits for more messages before it sends a batch. Default: 0ms; Kafka's is 5ms (0ms before 4.0).",
		["0ms", "5ms"],
		"from 0",
	).default(0),
	batch: bytes(
		`Largest batch. Default: ${formatBytesExact(defaults.batchBytes)}; Kafka's is 16KiB, which slows a fast producer.`,
		["16KiB", "1MiB"],
		1024,
		MAX_BATCH_BYTES,
	).optional(),
	compression: choice(
		["none", "gzip", "snappy", "lz4", "zstd"],
		"Compression of batches. Random payloads do not shrink: set `payload`.",
	).default("none"),
	partitioner: choice(
		["in-turn", "sticky"],
		"Partition of messages without a key: the next one, or the same one until its batch is sent, as by Kafka's own client up to 3.2; then no order is promised.",
	).default("in-turn"),
	minInsyncReplicas: count(
		"Replicas that must have a message before `acks: all` acknowledges it. Default: the broker's, 1.",
		5,
		[2],
	).optional(),
	fetchMinBytes: bytes(
		`The broker answers a consumer when it has this much. Default: ${formatBytesExact(defaults.fetchMinBytes)}, as in Kafka.`,
		["1B", "64KiB"],
		1,
		MAX_BATCH_BYTES,
	).optional(),
	fetchMaxWait: span(
		`The broker answers a consumer after this time at the latest. Default: ${formatDurationExact(defaults.fetchMaxWaitNs)}, as in Kafka.`,
		["500ms"],
		"from 0",
	).optional(),
	assignor: choice(
		["range", "cooperative-sticky"],
		"How partitions are assigned to the members of a group.",
	).default("range"),
	groupProtocol: choice(
		["classic", "consumer", "share"],
		"How a group shares out partitions: `classic`, by one of its members; `consumer`, by the broker (KIP-848, Kafka 4). `share`: not at all; any number of members compete for messages and acknowledge each, no order is promised, and a message is given up after five deliveries (KIP-932, Kafka 4.2).",
	).optional(),
	prefetch: count(
		`\`groupProtocol: share\`: most messages that a member requests at a time, while it has as many; 1 spreads slow work best. Default: whole batches of ${SHARE_RECORDS} or more messages, as in Kafka.`,
		2000,
		[10],
	).optional(),
	sessionTimeout: span(
		`The broker takes a member that is silent for this time for dead. Default: ${formatDurationExact(defaults.sessionTimeoutNs)}, as in Kafka. With the other group protocols the broker decides (\`config\`: group.consumer.session.timeout.ms, group.share.session.timeout.ms).`,
		["10s"],
	).optional(),
	...acknowledgeField,
	commitInterval: span(
		`How often a group member commits with \`acknowledge: interval\` (implied). If it dies, messages since its last commit are delivered again. Default: ${formatDurationExact(defaults.commitIntervalNs)}; Kafka's is 5s.`,
		["100ms", "5s"],
	).optional(),
	transactions: described(
		z.strictObject({
			every: span("A transaction ends this long after its first message. Default: 100ms.", [
				"100ms",
			]).default(100e6),
			messages: count("It ends earlier, with this many messages.", 1_000_000, [1000]).optional(),
		}),
		"Each connection sends in transactions, one after the other. A message is acknowledged when its transaction is committed, and consumers only get what is committed. What is aborted has failed.",
		[{ every: "100ms" }],
	).optional(),
	...heapField,
	sasl: choice(
		["plain", "scram-sha-256", "scram-sha-512", "oauthbearer", IAM],
		"SASL mechanism for the user and password of the url; with `oauthbearer` these are the client's id and secret at `tokenUrl`. `aws-msk-iam` signs with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment. Default: plain.",
	).optional(),
	tokenUrl: described(
		z.string(),
		"`oauthbearer`: where tokens come from (OAuth 2.0, client credentials). A new one is requested when 80 % of its life (5min if the endpoint does not state it) is over.",
		["https://login.example.com/oauth2/token"],
	).optional(),
	scope: text("`oauthbearer`: scope of the tokens. Default: none."),
});
type KafkaOptions = z.infer<typeof KafkaOptions>;

export const kafka = broker(KafkaOptions, {
	title: "Kafka",
	alsoCalled: {
		redpanda: "{ broker: kafka } with target: existing and its url; it speaks Kafka's protocol",
	},
	urls: { kafka: 9092, kafkas: 9092 },
	secretEnv: (options) =>
		"sasl" in options && options.sasl === IAM
			? "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION".split(" ")
			: [],
	// The JMX exporter, with its example for Kafka.
	metrics: {
		show: `kafka_server_brokertopicmetrics_messagesin_total
			kafka_server_brokertopicmetrics_bytesin_total
			kafka_server_replicamanager_underreplicatedpartitions jvm_memory_used_bytes`.split(/\s+/),
	},
	server,
	traits: (options) => ({
		acks: options.acks !== 0,
		// A lost node loses no acknowledged message: all replicas in sync have it, or there is only one.
		delivery:
			options.acks === "all" || (options.acks === 1 && copies(options) === 1)
				? "at-least-once"
				: "at-most-once",
		acknowledge: { alone: "automatic", group: acknowledgeOf(options) },
		ordered: options.partitioner === "in-turn",
		groupOrdered: options.partitioner === "in-turn" && !isShare(options),
		keys: true,
		partitions: true,
		groupsByPartition: !isShare(options),
		killedAfterNs: sessionTimeoutNs(options),
		...(isShare(options) && {
			// One more request waits while a member works.
			prefetch: 2 * (options.prefetch ?? SHARE_RECORDS),
			redeliverAfterNs:
				Number(options.config?.["group.share.record.lock.duration.ms"] ?? 30_000) * 1e6,
		}),
		replays: true,
		wildcards: true,
		maxMessageBytes: maxMessageBytes(options),
		instead: "write acks: all",
		maxReplicas: 5,
		nodes: [1, 3],
		jvm: true,
	}),
	stores,
	driver: (
		{ acks, idempotence, lingerNs, batch: batchBytes, transactions: _, ...own },
		options,
	) => ({
		acks: String(acks),
		idempotence,
		lingerNs,
		batchBytes,
		messageMaxBytes: messageMaxBytes(options),
		transactionNs: options.transactions?.every,
		transactionMessages: options.transactions?.messages,
		...own,
		...(own.groupProtocol !== undefined && { sessionTimeoutNs: sessionTimeoutNs(options) }),
		acknowledge: acknowledgeOf(options),
	}),
	topicOptions: ["minInsyncReplicas"],
	configExample: { "num.io.threads": 16 },
	config: {
		file: "server.properties",
		options: { port: "port" },
		reserved: `process.roles node.id broker.id cluster.id listeners advertised.* host.name zookeeper.connect
			listener.security.protocol.map inter.broker.listener.name security.inter.broker.protocol
			controller.listener.names controller.quorum.voters controller.quorum.bootstrap.servers
			log.dir log.dirs metadata.log.dir`,
	},
	check(options) {
		const { acknowledge, minInsyncReplicas = 1, tokenUrl } = options;
		const replicas = copies(options) ?? minInsyncReplicas;
		const given = {
			...options,
			acks: String(options.acks),
			acknowledge: acknowledgeOf(options),
			groupProtocol: options.groupProtocol ?? "classic",
			idempotence: options.idempotence || undefined,
			sasl: options.sasl ?? "plain",
		};
		return {
			idempotence:
				options.transactions !== undefined &&
				options.idempotence === false &&
				"transactions need it; remove idempotence: false",
			...unacknowledged("Kafka", acknowledge, {
				automatic: "a group is where its commits say",
				...(isShare(options) && { interval: "a share group commits no positions" }),
			}),
			minInsyncReplicas:
				minInsyncReplicas > replicas &&
				`minInsyncReplicas: ${minInsyncReplicas} needs as many replicas, and there ${replicas === 1 ? "is one" : `are ${replicas}`}; write replicas: ${minInsyncReplicas}`,
			...onlyIn("acknowledge", ["interval"], ["commitInterval"], given),
			...onlyIn("groupProtocol", ["classic"], ["sessionTimeout"], given),
			...onlyIn("groupProtocol", ["share"], ["prefetch"], given),
			...onlyIn("acks", ["all"], ["idempotence", "minInsyncReplicas", "transactions"], given),
			...onlyIn("sasl", ["oauthbearer"], ["tokenUrl", "scope"], given),
			sasl:
				given.sasl === "oauthbearer" &&
				!/^https?:\/\/[^@\s]+$/.test(tokenUrl ?? "") &&
				"oauthbearer needs the address of a token endpoint, without a user; write tokenUrl: https://...",
		};
	},
	omb,
});

// --- internal ---

function isShare({ groupProtocol }: KafkaOptions): boolean {
	return groupProtocol === "share";
}

/** Kafka's own is the same for all protocols. */
function sessionTimeoutNs({ groupProtocol, sessionTimeout, config }: KafkaOptions): number {
	const ms = Number(config?.[`group.${groupProtocol}.session.timeout.ms`]) || null;
	return ms === null ? (sessionTimeout ?? defaults.sessionTimeoutNs) : ms * 1e6;
}

/** The limit is for batches; topics that mqbench makes get it as well. */
function messageMaxBytes({ config }: KafkaOptions): number | undefined {
	return Number(config?.["message.max.bytes"]) || undefined;
}

function maxMessageBytes(options: KafkaOptions): number {
	const most = messageMaxBytes(options);
	return most === undefined
		? MAX_BATCH_BYTES
		: Math.min(MAX_BATCH_BYTES, largestPayload(most, batchOfOne));
}

/** Overhead of a batch of one record, uncompressed and without a key (batchBytes in extensions/xk6-kafka/options.go). */
function batchOfOne(payloadBytes: number): number {
	// Numbers of a record are signed: the encoding doubles them.
	const record = 5 + varintBytes(2 * payloadBytes);
	return 61 + varintBytes(2 * (record + payloadBytes)) + record;
}

function acknowledgeOf({ acknowledge, commitInterval }: KafkaOptions) {
	return acknowledge ?? (commitInterval === undefined ? "message" : "interval");
}

/** Null for the unknown default of an existing broker. */
function copies({ replicas, url }: KafkaOptions): number | null {
	return replicas ?? (url === undefined ? 1 : null);
}

function stores({ acks }: Pick<KafkaOptions, "acks">): Stores {
	const own = `os (no flush, default), acks=${acks}`;
	const words = storesBy({
		own,
		unknown: `not known (your brokers), acks=${acks}`,
		levels: {
			memory: [`log.dirs on tmpfs, acks=${acks}`, {}],
			os: [`flush.messages and flush.ms: never, acks=${acks}`, {}],
			interval: [`flush.ms=1000, acks=${acks}`, { [SCHEDULER]: 1000 }],
			fsync: [`flush.messages=1, acks=${acks}`, {}],
		},
		// Server settings; a level's topic settings override them.
		also: ["log.flush.interval.messages", "log.flush.interval.ms"],
	});
	return {
		...words,
		own,
		of(options, ours) {
			const { durability = "memory" } = options;
			// The driver sets the other levels on the topics that it makes.
			const { text, by } = words.of(options, ours || durability !== "memory");
			return { text: by.length > 0 ? `${text}, acks=${acks}` : text, by };
		},
	};
}
