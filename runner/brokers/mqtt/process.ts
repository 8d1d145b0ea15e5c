import { pbkdf2Sync, randomBytes } from "node:crypto";
import { hostPort } from "../addresses.ts";
import { checkVersionThere, installed } from "../installed.ts";
import { type Login, newLogin } from "../login.ts";
import type { BrokerProcess, NodeDescription, Setup } from "../process.ts";
import { type MqttOptions, RECEIVE_MAXIMUM } from "./options.ts";

/**
 * mosquitto: the one of PATH, another build of it (`binary`), a host's own package or the official image; Mochi MQTT as mqbench builds it.
 */
export const mqtt: BrokerProcess = {
	packages: ["mosquitto"],
	onHosts: { text: () => "the host's mosquitto" },
	container: { folder: "/mosquitto/config", data: "/mosquitto/data" },
	ports: () => [{ number: 1883, from: "clients" }],
	async prepare(setup) {
		const kind = kindOf(setup, null);
		if (kind === "mochi") await setup.tools.built("mochi");
	},
	async describe(setup) {
		const { nodes, ask } = setup;
		const kind = kindOf(setup, ask);
		const login = newLogin();
		const { settings, ...made } = await servers[kind](setup, login);
		return {
			...signs(kind, `${login.inUrl}${nodes[0]?.client}`),
			settings: Object.fromEntries(
				Object.entries(settings).map(([key, value]) => [key, String(value)]),
			),
			...made,
		};
	},
};

// --- internal ---

type Kind = NonNullable<MqttOptions["server"]>;
interface Made {
	readonly settings: Readonly<Record<string, string | number | boolean>>;
	readonly data: "disk" | "memory";
	readonly flushes: boolean;
	readonly nodes: readonly NodeDescription[];
}

const INSTALL = {
	linux: "apt-get install mosquitto, or https://mosquitto.org/download",
	darwin: "brew install mosquitto",
	other: "https://mosquitto.org/download",
};

/** Where it is on a host, and which: `command -v` finds what users' PATHs leave out, and -h is a failure to it. */
const WHERE = {
	package: "mosquitto",
	line: 'PATH="$PATH:/usr/sbin:/usr/local/sbin"; p=$(command -v mosquitto) && echo "mqbench:program=$p" && echo "mqbench:version=$("$p" -h | head -n 1)"',
};

/** Which server it is to be; one that is not named: mosquitto, if this machine is to have it and has not, then the one that mqbench builds. */
function kindOf(
	{ system, tools, image }: Pick<Setup, "system" | "tools"> & { readonly image?: Setup["image"] },
	ask: Setup["ask"],
): Kind {
	const { server } = optionsOf(system);
	if (server !== undefined) return server;
	if (image || ask || system.binary !== null) return "mosquitto";
	return tools.findOnPath("mosquitto") === null ? "mochi" : "mosquitto";
}

const servers: Readonly<Record<Kind, (setup: Setup, login: Login) => Promise<Made>>> = {
	async mosquitto(setup, login) {
		const options = optionsOf(setup.system);
		const settings = {
			set_tcp_nodelay: options.tcpNoDelay,
			max_inflight_messages: options.receiveMaximum ?? RECEIVE_MAXIMUM,
			max_queued_messages: options.maxQueued ?? 0,
			persistence: false,
			...options.config,
		};
		return {
			settings,
			data: "memory",
			flushes: false,
			nodes: await Promise.all(
				setup.nodes.map(async ({ listen, ports, folder }, i) => {
					const file = `${folder}/mosquitto.conf`;
					return {
						argv: [...(await mosquitto(setup, i)), "-c", file],
						files: {
							"mosquitto.conf": lines({
								// It would become a user who may not read these files.
								user: "root",
								listener: `${ports[0]} ${listen}`,
								password_file: `${folder}/passwords`,
								log_dest: "stderr",
								...settings,
							}),
							passwords: hashed(login),
						},
					};
				}),
			),
		};
	},
	async mochi({ nodes, tools, system }, login) {
		const program = await tools.built("mochi");
		const most = optionsOf(system).receiveMaximum ?? RECEIVE_MAXIMUM;
		return {
			settings: {
				"receive-maximum": most,
				"max-queued": MOCHI_QUEUED,
				"receive maximum of consumers": "ignored",
			},
			data: "memory",
			flushes: false,
			nodes: nodes.map(({ bring, listen, ports }) => ({
				argv: [
					bring("mochi", program),
					"-listen",
					hostPort(listen, ports[0] ?? 0),
					"-receive-maximum",
					String(most),
					"-max-queued",
					String(MOCHI_QUEUED),
				],
				files: {},
				env: { MOCHI_USER: login.user, MOCHI_PASSWORD: login.password },
			})),
		};
	},
};

/** As many as it can keep for a client (a number of 16 bits); it drops more of them. */
const MOCHI_QUEUED = 65_535;

/** How each tells that it is up, and which it is. */
const SAYS: Readonly<Record<Kind, { readonly version: RegExp; readonly ready: RegExp }>> = {
	mosquitto: {
		version: /\bmosquitto version (\S+) running$/,
		ready: /\bmosquitto version \S+ running$/,
	},
	mochi: { version: /^mochi (\S+) is ready$/, ready: /^mochi \S+ is ready$/ },
};

function signs(kind: Kind, client: string) {
	let version = "";
	return {
		ready(line: string) {
			version ||= SAYS[kind].version.exec(line)?.[1] ?? "";
			return SAYS[kind].ready.test(line);
		},
		url: () => `mqtt://${client}`,
		version: () => version && `${kind} ${version}`,
		startMs: 30_000,
		stopMs: 5_000,
	};
}

/** The program of a node, of the version that is asked for. */
async function mosquitto(setup: Setup, node: number): Promise<string[]> {
	const { system, tools, image, ask } = setup;
	if (image) return ["mosquitto"];
	if (!ask) return [tools.findProgram(system, ["mosquitto"], INSTALL)];
	const there = await installed({ ...setup, ask }, node, WHERE);
	const found = /version (\S+)/.exec(there.version)?.[1] ?? "";
	checkVersionThere(setup, node, { ...there, found });
	return [there.program];
}

/** A line of mosquitto's password file: PBKDF2 by SHA-512, as mosquitto_passwd writes it. */
function hashed({ user, password }: Login): string {
	const rounds = 101;
	const salt = randomBytes(12);
	const hash = pbkdf2Sync(password, salt, rounds, 64, "sha512");
	return `${user}:$7$${rounds}$${salt.toString("base64")}$${hash.toString("base64")}\n`;
}

function lines(settings: Readonly<Record<string, string | number | boolean>>): string {
	return Object.entries(settings)
		.map(([key, value]) => `${key} ${value}\n`)
		.join("");
}

function optionsOf(system: Setup["system"]): MqttOptions {
	return system.options as unknown as MqttOptions;
}
