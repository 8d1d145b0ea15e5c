import type { Level } from "../../model/plan.ts";
import { hostPort } from "../addresses.ts";
import { inBlocks, type Value } from "../blocks.ts";
import type { OfficialImage } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import { newLogin } from "../login.ts";
import { built, everywhere, type Setup, says, server, texts } from "../process.ts";
import type { NatsOptions } from "./options.ts";

/** As the server that mqbench builds (extensions/servers/nats-server/go.mod). */
export const image: OfficialImage = { name: "nats", version: "2.15.2", suffix: "-alpine" };

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

export function inServersWords(config: SystemOptionsOfAnyBroker["config"] = {}) {
	return Object.fromEntries(Object.entries(config).map(([key, value]) => [wordOf(key), value]));
}

/**
 * nats-server: the one that mqbench builds, somebody else's build (`binary`), or of an image. All read the same configuration file and
 * say the same words.
 */
export const process = server<NatsOptions>({
	program: built("nats-server", {
		...everywhere("https://github.com/nats-io/nats-server/releases"),
		darwin: "brew install nats-server",
	}),
	onHosts: `nats-server ${image.version}, copied`,
	container: { data: "/data" },
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
		const { all, shown } = settings(setup, options);
		const cluster = nodes.length > 1;
		const log = setup.image || system.binary !== null ? {} : OUR_LOG;
		const { user, password: token } = newLogin();
		const own = Object.keys(options.config ?? {}).some((key) => LOGINS.test(key));
		const routes = nodes.map(({ ip, ports }) => `${user}:${token}@${hostPort(ip, ports[1] ?? 0)}`);
		return {
			says: says("nats-server", /\bVersion:\s+v?(\d\S*)$/, /\] Server is ready$/),
			...(cluster ? { healthy: () => haveLeader(nodes.map(({ health }) => health)) } : {}),
			url: nodes.map(({ client }) => `nats://${own ? "" : `${token}@`}${client}`).join(","),
			settings: shown,
			data: options.mode === "jetstream" ? "disk" : null,
			flushes: keepsFiles(setup, options),
			startMs: 30_000,
			stopMs: 5_000,
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
							...all,
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

/** What durability, message size and the scenario's own `config` come to, and the part of it that reports show. */
function settings(
	setup: Setup,
	options: NatsOptions,
): { all: Record<string, Value>; shown: Record<string, string> } {
	const { level, messageBytes } = setup;
	const files = keepsFiles(setup, options);
	const all: Record<string, Value> = {};
	const needed = messageBytes + (options.dedup ? HEADERS : 0);
	if (needed > MAX_PAYLOAD) all.max_payload = needed;
	if (files && level !== null && level !== "memory") all[SYNC_KEY] = SYNC[level];
	Object.assign(all, inServersWords(options.config));
	const shown = texts(all);
	if (files && !(SYNC_KEY in all)) shown[SYNC_KEY] = "2m (default)";
	return { all, shown };
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
