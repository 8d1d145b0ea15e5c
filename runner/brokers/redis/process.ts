import type { Level } from "../../model/plan.ts";
import type { OfficialImage } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import { installedServer } from "../installed.ts";
import { newLogin } from "../login.ts";
import { lines, server } from "../process.ts";

type Settings = Readonly<Record<string, string>>;

export const image: OfficialImage = { name: "redis", version: "8.2.3", suffix: "-alpine" };

/** The server's settings for each level, as its configuration file has them. */
export const LEVELS: Readonly<Record<Level, Settings>> = {
	memory: { appendonly: "no" },
	os: { appendonly: "yes", appendfsync: "no" },
	interval: { appendonly: "yes", appendfsync: "everysec" },
	fsync: { appendonly: "yes", appendfsync: "always" },
};

export const ON_REWRITE = "no-appendfsync-on-rewrite";

export const NO_SNAPSHOTS = '""';

/**
 * Durability and `config`. Without a level as `memory`. Snapshots are off in all of them: a fork in mid-run is a matter of
 * its own, and `config: { save: "3600 1" }` brings them back.
 */
export function redisSettings(
	level: Level | null,
	config: SystemOptionsOfAnyBroker["config"] = {},
): Record<string, string> {
	const settings: Record<string, string> = { save: NO_SNAPSHOTS, ...LEVELS[level ?? "memory"] };
	if (settings.appendonly === "yes") settings[ON_REWRITE] = "no";
	for (const [key, value] of Object.entries(config))
		settings[key.toLowerCase()] = String(value) || '""';
	return settings;
}

/**
 * redis-server or valkey-server: from PATH or another build of it, of a host's own packages, or of an official image, whose entry point
 * starts whichever it is when it gets the path of a file.
 */
export const process = server({
	packages: ["redis-server"],
	program: installedServer({
		name: "redis-server",
		inImage: [],
		flag: "--version",
		version: (said) => versionIn(said)?.split(" ")[1],
		install: {
			linux:
				"apt-get install redis-server, dnf install redis or valkey, or https://redis.io/downloads",
			darwin: "brew install redis, or brew install valkey",
			other: "in WSL (apt-get install redis-server): Redis has no build for Windows",
		},
	}),
	onHosts: "the host's redis-server",
	container: { data: "/data" },
	ports: 6379,
	launch({ nodes, level, image, system }) {
		const settings = redisSettings(level, system.options.config);
		const { password } = newLogin();
		let version = "";
		return {
			says: {
				ready(line) {
					version ||= versionIn(line) ?? "";
					return line.includes("Ready to accept connections");
				},
				version: () => version,
			},
			url: `redis://:${password}@${nodes[0]?.client}`,
			settings,
			data: "disk",
			flushes: settings.appendonly === "yes" || settings.save !== NO_SNAPSHOTS,
			startMs: 30_000,
			stopMs: 5_000,
			node: ({ listen, ports, folder, data }) => ({
				argv: [`${folder}/redis.conf`],
				files: {
					"redis.conf": lines(
						{
							bind: listen,
							port: ports[0],
							requirepass: password,
							daemonize: "no",
							dir: quoted(image ? data : folder),
							logfile: '""',
							loglevel: "notice",
							...settings,
						},
						" ",
					),
				},
			}),
		};
	},
});

// --- internal ---

function quoted(text: string): string {
	return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** "Redis version=7.0.15, bits=64" in a log, "Redis server v=7.0.15 sha=" from --version. */
function versionIn(line: string): string | undefined {
	const match = /\b(Redis|Valkey) (?:version|server v)=(\d[\w.+~-]*)/i.exec(line);
	return match ? `${match[1]?.toLowerCase()}-server ${match[2]}` : undefined;
}
