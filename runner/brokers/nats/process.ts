import type { Level } from "../../model/plan.ts";
import { hostPort } from "../addresses.ts";
import { inBlocks, type Value } from "../config.ts";
import type { Config, SystemOptionsOfAnyBroker } from "../fields.ts";
import type { Setup } from "../process.ts";
import { goServer, newLogin } from "../server.ts";

interface NatsOptions extends SystemOptionsOfAnyBroker {
	readonly mode: "core" | "jetstream";
	readonly storage?: "memory" | "file" | undefined;
	readonly dedup?: boolean | undefined;
}

/** Room for headers (of deduplication) beside the payload. */
export const HEADERS = 4096;

/** The server's part of each level: how often the file store is flushed. In memory there is nothing to flush. */
export const SYNC: Readonly<Record<Exclude<Level, "memory">, string>> = {
	os: "24h",
	interval: "1s",
	fsync: "always",
};

export const SYNC_KEY = "jetstream.sync_interval";

/** As the server reads a key: in small letters, and one word for each thing. */
export function wordOf(key: string): string {
	const small = key.toLowerCase();
	return small === "jetstream.sync" ? SYNC_KEY : small;
}

export function inServersWords(config: Config = {}) {
	return Object.fromEntries(Object.entries(config).map(([key, value]) => [wordOf(key), value]));
}

/**
 * nats-server: the one that mqbench builds, somebody else's build (`binary`), or of an image. All read the same configuration file and
 * say the same words.
 */
export const server = goServer<NatsOptions>({
	program: {
		name: "nats-server",
		module: "servers/nats-server",
		package: "github.com/nats-io/nats-server/v2",
	},
	// As the server that mqbench builds (extensions/servers/nats-server/go.mod).
	image: { name: "nats", version: "2.15.2", suffix: "-alpine" },
	remark: " (core and JetStream)",
	ports: (nodes) => [
		{ number: 4222, from: "clients" },
		...(nodes === 1
			? []
			: ([
					{ number: 6222, from: "nodes" },
					{ number: 8222, from: "health" },
				] as const)),
	],
	launch(setup, options) {
		const { system, nodes } = setup;
		const settings = settingsOf(setup, options);
		const files = keepsFiles(setup, options);
		const cluster = nodes.length > 1;
		const log = setup.image || system.binary !== null ? {} : OUR_LOG;
		const { user, password: token } = newLogin();
		const own = Object.keys(options.config ?? {}).some((key) => LOGINS.test(key));
		const routes = nodes.map(({ ip, ports }) => `${user}:${token}@${hostPort(ip, ports[1] ?? 0)}`);
		return {
			log: {
				name: "nats-server",
				version: /\bVersion:\s+v?(\d\S*)$/,
				up: /\] Server is ready$/,
			},
			...(cluster ? { healthy: () => haveLeader(nodes.map(({ health }) => health)) } : {}),
			url: nodes.map(({ client }) => `nats://${own ? "" : `${token}@`}${client}`).join(","),
			settings: files ? { [SYNC_KEY]: "2m (default)", ...settings } : settings,
			data: options.mode === "jetstream" ? "disk" : null,
			flushes: files,
			node(site, i) {
				const [client = 0, route = 0, monitor = 0] = site.ports;
				const at = (port: number) => hostPort(site.listen, port);
				return {
					argv: ["-c", `${site.folder}/nats.conf`],
					files: {
						"nats.conf": inBlocks({
							listen: at(client),
							server_name: `mqbench-${i + 1}`,
							...(options.mode === "jetstream" ? { "jetstream.store_dir": site.data } : {}),
							// It warns of a password in its log, of a token it does not.
							...(own ? {} : { "authorization.token": token }),
							// One alone tells nobody of others.
							...(site.published && cluster ? { client_advertise: site.client } : {}),
							...(cluster
								? {
										http: at(monitor),
										"cluster.name": "mqbench",
										"cluster.listen": at(route),
										"cluster.routes": routes.map((one) => `nats://${one}`),
										"cluster.authorization.user": user,
										"cluster.authorization.password": token,
									}
								: {}),
							...log,
							...settings,
						}),
					},
				};
			},
		};
	},
});

// --- internal ---

/** Whose times are then those of this machine's other logs; an older build may not know the key. */
const OUR_LOG = { logtime_utc: true };

/** A scenario's own word on who may log in; the driver then does as `auth` says. */
const LOGINS = /^(authorization|accounts|operator|no_auth_user)\b/i;

/** The server's own, for larger messages than these only: what is measured is the server as it comes. */
const MAX_PAYLOAD = 1024 ** 2;

/** What durability, message size and the scenario's own `config` come to. */
function settingsOf(setup: Setup, options: NatsOptions): Record<string, Value> {
	const { level, messageBytes } = setup;
	const needed = messageBytes + (options.dedup ? HEADERS : 0);
	const flushed = keepsFiles(setup, options) && level !== null && level !== "memory";
	return {
		...(needed > MAX_PAYLOAD && { max_payload: needed }),
		...(flushed && { [SYNC_KEY]: SYNC[level] }),
		...inServersWords(options.config),
	};
}

/** Streams are files. */
function keepsFiles({ level }: Setup, { mode, storage }: NatsOptions): boolean {
	return mode === "jetstream" && level !== "memory" && storage !== "memory";
}

/** Every node sees the whole cluster and its JetStream leader; without JetStream: every route is up. */
async function haveLeader(monitors: readonly string[]): Promise<boolean> {
	const answers = await Promise.all(
		monitors.map(async (monitor) => {
			const get = async (what: string) =>
				(await (
					await fetch(`http://${monitor}/${what}`, { signal: AbortSignal.timeout(2_000) })
				).json()) as Record<string, unknown>;
			const jsz = await get("jsz");
			if (jsz.disabled === true) {
				const { num_routes } = await get("routez");
				return Number(num_routes) >= monitors.length - 1;
			}
			const meta = jsz.meta_cluster as { leader?: string; cluster_size?: number } | undefined;
			const { status } = await get("healthz");
			return Boolean(meta?.leader) && meta?.cluster_size === monitors.length && status === "ok";
		}),
	);
	return answers.every(Boolean);
}
