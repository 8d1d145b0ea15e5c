import { broker, brought, durabilityBy, traits } from "../broker.ts";
import { driverTls } from "../fields.ts";
import { number } from "../omb-driver.ts";
import { largestPayload, sizeInConfig, varintBytes } from "../size-limits.ts";
import { StreamingOptions } from "./options.ts";
import {
	ENVELOPE,
	EVERY,
	image,
	keepsFiles,
	LEVELS,
	MAX_BYTES,
	MAX_PAYLOAD,
	MEMORY_BYTES,
	process,
	STORE,
	SYNC,
	streamingSettings,
	word,
} from "./process.ts";

/** As the driver sets them (xk6-nats-streaming/options.go). */
const PREFETCH = 1024;
const ACK_WAIT_NS = 30e9;

const OWN = "memory (store: memory, its default)";

const { levels, durability } = durabilityBy({
	own: OWN,
	levels: LEVELS,
	decides: (key) => [STORE, SYNC, EVERY].includes(key.toLowerCase()),
	settings: streamingSettings,
	levelOf(settings) {
		if (!keepsFiles(settings)) return "memory";
		if (word(settings[SYNC]) === "true") return "fsync";
		return /^[1-9]/.test(word(settings[EVERY])) ? "interval" : "os";
	},
	textOf: (settings) =>
		keepsFiles(settings)
			? `store: file, sync_on_flush: ${settings[SYNC]}, auto_sync: ${settings[EVERY]}`
			: `store: ${word(settings[STORE])}`,
});

const PROGRAM = {
	name: "nats-streaming-server",
	module: "servers/nats-streaming-server",
	package: "github.com/nats-io/nats-streaming-server",
	whenNeeded: true,
} as const;

export const streaming = broker(StreamingOptions, {
	title: "NATS Streaming",
	alsoCalled: { stan: "{ broker: nats-streaming }" },
	urlSchemes: ["nats", "tls"],
	defaultPort: 4222,
	traits: (options) =>
		traits({
			title: "NATS Streaming",
			acks: true,
			delivery: "at-least-once",
			// Every subscription does; the server waits for it.
			acknowledge: { alone: "message", group: "message" },
			keepsOnly: keepsFiles(streamingSettings(options.durability ?? null, options.config))
				? null
				: { messages: 1, bytes: MEMORY_BYTES, option: MAX_BYTES, inBytes: true },
			maxMessageBytes: maxPayload(options) - ENVELOPE,
			maxMessageBytesTo: (topic) =>
				largestPayload(maxPayload(options), (bytes) => envelope(topic, bytes)),
			levels,
			ownDurability: `the server's own; one that mqbench starts: ${OWN}`,
			prefetch: options.prefetch ?? PREFETCH,
			redeliverAfterNs: options.ackWait ?? ACK_WAIT_NS,
		}),
	driverOptions: ({ cluster, prefetch, ackWait, tls }) => ({
		cluster,
		prefetch,
		ackWaitNs: ackWait,
		tls: driverTls(tls),
	}),
	durability,
	// Where it listens and keeps its files, who it is, and where it writes what mqbench reads.
	config: {
		file: "nats-streaming.conf",
		options: { port: "port", "streaming.id": "cluster", "streaming.cluster_id": "cluster" },
		reserved: `listen host net addr client_advertise server_name http https http_port https_port monitor_port prof_port
			include cluster.* gateway.* leafnodes.* authorization.* accounts.* operator no_auth_user
			logfile log_file syslog remote_syslog pidfile streaming.dir streaming.datastore streaming.cluster.*
			streaming.nats_server_url streaming.ft_group_name streaming.sql_options.* streaming.tls.*`,
	},
	oneVersion: { program: "nats-streaming-server" },
	check({ ackWait }, _, wrong) {
		if (ackWait !== undefined && ackWait % 1e9 !== 0)
			wrong("ackWait", "the server counts whole seconds; write 1s or more of them");
	},
	process,
	image,
	largeDriver: true,
	program: PROGRAM,
	install: brought(PROGRAM, ", which its makers ended in 2023"),
	// Its driver keeps what the server keeps: memory or files.
	omb: {
		packages: ["natsstreaming"],
		system: { broker: "nats-streaming" },
		keys: {
			natsHostUrl: (servers) => ({ at: { servers } }),
			clusterId: (cluster) => ({ cluster }),
			maxInFlight: (value) => number(value, (prefetch) => ({ prefetch })),
		},
	},
});

// --- internal ---

function maxPayload({ durability, config }: StreamingOptions): number {
	const { max_payload } = streamingSettings(durability ?? null, config);
	return sizeInConfig(max_payload) ?? MAX_PAYLOAD;
}

/** What a published message (PubMsg of its protocol) has beside its payload: name of the connection as the driver makes it, two ids, and the topic. */
function envelope(topic: string, payloadBytes: number): number {
	const text = (bytes: number) => 1 + varintBytes(bytes) + bytes;
	return (
		text("mqbench-".length + 22 + "-000-00".length) +
		2 * text(22) +
		text(topic.length) +
		(text(payloadBytes) - payloadBytes)
	);
}
