import type { Level } from "../../model/plan.ts";
import { broker, type Durability, declared, traits } from "../broker.ts";
import { checkAcknowledge, defined } from "../fields.ts";
import { lookForJava, OLDEST_JAVA } from "../java.ts";
import { largestPayload, varintBytes } from "../size-limits.ts";
import { omb } from "./import-omb.ts";
import { KafkaOptions } from "./options.ts";
import { image, jars, process, SCHEDULER } from "./process.ts";

export const kafka = broker(KafkaOptions, {
	title: "Kafka",
	alsoCalled: {
		redpanda: "{ broker: kafka } with target: existing and its url; it speaks Kafka's protocol",
	},
	urlSchemes: ["kafka", "kafkas"],
	defaultPort: 9092,
	traits: (options) =>
		traits({
			title: "Kafka",
			acks: options.acks !== 0,
			delivery: isSafe(options) ? "at-least-once" : "at-most-once",
			acknowledge: { alone: "automatic", group: acknowledgeOf(options) },
			groupOrdered: true,
			keys: true,
			partitions: true,
			groupsByPartition: true,
			wildcards: true,
			maxMessageBytes: maxMessageBytes(options),
			cannot: options.acks === 0 ? { publish: NOTHING_ACKNOWLEDGED } : {},
			instead: { publish: "write acks: all" },
			levels: levelTexts(options),
			ownDurability: ownText(options),
			maxReplicas: 5,
			nodes: [1, 3],
			jvm: true,
		}),
	driverOptions: (options) => ({
		acks: String(options.acks),
		idempotence: options.idempotence,
		lingerNs: options.linger,
		batchBytes: options.batch,
		messageMaxBytes: messageMaxBytes(options),
		compression: options.compression,
		minInsyncReplicas: options.minInsyncReplicas,
		fetchMinBytes: options.fetchMinBytes,
		fetchMaxWaitNs: options.fetchMaxWait,
		assignor: options.assignor,
		acknowledge: acknowledgeOf(options),
		commitIntervalNs: options.commitInterval,
		sasl: options.sasl,
		tls: typeof options.tls === "object" ? defined(options.tls) : options.tls,
	}),
	durability,
	topicOptions: ["minInsyncReplicas"],
	// Where nodes are and keep their logs, and who they are.
	config: {
		file: "server.properties",
		options: { port: "port" },
		reserved: `process.roles node.id broker.id cluster.id listeners advertised.* host.name zookeeper.connect
			listener.security.protocol.map inter.broker.listener.name security.inter.broker.protocol
			controller.listener.names controller.quorum.voters controller.quorum.bootstrap.servers
			log.dir log.dirs metadata.log.dir`,
	},
	check(options, _, wrong) {
		const { acks, idempotence, minInsyncReplicas } = options;
		const cannot = { automatic: "a group is where its commits say" };
		checkAcknowledge(options, "Kafka", cannot, wrong);
		const way = acknowledgeOf(options);
		if (options.commitInterval !== undefined && way !== "interval")
			wrong(
				"commitInterval",
				`commitInterval needs acknowledge: interval; here it is acknowledge: ${way}`,
			);
		const replicas = copies(options);
		const overruled = OVERRULED.find((key) => options.config?.[key] !== undefined);
		if (overruled !== undefined && options.durability !== undefined)
			wrong(
				"config",
				`durability: ${options.durability} sets ${overruled} for each topic; remove ${overruled}`,
			);
		if (options.binary !== undefined && options.version !== undefined)
			wrong("version", "binary is an installation with a version of its own; remove version");
		if (idempotence && acks !== "all")
			wrong("idempotence", `idempotence needs acks: all; here it is acks: ${acks}`);
		if (minInsyncReplicas !== undefined) {
			if (acks !== "all")
				wrong("minInsyncReplicas", `minInsyncReplicas needs acks: all; here it is acks: ${acks}`);
			else if (replicas !== null && minInsyncReplicas > replicas)
				wrong(
					"minInsyncReplicas",
					`minInsyncReplicas: ${minInsyncReplicas} needs as many replicas, and there ${replicas === 1 ? "is one" : `are ${replicas}`}; write replicas: ${minInsyncReplicas}`,
				);
		}
	},
	process,
	image,
	install: {
		from: `Java ${OLDEST_JAVA} or newer, and Maven; or \`KAFKA_HOME\`, \`binary: /opt/kafka\``,
		look: lookForJava("Kafka", 45, "KAFKA_HOME"),
	},
	jars: [jars],
	omb,
});

// --- internal ---

const NOTHING_ACKNOWLEDGED = "with acks: 0 nothing is acknowledged";

/** Above it, requests near the 100 MiB that a broker takes (socket.request.max.bytes). */
const MAX_MESSAGE_BYTES = 64 * 1024 ** 2;

/** What the scenario has a server take, which is of batches; a topic that mqbench makes is then not to take more. */
function messageMaxBytes({ config }: KafkaOptions): number | undefined {
	return Number(config?.["message.max.bytes"]) || undefined;
}

function maxMessageBytes(options: KafkaOptions): number {
	const most = messageMaxBytes(options);
	return most === undefined
		? MAX_MESSAGE_BYTES
		: Math.min(MAX_MESSAGE_BYTES, largestPayload(most, batchOfOne));
}

/** What a batch of one record has beside its payload, uncompressed and without a key (batchBytes in xk6-kafka/options.go). */
function batchOfOne(payloadBytes: number): number {
	// Numbers of a record have a sign: they are doubled.
	const record = 5 + varintBytes(2 * payloadBytes);
	return 61 + varintBytes(2 * (record + payloadBytes)) + record;
}

/** What is acknowledged is not lost with one node: it is on all in sync, or there is only one. */
function isSafe(options: KafkaOptions): boolean {
	const { acks } = options;
	return acks === "all" || (acks === 1 && copies(options) === 1);
}

function acknowledgeOf({ acknowledge, commitInterval }: KafkaOptions) {
	return acknowledge ?? (commitInterval === undefined ? "message" : "interval");
}

/** Copies of a topic; null: the default of a broker that is not ours. */
function copies({ replicas, url }: KafkaOptions): number | null {
	return replicas ?? (url === undefined ? 1 : null);
}

/** Settings of the server that a topic's own, which each level sets, take the place of. */
const OVERRULED = ["log.flush.interval.messages", "log.flush.interval.ms"];

function durability(options: KafkaOptions, ours: boolean): Durability {
	const { durability, config = {} } = options;
	const acks = `acks=${options.acks}`;
	const levels = levelTexts(options);
	if (!ours) {
		if (durability === undefined)
			return { level: null, text: `not known (your brokers), ${acks}`, by: [] };
		// The driver sets the others on the topics that it makes.
		return durability === "memory"
			? declared(durability, levels.memory)
			: { level: durability, text: `${levels[durability]} (${durability})`, by: [] };
	}
	const by = Object.keys(config).filter((key) =>
		key === SCHEDULER
			? durability === undefined || durability === "interval"
			: durability === undefined && OVERRULED.includes(key),
	);
	if (by.length === 0)
		return durability === undefined
			? { level: "os", text: ownText(options), by }
			: { level: durability, text: `${levels[durability]} (${durability})`, by };
	const level = durability === "interval" ? ofTimes(1000, config[SCHEDULER]) : ofServer(config);
	const set = by.map((key) => `${key}=${config[key]}`).join(", ");
	return {
		level,
		text: `${durability === undefined ? "" : "flush.ms=1000, "}${set}, ${acks} (${level})`,
		by,
	};
}

function levelTexts({ acks }: KafkaOptions): Readonly<Record<Level, string>> {
	return {
		memory: `log.dirs on tmpfs, acks=${acks}`,
		os: `flush.messages and flush.ms: never, acks=${acks}`,
		interval: `flush.ms=1000, acks=${acks}`,
		fsync: `flush.messages=1, acks=${acks}`,
	};
}

function ownText({ acks }: KafkaOptions): string {
	return `os (no flush, default), acks=${acks}`;
}

type Value = string | number | boolean | undefined;

/** A day and more is never, in a run; so is Kafka's own, 2^63 - 1. */
const NEVER_MS = 24 * 3600 * 1000;

/** The server's defaults of what topics can have of their own. */
function ofServer(config: Readonly<Record<string, Value>>): Level {
	const [messages = "", ms = ""] = OVERRULED;
	const interval = Number(config[messages] ?? Number.POSITIVE_INFINITY);
	if (interval === 1) return "fsync";
	if (interval < NEVER_MESSAGES) return "interval";
	return ofTimes(config[ms] ?? config[SCHEDULER], config[SCHEDULER]);
}

/** Flushed so long after a message, if anybody looks so often. */
function ofTimes(flushMs: Value, schedulerMs: Value): Level {
	const looked = (ms: Value) => ms !== undefined && Number(ms) < NEVER_MS;
	return looked(flushMs) && looked(schedulerMs) ? "interval" : "os";
}

const NEVER_MESSAGES = 1e9;
