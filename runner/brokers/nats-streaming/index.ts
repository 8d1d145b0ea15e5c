import { z } from "zod";
import defaults from "../../../extensions/xk6-nats-streaming/defaults.json" with { type: "json" };
import { count, named, span, word } from "../../model/field.ts";
import { formatDurationExact } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import { broker, storesBy } from "../broker.ts";
import { inBlocks, inLowercase, largestPayload, sizeInConfig, varintBytes } from "../config.ts";
import { type Config, processFields, tlsField } from "../fields.ts";
import { number } from "../omb-driver.ts";
import { goServer, newLogin } from "../server.ts";

const StreamingOptions = z.strictObject({
	broker: named(
		"nats-streaming",
		"NATS Streaming (STAN): channels that keep every message. Discontinued in 2023; JetStream (`broker: nats`) replaces it.",
	),
	...processFields,
	...tlsField,
	cluster: word(
		"Cluster id of the server (-cid).",
		["orders"],
		[/^[\w-]+$/, "must be letters, digits, - and _"],
	).default(defaults.cluster),
	prefetch: count(
		`Most unacknowledged messages of a consumer (MaxInflight); 1 spreads slow work best. Default: ${defaults.prefetch}, the library's.`,
		1_000_000,
		[1],
	).optional(),
	ackWait: span(
		`A message that is not acknowledged within this time (whole seconds), including its wait in the prefetch, is delivered again. Default: ${formatDurationExact(defaults.ackWaitNs)}, the library's.`,
		["30s", "5min"],
	).optional(),
});
type StreamingOptions = z.infer<typeof StreamingOptions>;
/** For the protocol's envelope, which counts towards max_payload and depends on the topic. */
const ENVELOPE = 1024;
/** Only messages above the server's default raise it, to measure the server as it comes. */
const MAX_PAYLOAD = 8 * 1024 ** 2 + ENVELOPE;
const OWN_MAX_PAYLOAD = 1024 ** 2;
const MAX_BYTES = "streaming.store_limits.max_bytes";
/** Without a limit a channel would take all memory. */
const MEMORY_BYTES = 1024 ** 3;

/** The defaults (a million messages, 1000 subscriptions, 100 channels) would drop messages or refuse consumers in mid-run. */
const UNLIMITED = {
	"streaming.store_limits.max_channels": 0,
	"streaming.store_limits.max_subs": 0,
	"streaming.store_limits.max_msgs": 0,
};

const STORE = "streaming.store";
const SYNC = "streaming.file_options.sync_on_flush";
const EVERY = "streaming.file_options.auto_sync";

const inFiles = (sync: boolean, every: string) =>
	[
		`store: file, sync_on_flush: ${sync}, auto_sync: ${every}`,
		{ [STORE]: "file", [SYNC]: sync, [EVERY]: every },
	] as const;

/** It flushes before it acknowledges, and syncs then or on a timer. */
const stores = storesBy({
	own: "memory (store: memory, its default)",
	levels: {
		memory: ["store: memory", { [STORE]: "memory" }],
		os: inFiles(false, "0s"),
		interval: inFiles(false, "1s"),
		fsync: inFiles(true, "1m"),
	},
	without: { [STORE]: "memory" },
	read: inLowercase,
});

const server = goServer<StreamingOptions>({
	program: {
		name: "nats-streaming-server",
		package: "github.com/nats-io/nats-streaming-server",
		whenNeeded: true,
	},
	// As in extensions/servers/nats-streaming-server/go.mod; there will be no newer one.
	image: { name: "nats-streaming", version: "0.25.6", suffix: "-alpine" },
	remark: ", which its makers ended in 2023",
	ports: 4222,
	launch({ level, messageBytes, nodes }, { cluster, config }) {
		const levels = stores.settings(level, config);
		const files = keepsFiles(levels);
		const needed = Math.min(messageBytes + ENVELOPE, MAX_PAYLOAD);
		const settings = {
			...(needed > OWN_MAX_PAYLOAD && { max_payload: needed }),
			[MAX_BYTES]: files ? 0 : MEMORY_BYTES,
			...levels,
		};
		const { password: token } = newLogin();
		return {
			log: {
				name: "nats-streaming-server",
				version: /Starting nats-streaming-server\[.*\] version (\S+)$/,
				up: /Streaming Server is ready$/,
			},
			url: `nats://${token}@${nodes[0]?.client}`,
			settings,
			data: files ? "disk" : "memory",
			flushes: files,
			node: ({ listen, ports: [port = 0], folder, data }) => ({
				argv: ["-c", `${folder}/nats-streaming.conf`],
				files: {
					"nats-streaming.conf": inBlocks({
						listen: hostPort(listen, port),
						"authorization.token": token,
						"streaming.id": cluster,
						...(files && { "streaming.dir": data }),
						...UNLIMITED,
						...settings,
					}),
				},
			}),
		};
	},
});

export const streaming = broker(StreamingOptions, {
	title: "NATS Streaming",
	alsoCalled: { stan: "{ broker: nats-streaming }" },
	urls: { nats: 4222, tls: 4222 },
	server,
	traits: (options) => ({
		acks: true,
		delivery: "at-least-once",
		replays: true,
		// Every subscription acknowledges, and the server waits for it.
		acknowledge: "message",
		keepsOnly: keepsFiles(settingsOf(options))
			? null
			: { messages: 1, bytes: MEMORY_BYTES, option: MAX_BYTES, inBytes: true },
		maxMessageBytes: maxPayload(options) - ENVELOPE,
		maxMessageBytesTo: (topic) =>
			largestPayload(maxPayload(options), (bytes) => envelope(topic, bytes)),
		prefetch: options.prefetch ?? defaults.prefetch,
		redeliverAfterNs: options.ackWait ?? defaults.ackWaitNs,
	}),
	stores: () => stores,
	configExample: { "streaming.file_options.buffer_size": "4MB" },
	config: {
		file: "nats-streaming.conf",
		options: { port: "port", "streaming.id": "cluster", "streaming.cluster_id": "cluster" },
		reserved: `listen host net addr client_advertise server_name http https http_port https_port monitor_port prof_port
			include cluster.* gateway.* leafnodes.* authorization.* accounts.* operator no_auth_user
			logfile log_file syslog remote_syslog pidfile streaming.dir streaming.datastore streaming.cluster.*
			streaming.nats_server_url streaming.ft_group_name streaming.sql_options.* streaming.tls.*`,
	},
	check: ({ ackWait = 0 }) => ({
		ackWait: ackWait % 1e9 !== 0 && "the server counts whole seconds; write 1s or more of them",
	}),
	// The benchmark's driver leaves the choice of memory or files to the server.
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

const settingsOf = ({ durability, config }: StreamingOptions) =>
	stores.settings(durability ?? null, config);

function keepsFiles(settings: Config): boolean {
	return /^file$/i.test(String(settings[STORE]));
}

function maxPayload(options: StreamingOptions): number {
	return sizeInConfig(settingsOf(options).max_payload) ?? MAX_PAYLOAD;
}

/** Overhead of a PubMsg: the connection's name as the driver makes it, two ids, and the topic. */
function envelope(topic: string, payloadBytes: number): number {
	const text = (bytes: number) => 1 + varintBytes(bytes) + bytes;
	return (
		text("mqbench-".length + 22 + "-000-00".length) +
		2 * text(22) +
		text(topic.length) +
		(text(payloadBytes) - payloadBytes)
	);
}
