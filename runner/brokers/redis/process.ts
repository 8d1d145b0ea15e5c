import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../../errors.ts";
import { reasonOf } from "../../reason.ts";
import { checkVersionThere, installed } from "../installed.ts";
import type {
	DockerBroker,
	HostBroker,
	LocalBroker,
	Setup,
} from "../process.ts";
import { redisLevels } from "./options.ts";

/** Where clients find it in a container and on a host. */
const PORT = 6379;

/** redis-server from PATH, or another build of it, or valkey-server: on loopback, with its data in the store. */
export const redis: LocalBroker = {
	async launch(setup) {
		const { system, store, tools } = setup;
		const program = tools.findProgram(system, ["redis-server"], INSTALL);
		await checkVersion(setup, program);
		const [port = 0] = await setup.ports(1);
		const settings = settingsOf(setup);
		const file = path.join(store, FILE);
		await writeFile(file, configuration({ ...own(port, store), ...settings }));
		return {
			before: [],
			nodes: [{ argv: [program, file] }],
			...signs(`127.0.0.1:${port}`),
			settings,
			portTaken: (log) => /address already in use/i.test(log),
		};
	},
};

/** redis-server or valkey-server from an official image: their entry points start whichever it is when they get the path of a file. */
export const redisInDocker: DockerBroker = {
	ports: [PORT],
	contain(setup) {
		const settings = settingsOf(setup);
		return {
			...signs(setup.nodes[0]?.client ?? ""),
			settings,
			nodes: setup.nodes.map(() => ({
				args: [CONFIG],
				files: {
					[CONFIG]: configuration({
						...common(DATA),
						bind: "0.0.0.0",
						port: String(PORT),
						// The network of the containers has nobody else in it.
						"protected-mode": "no",
						...settings,
					}),
				},
				data: { path: DATA, kind: "volume" },
			})),
		};
	},
};

/** redis-server of a host's own packages: on the host's address alone, behind a password, as other people may reach that. */
export const redisOnHosts: HostBroker = {
	packages: ["redis-server"],
	ports: [6379],
	listens: () => ({ address: [6379] }),
	async place(setup) {
		const settings = settingsOf(setup);
		const password = randomBytes(12).toString("hex");
		const nodes = await Promise.all(
			setup.nodes.map(async ({ ip, store }, i) => {
				const { program, version } = await installed(setup, i, WHERE);
				checkVersionThere(setup, i, {
					program,
					found: versionIn(version)?.split(" ")[1] ?? "",
				});
				return {
					before: [],
					argv: [program, `${store}/${FILE}`],
					files: {
						[FILE]: configuration({
							...common(store),
							bind: ip,
							port: String(PORT),
							"protected-mode": "yes",
							requirepass: password,
							...settings,
						}),
					},
				};
			}),
		);
		return {
			...signs(`:${password}@${setup.nodes[0]?.client}`),
			settings,
			bring: {},
			nodes,
			onDisk: settings.appendonly === "yes" || settings.save !== NO_SNAPSHOTS,
		};
	},
};

// --- internal ---

const FILE = "redis.conf";

/** Where it is on a host, and which: `command -v` finds what users' PATHs leave out. */
const WHERE = {
	package: "redis-server",
	line: 'PATH="$PATH:/usr/sbin:/usr/local/sbin"; p=$(command -v redis-server) && echo "mqbench:program=$p" && echo "mqbench:version=$("$p" --version)"',
};

const INSTALL = {
	linux:
		"apt-get install redis-server, dnf install redis or valkey, or https://redis.io/downloads",
	darwin: "brew install redis, or brew install valkey",
	other:
		"in WSL (apt-get install redis-server): Redis has no build for Windows",
};

const NO_SNAPSHOTS = '""';

const CONFIG = "/etc/mqbench/redis.conf";
/** Where the official images keep data. */
const DATA = "/data";

/** How it tells that it is up, and where it is. */
function signs(client: string) {
	let version = "";
	return {
		ready(line: string) {
			version ||= versionIn(line) ?? "";
			return line.includes("Ready to accept connections");
		},
		url: () => `redis://${client}`,
		version: () => version,
		startMs: 30_000,
		stopMs: 5_000,
	};
}

/** What mqbench needs to reach the server and to have it to itself. */
function own(port: number, store: string): Record<string, string> {
	return {
		bind: "127.0.0.1",
		port: String(port),
		"protected-mode": "yes",
		...common(store),
	};
}

function common(store: string): Record<string, string> {
	return {
		daemonize: "no",
		dir: quoted(store),
		logfile: '""',
		loglevel: "notice",
	};
}

/**
 * Durability and `config`. Without a level as `memory`. Snapshots are off in all of them: a fork in mid-run is a matter of
 * its own, and `config: { save: "3600 1" }` brings them back.
 */
function settingsOf({
	system,
	level,
}: Pick<Setup, "system" | "level">): Record<string, string> {
	const settings: Record<string, string> = {
		save: NO_SNAPSHOTS,
		...redisLevels[level ?? "memory"],
	};
	if (settings.appendonly === "yes")
		settings["no-appendfsync-on-rewrite"] = "no";
	for (const [key, value] of Object.entries(system.options.config ?? {})) {
		const text = String(value);
		settings[key.toLowerCase()] = text === "" ? '""' : text;
	}
	return settings;
}

function configuration(settings: Readonly<Record<string, string>>): string {
	return Object.entries(settings)
		.map(([key, value]) => `${key} ${value}\n`)
		.join("");
}

function quoted(text: string): string {
	return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** "Redis version=7.0.15, bits=64" in a log, "Redis server v=7.0.15 sha=" from --version. */
function versionIn(line: string): string | undefined {
	const found = /\b(Redis|Valkey) (?:version|server v)=(\d[\w.+~-]*)/i.exec(
		line,
	);
	return found ? `${found[1]?.toLowerCase()}-server ${found[2]}` : undefined;
}

/** `version` says which one must be there: mqbench has no way to get another one. */
async function checkVersion(setup: Setup, program: string): Promise<void> {
	const { system } = setup;
	const wanted = system.options.version;
	if (wanted === undefined) return;
	let found: string | undefined;
	let said = "";
	try {
		const { stdout } = await promisify(execFile)(program, ["--version"], {
			timeout: 10_000,
		});
		said = stdout.trim();
		found = versionIn(said);
	} catch (error) {
		said = reasonOf(error);
	}
	const number = found?.split(" ")[1];
	if (number === wanted || number?.startsWith(`${wanted}.`)) return;
	throw failure("broker-missing", {
		system: system.key,
		what: `version ${wanted} is wanted, and ${program} is ${found ?? `unclear (${said})`}`,
		remedy: `Install that version and name it: binary: /path/to/redis-server; or remove version`,
	});
}
