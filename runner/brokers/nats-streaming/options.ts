import { z } from "zod";
import { count, span } from "../../model/field.ts";
import type { BrokerPlace } from "../../model/targets.ts";
import { type BrokerOptions, traits } from "../broker.ts";
import { configProblems, reserved } from "../config.ts";
import { defined, driverTls, processFields, tlsField, versionProblems } from "../fields.ts";
import { largestPayload, sizeInConfig, varintBytes } from "../size-limits.ts";
import {
	keepsFiles,
	levelTexts,
	OWN,
	streamingDurability,
	streamingSettings,
} from "./durability.ts";

const StreamingOptions = z.strictObject({
	broker: z.literal("nats-streaming").meta({
		description:
			"NATS Streaming (STAN): channels that keep every message. Its makers ended it in 2023; JetStream (`broker: nats`) has taken its place.",
	}),
	...processFields,
	...tlsField,
	cluster: z
		.string()
		.regex(/^[\w-]+$/, "must be letters, digits, - and _")
		.default("test-cluster")
		.meta({
			description:
				"Name of the server's cluster, as it was started with (-cid). Default: the server's own.",
			examples: ["orders"],
		}),
	prefetch: count(
		"Most messages that a consumer holds and has not acknowledged (MaxInflight). 1 spreads slow work best. Default: 1024, the library's own.",
		1_000_000,
		[1],
	).optional(),
	ackWait: span(
		"How long a consumer may take for a message, waiting in its prefetch included, before it is delivered again; whole seconds. Default: 30s, the library's own.",
		["30s", "5min"],
		"above 0",
	).optional(),
});
export type StreamingOptions = z.infer<typeof StreamingOptions>;

/** As the driver sets them (xk6-nats-streaming/options.go). */
const PREFETCH = 1024;
const ACK_WAIT_NS = 30e9;

/** Room for the protocol's envelope, which counts towards max_payload: its size depends on the topic. */
export const ENVELOPE = 1024;
/** As mqbench sets the server up. */
export const MAX_PAYLOAD = 8 * 1024 ** 2 + ENVELOPE;

export const MAX_BYTES = "streaming.store_limits.max_bytes";

/** What a channel in memory keeps, where the scenario says nothing: it would take all memory there is. */
export const MEMORY_BYTES = 1024 ** 3;

export const streaming = {
	options: StreamingOptions,
	alsoCalled: { stan: "{ broker: nats-streaming }" },
	urlSchemes: ["nats", "tls"],
	defaultPort: 4222,
	urlEnv: "MQBENCH_URL",
	secretEnv: [],
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
			levels: levelTexts,
			ownDurability: `the server's own; one that mqbench starts: ${OWN}`,
			prefetch: options.prefetch ?? PREFETCH,
			redeliverAfterNs: options.ackWait ?? ACK_WAIT_NS,
		}),
	driverOptions: ({ cluster, prefetch, ackWait, tls }) =>
		defined({ cluster, prefetch, ackWaitNs: ackWait, tls: driverTls(tls) }),
	durability: streamingDurability,
	topicOptions: [],
	contradictions,
} as const satisfies BrokerOptions<StreamingOptions>;

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

/** Where it listens and keeps its files, who it is, and where it writes what mqbench reads. */
const CONFIG = {
	file: "nats-streaming.conf",
	reserved: {
		port: "write port beside config",
		"streaming.id": "write cluster beside config",
		"streaming.cluster_id": "write cluster beside config",
		...reserved(
			"listen",
			"host",
			"net",
			"addr",
			"client_advertise",
			"server_name",
			"http",
			"https",
			"http_port",
			"https_port",
			"monitor_port",
			"prof_port",
			"include",
			"cluster.*",
			"gateway.*",
			"leafnodes.*",
			"authorization.*",
			"accounts.*",
			"operator",
			"no_auth_user",
			"logfile",
			"log_file",
			"syslog",
			"remote_syslog",
			"pidfile",
			"streaming.dir",
			"streaming.datastore",
			"streaming.cluster.*",
			"streaming.nats_server_url",
			"streaming.ft_group_name",
			"streaming.sql_options.*",
			"streaming.tls.*",
		),
	},
};

function contradictions(
	options: StreamingOptions,
	place: BrokerPlace | null,
): { key: string; message: string }[] {
	const { config, ackWait } = options;
	const problems = [
		...configProblems(config, CONFIG),
		...versionProblems(options, place, "nats-streaming-server"),
	];
	if (ackWait !== undefined && ackWait % 1e9 !== 0)
		problems.push({
			key: "ackWait",
			message: "the server counts whole seconds; write 1s or more of them",
		});
	return problems;
}
