import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { failure } from "../../errors.ts";
import { reasonOf } from "../../reason.ts";
import { checkVersionThere, installed } from "../installed.ts";
import { newLogin } from "../login.ts";
import type { BrokerProcess, Setup } from "../process.ts";
import { NO_SNAPSHOTS, redisSettings } from "./durability.ts";

/**
 * redis-server or valkey-server: from PATH or another build of it, of a host's own packages, or of an official image, whose entry point
 * starts whichever it is when it gets the path of a file.
 */
export const redis: BrokerProcess = {
	packages: ["redis-server"],
	onHosts: { text: () => "the host's redis-server" },
	container: { data: "/data" },
	ports: () => [{ number: 6379, from: "clients" }],
	async describe(setup) {
		const { nodes, image } = setup;
		const settings = redisSettings(setup.level, setup.system.options.config);
		const { password } = newLogin();
		return {
			...signs(`:${password}@${nodes[0]?.client}`),
			settings,
			data: "disk",
			flushes: settings.appendonly === "yes" || settings.save !== NO_SNAPSHOTS,
			nodes: await Promise.all(
				nodes.map(async ({ listen, ports, folder, data }, i) => ({
					argv: [...(await program(setup, i)), `${folder}/redis.conf`],
					files: {
						"redis.conf": configuration({
							bind: listen,
							port: String(ports[0]),
							requirepass: password,
							daemonize: "no",
							dir: quoted(image ? data : folder),
							logfile: '""',
							loglevel: "notice",
							...settings,
						}),
					},
				})),
			),
		};
	},
};

// --- internal ---

/** Where it is on a host, and which: `command -v` finds what users' PATHs leave out. */
const WHERE = {
	package: "redis-server",
	line: 'PATH="$PATH:/usr/sbin:/usr/local/sbin"; p=$(command -v redis-server) && echo "mqbench:program=$p" && echo "mqbench:version=$("$p" --version)"',
};

const INSTALL = {
	linux: "apt-get install redis-server, dnf install redis or valkey, or https://redis.io/downloads",
	darwin: "brew install redis, or brew install valkey",
	other: "in WSL (apt-get install redis-server): Redis has no build for Windows",
};

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

/** The program of a node, of the version that is asked for; an image's entry point finds its own. */
async function program(setup: Setup, node: number): Promise<string[]> {
	const { system, tools, image, ask } = setup;
	if (image) return [];
	if (ask) {
		const onHost = await installed({ ...setup, ask }, node, WHERE);
		const version = versionIn(onHost.version)?.split(" ")[1] ?? "";
		checkVersionThere(setup, node, { ...onHost, found: version });
		return [onHost.program];
	}
	const program = tools.findProgram(system, ["redis-server"], INSTALL);
	await checkVersion(setup, program);
	return [program];
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
	const match = /\b(Redis|Valkey) (?:version|server v)=(\d[\w.+~-]*)/i.exec(line);
	return match ? `${match[1]?.toLowerCase()}-server ${match[2]}` : undefined;
}

/** `version` says which one must be there: mqbench has no way to get another one. */
async function checkVersion(setup: Setup, program: string): Promise<void> {
	const { system } = setup;
	const wanted = system.options.version;
	if (wanted === undefined) return;
	let version: string | undefined;
	let said = "";
	try {
		const { stdout } = await promisify(execFile)(program, ["--version"], { timeout: 10_000 });
		said = stdout.trim();
		version = versionIn(said);
	} catch (error) {
		said = reasonOf(error);
	}
	const number = version?.split(" ")[1];
	if (number === wanted || number?.startsWith(`${wanted}.`)) return;
	throw failure("broker-missing", {
		system: system.key,
		what: `version ${wanted} is wanted, and ${program} is ${version ?? `unclear (${said})`}`,
		remedy: `Install that version and name it: binary: /path/to/redis-server; or remove version`,
	});
}
