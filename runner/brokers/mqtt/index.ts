import { broker, declared, traits } from "../broker.ts";
import { driverTls } from "../fields.ts";
import { type Mapping, number } from "../omb-driver.ts";
import { MqttOptions } from "./options.ts";
import { image, PROGRAM, process, RECEIVE_MAXIMUM } from "./process.ts";

const MOST_SECONDS = 65_535;
/** Of a packet of MQTT, and the most that it has beside the payload. */
const MAX_PACKET_BYTES = 268_435_455;
const BESIDE = 256;

/** Both mosquitto and Mochi MQTT acknowledge what is in their memory; what mosquitto saves at times (persistence) is a snapshot. */
const MEMORY = "nothing is written before an acknowledgement";
const OWN = `memory (${MEMORY})`;
const NOTHING = "none, QoS 0 is neither stored nor acknowledged";

const qos: Mapping = (value) => number(value, (level) => ({ qos: level }));
const clean: Mapping = (on) => (on === "false" ? { session: "persistent" } : null);
const most: Mapping = (value) => number(value, (receiveMaximum) => ({ receiveMaximum }));

export const mqtt = broker(MqttOptions, {
	title: "MQTT",
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
	driverOptions: (options) => ({
		protocol: options.protocol ?? "5",
		qos: options.qos,
		session: options.session,
		receiveMaximum: options.receiveMaximum ?? RECEIVE_MAXIMUM,
		keepAliveNs: options.keepAlive,
		noDelay: options.tcpNoDelay,
		tls: driverTls(options.tls),
	}),
	durability({ qos, durability }, ours) {
		if (qos === 0) return { level: null, text: NOTHING, by: [] };
		if (ours) return { level: "memory", text: OWN, by: [] };
		return durability === undefined
			? { level: null, text: "not known (your server)", by: [] }
			: declared(durability, MEMORY);
	},
	// Where a server listens, who may come, and where it writes what mqbench reads.
	config: {
		file: "mosquitto.conf",
		options: {
			port: "port",
			listener: "port",
			max_inflight_messages: "receiveMaximum",
			max_queued_messages: "maxQueued",
			set_tcp_nodelay: "tcpNoDelay",
		},
		reserved: `bind_address bind_interface socket_domain protocol allow_anonymous password_file acl_file psk_file plugin auth_plugin
			per_listener_settings include_dir user log_dest log_type pid_file connection address
			persistence_location persistence_file cafile capath certfile keyfile require_certificate`,
	},
	oneVersion: { program: "mosquitto", installed: true },
	check(options, place, wrong) {
		const { keepAlive, server = "mosquitto" } = options;
		if (options.session === "persistent" && options.qos === 0)
			wrong(
				"session",
				"a server keeps no messages of QoS 0; write qos: 1 with session: persistent",
			);
		if (keepAlive !== undefined && (keepAlive % 1e9 !== 0 || keepAlive > MOST_SECONDS * 1e9))
			wrong(
				"keepAlive",
				`MQTT counts whole seconds, up to ${MOST_SECONDS}; write 60s, for example`,
			);
		if (server === "mosquitto") return;
		if (options.maxQueued !== undefined)
			wrong("maxQueued", `maxQueued is of mosquitto, and server is ${server}; remove maxQueued`);
		if (options.config !== undefined)
			wrong("config", "Mochi MQTT has no configuration file; remove config");
		if (options.binary !== undefined)
			wrong(
				"binary",
				"mqbench builds Mochi MQTT itself; remove binary, or write server: mosquitto",
			);
		if (place === "container")
			wrong(
				"server",
				"only mosquitto runs in containers here; remove server, or write target: local",
			);
	},
	process,
	image,
	program: PROGRAM,
	install: {
		from: "`mosquitto` on PATH, else Mochi MQTT, built by mqbench when it is first needed; or `binary: /path/to/mosquitto`",
		async look({ run, which }) {
			const program = await which("mosquitto");
			if (program === null)
				return {
					here: true,
					figure: "Mochi MQTT, built when needed",
					sentence:
						"mosquitto is not on PATH, so mqbench builds Mochi MQTT, a server in Go, when a run needs it.",
				};
			// It prints its version with its help, and calls that a failure.
			const version = /mosquitto version (\S+)/.exec((await run(program, "-h")) ?? "")?.[1];
			return {
				here: true,
				figure: `mosquitto ${version ?? ""}`.trim(),
				sentence:
					"mqbench runs it on a free port of the loopback address; it keeps everything in memory.",
			};
		},
	},
	// Its drivers for MQTT 3.1.1 (all keys on top) and MQTT 5 (`client`, `consumer`).
	omb: {
		packages: ["mqtt", "mqtt5"],
		system: { broker: "mqtt" },
		keys: {
			brokerAddr: (servers) => ({ protocol: "3.1.1", at: { servers } }),
			"client.serverUri": (servers) => ({ at: { servers } }),
			pubQos: qos,
			"client.qos": qos,
			subQos: (value, other) => (value === other("pubQos") ? null : undefined),
			cleanSession: clean,
			"consumer.cleanSession": clean,
			maxInflight: most,
			"consumer.receiveMaximum": most,
			keepAliveInterval: (value) => number(value, (n) => (n > 0 ? { keepAlive: `${n}s` } : null)),
		},
	},
});

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
