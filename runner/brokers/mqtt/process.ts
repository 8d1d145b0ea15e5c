import { pbkdf2Sync, randomBytes } from "node:crypto";
import { hostPort } from "../addresses.ts";
import type { OfficialImage } from "../broker.ts";
import { installedServer } from "../installed.ts";
import { type Login, newLogin } from "../login.ts";
import { lines, type Program, type Setup, says, server } from "../process.ts";
import type { MqttOptions } from "./options.ts";

/** Of mosquitto, the only one of its servers that runs in containers. */
export const image: OfficialImage = { name: "eclipse-mosquitto", version: "2.0.22", suffix: "" };

export const PROGRAM = {
	name: "mochi",
	module: "servers/mochi",
	package: "github.com/mqbench/mqbench/extensions/servers/mochi",
	whenNeeded: true,
} as const;

/** As the driver sets it (xk6-mqtt/mqtt.go). */
export const RECEIVE_MAXIMUM = 20;

/**
 * mosquitto: the one of PATH, another build of it (`binary`), a host's own package or the official image; Mochi MQTT as mqbench builds it.
 */
export const process = server<MqttOptions>({
	packages: ["mosquitto"],
	program: {
		async prepare(setup) {
			if (isMochi(setup)) await setup.tools.built(PROGRAM.name);
		},
		command: async (setup, node, index) =>
			isMochi(setup)
				? [node.bring(PROGRAM.name, await setup.tools.built(PROGRAM.name))]
				: MOSQUITTO.command(setup, node, index),
	},
	onHosts: "the host's mosquitto",
	container: { folder: "/mosquitto/config", data: "/mosquitto/data" },
	ports: 1883,
	launch(setup, options) {
		const login = newLogin();
		const common = {
			url: `mqtt://${login.inUrl}${setup.nodes[0]?.client}`,
			data: "memory",
			flushes: false,
			startMs: 30_000,
			stopMs: 5_000,
		} as const;
		const most = options.receiveMaximum ?? RECEIVE_MAXIMUM;
		if (isMochi(setup))
			return {
				...common,
				says: says("mochi", /^mochi (\S+) is ready$/, /^mochi \S+ is ready$/),
				settings: {
					"receive-maximum": most,
					"max-queued": MOCHI_QUEUED,
					"receive maximum of consumers": "ignored",
				},
				node: ({ listen, ports }) => ({
					argv: Object.entries({
						"-listen": hostPort(listen, ports[0] ?? 0),
						"-receive-maximum": most,
						"-max-queued": MOCHI_QUEUED,
					}).flatMap(([flag, value]) => [flag, String(value)]),
					files: {},
					env: { MOCHI_USER: login.user, MOCHI_PASSWORD: login.password },
				}),
			};
		const settings = {
			set_tcp_nodelay: options.tcpNoDelay,
			max_inflight_messages: most,
			max_queued_messages: options.maxQueued ?? 0,
			persistence: false,
			...options.config,
		};
		return {
			...common,
			says: says(
				"mosquitto",
				/\bmosquitto version (\S+) running$/,
				/\bmosquitto version \S+ running$/,
			),
			settings,
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

// --- internal ---

const MOSQUITTO: Program = installedServer({
	name: "mosquitto",
	inImage: ["mosquitto"],
	flag: "-h",
	version: (said) => /version (\S+)/.exec(said)?.[1],
	install: {
		linux: "apt-get install mosquitto, or https://mosquitto.org/download",
		darwin: "brew install mosquitto",
		other: "https://mosquitto.org/download",
	},
});

/** As many as it can keep for a client (a number of 16 bits); it drops more of them. */
const MOCHI_QUEUED = 65_535;

/** One that is not named is mosquitto, if this machine is to have it and has not, then the one that mqbench builds. */
function isMochi(setup: Pick<Setup, "system" | "tools"> & Partial<Setup>): boolean {
	const { system, tools, image, ask } = setup;
	const { server } = system.options as unknown as MqttOptions;
	if (server !== undefined) return server === "mochi";
	return !image && !ask && system.binary === null && tools.findOnPath("mosquitto") === null;
}

/** A line of mosquitto's password file: PBKDF2 by SHA-512, as mosquitto_passwd writes it. */
function hashed({ user, password }: Login): string {
	const rounds = 101;
	const salt = randomBytes(12);
	const hash = pbkdf2Sync(password, salt, rounds, 64, "sha512");
	return `${user}:$7$${rounds}$${salt.toString("base64")}$${hash.toString("base64")}\n`;
}
