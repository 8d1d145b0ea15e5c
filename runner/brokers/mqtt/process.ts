import { pbkdf2Sync, randomBytes } from "node:crypto";
import defaults from "../../../extensions/xk6-mqtt/defaults.json" with { type: "json" };
import { hostPort } from "../addresses.ts";
import { lines } from "../config.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import type { BrokerProcess, Setup } from "../process.ts";
import { goServer, installedServer, type Login, newLogin, type Server } from "../server.ts";

interface MqttOptions extends SystemOptionsOfAnyBroker {
	readonly server: "mosquitto" | "mochi";
	readonly receiveMaximum?: number | undefined;
	readonly maxQueued?: number | undefined;
	readonly tcpNoDelay: boolean;
}

/** The one of PATH, another build of it (`binary`), a host's own package or the official image. */
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
							// It would become a user who may not read these files.
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

/** As many as Mochi can keep for a client (a number of 16 bits); it drops more of them. */
const MOCHI_QUEUED = 65_535;

const mochi = goServer<MqttOptions>({
	program: {
		name: "mochi",
		module: "servers/mochi",
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

/** The one that `server` says. */
export const server: Server = {
	...mosquitto,
	program: mochi.program,
	process: {
		...mosquitto.process,
		prepare: async (setup) => chosen(setup).prepare?.(setup),
		describe: (setup) => chosen(setup).describe(setup),
	},
};

// --- internal ---

function chosen({ system }: Pick<Setup, "system">): BrokerProcess {
	const { server } = system.options as MqttOptions;
	return server === "mochi" ? mochi.process : mosquitto.process;
}

/** A line of mosquitto's password file: PBKDF2 by SHA-512, as mosquitto_passwd writes it. */
function hashed({ user, password }: Login): string {
	const rounds = 101;
	const salt = randomBytes(12);
	const hash = pbkdf2Sync(password, salt, rounds, 64, "sha512");
	return `${user}:$7$${rounds}$${salt.toString("base64")}$${hash.toString("base64")}\n`;
}
