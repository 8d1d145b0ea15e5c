import { hostPort } from "../addresses.ts";
import { inBlocks, type Value } from "../blocks.ts";
import { newLogin } from "../login.ts";
import {
	type BrokerProcess,
	builtServer,
	everywhere,
	type Setup,
	shownSettings,
} from "../process.ts";
import { inServersWords, SYNC, SYNC_KEY } from "./durability.ts";
import { image } from "./image.ts";
import { HEADERS, type NatsOptions } from "./options.ts";

const SERVER = builtServer("nats-server", {
	...everywhere("https://github.com/nats-io/nats-server/releases"),
	darwin: "brew install nats-server",
});

/**
 * nats-server: the one that mqbench builds, somebody else's build (`binary`), or of an image. All read the same configuration file and
 * say the same words.
 */
export const nats: BrokerProcess = {
	packages: [],
	onHosts: { text: () => `nats-server ${image.version}, copied` },
	container: { data: "/data" },
	ports: (nodes) =>
		nodes === 1
			? [{ number: 4222, from: "clients" }]
			: [
					{ number: 4222, from: "clients" },
					{ number: 6222, from: "nodes" },
					{ number: 8222, from: "health" },
				],
	async describe(setup) {
		const { system, image, nodes } = setup;
		const options = system.options as unknown as NatsOptions;
		const { all, shown } = settings(setup, options);
		const cluster = nodes.length > 1;
		const log = image || system.binary !== null ? {} : OUR_LOG;
		const { user, password: token } = newLogin();
		const own = Object.keys(options.config ?? {}).some((key) => LOGINS.test(key));
		const routes = nodes.map(({ ip, ports }) => `${user}:${token}@${hostPort(ip, ports[1] ?? 0)}`);
		const programs = await Promise.all(nodes.map((node) => SERVER.command(setup, node)));
		return {
			...signs(
				nodes.map(({ client }) => (own ? client : `${token}@${client}`)),
				cluster ? nodes.map(({ health }) => health) : [],
			),
			settings: shown,
			data: options.mode === "jetstream" ? "disk" : null,
			flushes: keepsFiles(setup, options),
			nodes: nodes.map((node, i) => {
				const [client = 0, route = 0, monitor = 0] = node.ports;
				const at = (port: number) => hostPort(node.listen, port);
				return {
					argv: [...(programs[i] ?? []), "-c", `${node.folder}/nats.conf`],
					files: {
						"nats.conf": inBlocks({
							...identity(i, options, { listen: at(client), store: node.data }),
							// It warns of a password in its log, of a token it does not.
							...(own ? {} : { "authorization.token": token }),
							// One alone tells nobody of others.
							...(node.published && cluster ? { client_advertise: node.client } : {}),
							...(cluster
								? {
										...member(routes, { http: at(monitor), listen: at(route) }),
										"cluster.authorization.user": user,
										"cluster.authorization.password": token,
									}
								: {}),
							...log,
							...all,
						}),
					},
				};
			}),
		};
	},
};

// --- internal ---

/** Whose times are then those of this machine's other logs; an older build may not know the key. */
const OUR_LOG = { logtime_utc: true };

/** A scenario's own word on who may log in; the driver then does as `auth` says. */
const LOGINS = /^(authorization|accounts|operator|no_auth_user)\b/i;

/** The server's own, for larger messages than these only: what is measured is the server as it comes. */
const MAX_PAYLOAD = 1024 ** 2;

/** How it tells that it is up, and where it is. */
function signs(clients: readonly string[], monitors: readonly string[]) {
	let version = "";
	return {
		ready(line: string) {
			version ||= /\bVersion:\s+v?(\d\S*)$/.exec(line)?.[1] ?? "";
			return /\] Server is ready$/.test(line);
		},
		...(monitors.length === 0 ? {} : { healthy: () => haveLeader(monitors) }),
		url: () => clients.map((client) => `nats://${client}`).join(","),
		version: () => version && `nats-server ${version}`,
		startMs: 30_000,
		stopMs: 5_000,
	};
}

/** What durability, message size and the scenario's own `config` come to, and the part of it that reports show. */
function settings(
	{ level, messageBytes }: Pick<Setup, "level" | "messageBytes">,
	{ mode, dedup, storage, config }: NatsOptions,
): { all: Record<string, Value>; shown: Record<string, string> } {
	const files = keepsFiles({ level }, { mode, storage });
	const all: Record<string, Value> = {};
	const needed = messageBytes + (dedup ? HEADERS : 0);
	if (needed > MAX_PAYLOAD) all.max_payload = needed;
	if (files && level !== null && level !== "memory") all[SYNC_KEY] = SYNC[level];
	Object.assign(all, inServersWords(config));
	const shown = shownSettings(all);
	if (files && !(SYNC_KEY in all)) shown[SYNC_KEY] = "2m (default)";
	return { all, shown };
}

/** Streams are files. */
function keepsFiles(
	{ level }: Pick<Setup, "level">,
	{ mode, storage }: Pick<NatsOptions, "mode" | "storage">,
): boolean {
	return mode === "jetstream" && level !== "memory" && storage !== "memory";
}

/** Who a node is, where it listens, and where it keeps its streams. */
function identity(
	index: number,
	{ mode }: NatsOptions,
	{ listen, store }: { readonly listen: string; readonly store: string },
): Record<string, Value> {
	return {
		listen,
		server_name: `mqbench-${index + 1}`,
		...(mode === "jetstream" ? { "jetstream.store_dir": store } : {}),
	};
}

/** A member of the cluster: where it listens for the others and for our questions, and where the others are. */
function member(
	routes: readonly string[],
	{ http, listen }: { readonly http: string; readonly listen: string },
): Record<string, Value> {
	return {
		http,
		"cluster.name": "mqbench",
		"cluster.listen": listen,
		"cluster.routes": routes.map((route) => `nats://${route}`),
	};
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
