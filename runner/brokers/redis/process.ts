import type { Level } from "../../model/plan.ts";
import { lines } from "../config.ts";
import type { Config, SystemOptionsOfAnyBroker } from "../fields.ts";
import { installedServer, newLogin } from "../server.ts";

type Settings = Readonly<Record<string, string>>;

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
export function redisSettings(level: Level | null, config: Config = {}): Record<string, string> {
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
export const server = installedServer<SystemOptionsOfAnyBroker>({
	name: "redis-server",
	from: "`redis-server` on PATH; or `binary: valkey-server`",
	install: "apt-get install redis-server, brew install redis, or https://redis.io/downloads",
	flag: "--version",
	image: { name: "redis", version: "8.2.3", suffix: "-alpine" },
	ports: 6379,
	launch({ nodes, level, image }, { config }) {
		const settings = redisSettings(level, config);
		const { password } = newLogin();
		return {
			log: {
				name: ([, product]) => `${product?.toLowerCase()}-server`,
				version: /\b(Redis|Valkey) version=(\d[\w.+~-]*)/i,
				up: /Ready to accept connections/,
			},
			url: `redis://:${password}@${nodes[0]?.client}`,
			settings,
			flushes: settings.appendonly === "yes" || settings.save !== NO_SNAPSHOTS,
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
