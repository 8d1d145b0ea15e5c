import { z } from "zod";
import { count, span } from "../../model/field.ts";
import type { BrokerPlace } from "../../model/targets.ts";
import { type BrokerOptions, traits } from "../broker.ts";
import { configProblems, reserved } from "../config.ts";
import { defined, driverTls, processFields, tlsField, versionProblems } from "../fields.ts";
import { MEMORY, mqttDurability, NOTHING, OWN } from "./durability.ts";

const MqttOptions = z.strictObject({
	broker: z.literal("mqtt").meta({
		description:
			"MQTT 5 or 3.1.1: mosquitto, Mochi MQTT, or any other server (`target: existing`).",
	}),
	server: z.enum(["mosquitto", "mochi"]).optional().meta({
		description:
			"Which one mqbench starts. `mochi`: Mochi MQTT, in Go, built by mqbench. Default: mosquitto, and Mochi MQTT where that is not installed.",
	}),
	protocol: z
		.enum(["5", "3.1.1"])
		.optional()
		.meta({
			description: "Version of MQTT; each has a library of its own. Default: 5.",
			examples: ["3.1.1"],
		}),
	qos: z
		.union([z.literal(0), z.literal(1), z.literal(2)])
		.default(1)
		.meta({
			description:
				"Quality of service of messages and subscriptions. 0: nothing is acknowledged; 1: at least once, by PUBACK; 2: exactly once, by PUBCOMP. Default: 1.",
			examples: [0],
		}),
	session: z.enum(["clean", "persistent"]).default("clean").meta({
		description:
			"What a server does for a consumer whose connection is lost. `clean`: it forgets it; `persistent`: it keeps its subscription and its messages. Default: clean.",
	}),
	receiveMaximum: count(
		"Most messages of QoS 1 and 2 that a client sends, or a consumer gets, before the first of them is acknowledged (max_inflight_messages of mosquitto). Default: 20, mosquitto's own.",
		65_535,
		[100],
	).optional(),
	maxQueued: z
		.int()
		.min(0)
		.max(10_000_000)
		.optional()
		.meta({
			description:
				"mosquitto: messages that it keeps for a client that does not take them; it drops more of them without a word, and they count as lost. 0: no limit. Default: 0; its own is 1000.",
			examples: [1000],
		}),
	keepAlive: span(
		"How long a client may be silent before it pings, whole seconds. Default: 10min, as a paused consumer reads no answer to a ping.",
		["60s"],
		"above 0",
	).optional(),
	tcpNoDelay: z.boolean().default(true).meta({
		description:
			"Small messages leave at once, at both ends (TCP_NODELAY). mosquitto's own default is false.",
	}),
	...tlsField,
	...processFields,
});
export type MqttOptions = z.infer<typeof MqttOptions>;

/** As the driver sets it (xk6-mqtt/mqtt.go). */
export const RECEIVE_MAXIMUM = 20;
const MOST_SECONDS = 65_535;
/** Of a packet of MQTT, and the most that it has beside the payload. */
const MAX_PACKET_BYTES = 268_435_455;
const BESIDE = 256;

export const mqtt = {
	options: MqttOptions,
	alsoCalled: {
		mosquitto: "{ broker: mqtt, server: mosquitto }",
		mochi: "{ broker: mqtt, server: mochi }",
		emqx: "{ broker: mqtt } with target: existing",
		hivemq: "{ broker: mqtt } with target: existing",
		vernemq: "{ broker: mqtt } with target: existing",
	},
	urlSchemes: ["mqtt", "mqtts"],
	defaultPort: 1883,
	otherPorts: { mqtts: 8883 },
	urlEnv: "MQBENCH_URL",
	secretEnv: [],
	traits: ({ qos, ...options }) =>
		traits({
			title: `MQTT QoS ${qos}`,
			acks: qos > 0,
			delivery: (["at-most-once", "at-least-once", "exactly-once"] as const)[qos],
			acknowledge:
				qos === 0
					? { alone: "automatic", group: "automatic" }
					: { alone: "message", group: "message" },
			keepsOnly: options.maxQueued
				? { messages: options.maxQueued, bytes: 0, option: "maxQueued" }
				: null,
			wildcards: true,
			maxMessageBytes: maxMessageBytes(options.config),
			cannot: qos === 0 ? UNSTORED : {},
			instead: qos === 0 ? { publish: "write qos: 1", backlog: "write qos: 1" } : {},
			levels: qos === 0 ? {} : { memory: MEMORY },
			ownDurability: qos === 0 ? NOTHING : `the server's own; one that mqbench starts: ${OWN}`,
			prefetch: qos === 0 ? null : (options.receiveMaximum ?? RECEIVE_MAXIMUM),
		}),
	driverOptions: (options) =>
		defined({
			protocol: options.protocol ?? "5",
			qos: options.qos,
			session: options.session,
			receiveMaximum: options.receiveMaximum ?? RECEIVE_MAXIMUM,
			keepAliveNs: options.keepAlive,
			noDelay: options.tcpNoDelay,
			tls: driverTls(options.tls),
		}),
	durability: mqttDurability,
	topicOptions: [],
	contradictions,
} as const satisfies BrokerOptions<MqttOptions>;

// --- internal ---

function maxMessageBytes(config: MqttOptions["config"] = {}): number {
	// 0 is no limit, as nothing.
	const { message_size_limit, max_packet_size } = config;
	return Math.min(
		Number(message_size_limit) || MAX_PACKET_BYTES,
		(Number(max_packet_size) || MAX_PACKET_BYTES) - BESIDE,
	);
}

const UNSTORED = {
	publish: "QoS 0 acknowledges nothing",
	backlog: "QoS 0 stores nothing",
} as const;

/** Where a server listens, who may come, and where it writes what mqbench reads. */
const MOSQUITTO = {
	file: "mosquitto.conf",
	reserved: {
		port: "write port beside config",
		listener: "write port beside config",
		max_inflight_messages: "write receiveMaximum beside config",
		max_queued_messages: "write maxQueued beside config",
		set_tcp_nodelay: "write tcpNoDelay beside config",
		...reserved(
			"bind_address",
			"bind_interface",
			"socket_domain",
			"protocol",
			"allow_anonymous",
			"password_file",
			"acl_file",
			"psk_file",
			"plugin",
			"auth_plugin",
			"per_listener_settings",
			"include_dir",
			"user",
			"log_dest",
			"log_type",
			"pid_file",
			"connection",
			"address",
			"persistence_location",
			"persistence_file",
			"cafile",
			"capath",
			"certfile",
			"keyfile",
			"require_certificate",
		),
	},
};

function contradictions(
	options: MqttOptions,
	place: BrokerPlace | null,
): { key: string; message: string }[] {
	const { server, config, keepAlive } = options;
	const problems = configProblems(config, MOSQUITTO);
	const wrong = (key: string, message: string) => problems.push({ key, message });
	if (options.session === "persistent" && options.qos === 0)
		wrong("session", "a server keeps no messages of QoS 0; write qos: 1 with session: persistent");
	if (keepAlive !== undefined && (keepAlive % 1e9 !== 0 || keepAlive > MOST_SECONDS * 1e9))
		wrong("keepAlive", `MQTT counts whole seconds, up to ${MOST_SECONDS}; write 60s, for example`);
	if (options.maxQueued !== undefined && (server ?? "mosquitto") !== "mosquitto")
		wrong("maxQueued", `maxQueued is of mosquitto, and server is ${server}; remove maxQueued`);
	if (server === "mochi" && config !== undefined)
		wrong("config", "Mochi MQTT has no configuration file; remove config");
	if (server === "mochi" && options.binary !== undefined)
		wrong("binary", "mqbench builds Mochi MQTT itself; remove binary, or write server: mosquitto");
	if (place === "container" && (server ?? "mosquitto") !== "mosquitto")
		wrong(
			"server",
			`only mosquitto runs in containers here; remove server, or write target: local`,
		);
	for (const one of versionProblems(options, place, "mosquitto", "installed-version"))
		problems.push(one);
	return problems;
}
