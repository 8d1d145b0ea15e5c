import { pbkdf2Sync, randomBytes } from "node:crypto";
import { z } from "zod";
import defaults from "../../../extensions/xk6-mqtt/defaults.json" with { type: "json" };
import { choice, count, described, flag, named, span } from "../../model/field.ts";
import { formatDurationExact } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import { broker, storesAs, storesNothing } from "../broker.ts";
import { lines } from "../config.ts";
import { onlyIn, processFields, tlsField } from "../fields.ts";
import { type Mapping, number } from "../omb-driver.ts";
import type { BrokerProcess, Setup } from "../process.ts";
import { goServer, installedServer, type Login, newLogin, type Server } from "../server.ts";

const MqttOptions = z.strictObject({
	broker: named(
		"mqtt",
		"MQTT 5 or 3.1.1: mosquitto, Mochi MQTT, or any other server (`target: existing`).",
	),
	server: choice(
		["mosquitto", "mochi"],
		"The server that mqbench starts. `mochi`: Mochi MQTT, which mqbench builds.",
	).default("mosquitto"),
	protocol: described(
		z.literal([5, "5", "3.1.1"]).transform((version) => String(version)),
		"MQTT version; each has its own client library. Default: 5.",
	).optional(),
	qos: z.literal([0, 1, 2]).default(1).meta({
		description:
			"Quality of service of messages and subscriptions. 0: nothing is acknowledged; 1: at least once (PUBACK); 2: exactly once (PUBCOMP).",
	}),
	session: choice(
		["clean", "persistent"],
		"If a consumer loses its connection: `clean`: the server forgets it; `persistent`: the server keeps its subscription and its messages.",
	).default("clean"),
	receiveMaximum: count(
		`Most unacknowledged messages of QoS 1 and 2, for a sender and for a consumer (mosquitto's max_inflight_messages). Default: ${defaults.receiveMaximum}, mosquitto's.`,
		65_535,
		[100],
	).optional(),
	maxQueued: count(
		"mosquitto: messages that it keeps for a slow client. It drops the rest silently, and they count as lost. 0: no limit. Default: 0; mosquitto's is 1000.",
		10_000_000,
		[1000],
		0,
	).optional(),
	keepAlive: span(
		`A client pings after this much silence (whole seconds). Default: ${formatDurationExact(defaults.keepAliveNs)}.`,
		["60s"],
	).optional(),
	tcpNoDelay: flag(
		"Send small messages immediately, at both ends (TCP_NODELAY). mosquitto's own default is false.",
	).default(defaults.tcpNoDelay),
	...tlsField,
	...processFields,
});
type MqttOptions = z.infer<typeof MqttOptions>;

const mosquitto = installedServer<MqttOptions>({
	name: "mosquitto",
	from: "`mosquitto` on PATH, or Mochi MQTT (`server: mochi`), built by mqbench; or `binary: /path/to/mosquitto`",
	install:
		"apt-get install mosquitto, brew install mosquitto, or https://mosquitto.org/download; or write server: mochi",
	flag: "-h",
	inImage: ["mosquitto"],
	image: { name: "eclipse-mosquitto", version: "2.0.22" },
	container: { folder: "/mosquitto/config", data: "/mosquitto/data" },
	ports: 1883,
	launch({ nodes }, { config, ...options }) {
		const login = newLogin();
		const settings = {
			set_tcp_nodelay: options.tcpNoDelay,
			max_inflight_messages: options.receiveMaximum ?? defaults.receiveMaximum,
			max_queued_messages: options.maxQueued ?? 0,
			persistence: false,
			...config,
		};
		return {
			log: { name: "mosquitto", version: /\bmosquitto version (\S+) running$/ },
			url: `mqtt://${login.inUrl}${nodes[0]?.client}`,
			settings,
			data: "memory",
			node: ({ listen, ports, folder }) => ({
				argv: ["-c", `${folder}/mosquitto.conf`],
				files: {
					"mosquitto.conf": lines(
						{
							// Otherwise mosquitto becomes a user that may not read these files.
							user: "root",
							listener: `${ports[0]} ${listen}`,
							password_file: `${folder}/passwords`,
							log_dest: "stderr",
							...settings,
						},
						" ",
					),
					passwords: hashed(login),
				},
			}),
		};
	},
});

/** Mochi's limit for a client (16 bits); it drops further messages. */
const MOCHI_QUEUED = 65_535;

const mochi = goServer<MqttOptions>({
	program: {
		name: "mochi",
		package: "github.com/mqbench/mqbench/extensions/servers/mochi",
		whenNeeded: true,
	},
	image: null,
	ports: 1883,
	launch({ nodes }, { receiveMaximum = defaults.receiveMaximum }) {
		const login = newLogin();
		const settings = { "receive-maximum": receiveMaximum, "max-queued": MOCHI_QUEUED };
		return {
			log: { name: "mochi", version: /^mochi (\S+) is ready$/ },
			url: `mqtt://${login.inUrl}${nodes[0]?.client}`,
			settings: { ...settings, "receive maximum of consumers": "ignored" },
			data: "memory",
			node: ({ listen, ports: [port = 0] }) => ({
				argv: Object.entries({ listen: hostPort(listen, port), ...settings }).flatMap(
					([flag, value]) => [`-${flag}`, String(value)],
				),
				env: { MOCHI_USER: login.user, MOCHI_PASSWORD: login.password },
			}),
		};
	},
});

const server: Server = {
	...mosquitto,
	program: mochi.program,
	process: {
		...mosquitto.process,
		prepare: async (setup) => chosen(setup).prepare?.(setup),
		describe: (setup) => chosen(setup).describe(setup),
	},
};

const MOST_SECONDS = 65_535;
/** An MQTT packet's limit, and its largest overhead. */
const MAX_PACKET_BYTES = 268_435_455;
const BESIDE = 256;
/** Both servers acknowledge from memory; mosquitto's persistence is a snapshot at times. */
const MEMORY = "nothing is written before an acknowledgement";
const stores = storesAs({ own: `memory (${MEMORY})`, levels: { memory: MEMORY } });
const NOTHING = storesNothing("QoS 0 is neither stored nor acknowledged");
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
	urls: { mqtt: 1883, mqtts: 8883 },
	server,
	traits: ({ qos, maxQueued, config = {}, receiveMaximum = defaults.receiveMaximum }) => ({
		title: `MQTT QoS ${qos}`,
		acks: qos > 0,
		delivery: (["at-most-once", "at-least-once", "exactly-once"] as const)[qos],
		acknowledge: qos === 0 ? "automatic" : "message",
		keepsOnly: maxQueued ? { messages: maxQueued, bytes: 0, option: "maxQueued" } : null,
		wildcards: true,
		dials: true,
		// 0 means no limit.
		maxMessageBytes: Math.min(
			Number(config.message_size_limit) || MAX_PACKET_BYTES,
			(Number(config.max_packet_size) || MAX_PACKET_BYTES) - BESIDE,
		),
		...(qos === 0
			? { cannot: { backlog: "QoS 0 stores nothing" }, instead: "write qos: 1" }
			: { prefetch: receiveMaximum }),
	}),
	stores: ({ qos }) => (qos === 0 ? NOTHING : stores),
	driver: ({ server: _, maxQueued: __, ...own }) => own,
	configExample: { max_packet_size: 1_048_576 },
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
	check(options, place) {
		const { session, qos, keepAlive = 0, server } = options;
		return {
			...onlyIn("server", ["mosquitto"], ["maxQueued", "config", "binary"], options),
			session:
				session === "persistent" &&
				qos === 0 &&
				"a server keeps no messages of QoS 0; write qos: 1 with session: persistent",
			keepAlive:
				(keepAlive % 1e9 !== 0 || keepAlive > MOST_SECONDS * 1e9) &&
				`MQTT counts whole seconds, up to ${MOST_SECONDS}; write 60s, for example`,
			server:
				server === "mochi" &&
				place === "container" &&
				"only mosquitto runs in containers here; remove server, or write target: local",
		};
	},
	// The benchmark's drivers for MQTT 3.1.1 (all keys on top) and MQTT 5 (`client`, `consumer`).
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

function chosen({ system }: Pick<Setup, "system">): BrokerProcess {
	const { server } = system.options as MqttOptions;
	return server === "mochi" ? mochi.process : mosquitto.process;
}

/** PBKDF2 with SHA-512, as mosquitto_passwd writes it. */
function hashed({ user, password }: Login): string {
	const rounds = 101;
	const salt = randomBytes(12);
	const hash = pbkdf2Sync(password, salt, rounds, 64, "sha512");
	return `${user}:$7$${rounds}$${salt.toString("base64")}$${hash.toString("base64")}\n`;
}
