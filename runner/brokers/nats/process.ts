import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Level } from "../../model/plan.ts";
import { hostPort } from "../addresses.ts";
import type {
	Command,
	DockerBroker,
	HostBroker,
	LocalBroker,
	Setup,
} from "../process.ts";
import type { NatsOptions } from "./options.ts";

/**
 * nats-server as processes of their own: natsd, the embedded default, or somebody else's build (`binary`). Both read the same
 * configuration file and say the same words.
 */
export const nats: LocalBroker = {
	async launch(setup) {
		const options = setup.system.options as unknown as NatsOptions;
		const nodes = options.nodes ?? 1;
		const program =
			setup.system.binary === null
				? setup.tools.built("natsd")
				: setup.tools.findProgram(setup.system, [], INSTALL);
		const ports = await setup.ports(nodes === 1 ? 1 : 3 * nodes);
		const here = (port: number | undefined) => `${HOST}:${port}`;
		const clients = ports.slice(0, nodes).map(here);
		const routes = ports.slice(nodes, 2 * nodes).map(here);
		const monitors = ports.slice(2 * nodes).map(here);
		const common = settings(setup, options);
		const commands: Command[] = clients.map((listen, i) => {
			const file = path.join(setup.store, `nats-${i + 1}.conf`);
			writeFileSync(
				file,
				configuration({
					...identity(i, options, {
						listen,
						store: path.join(setup.store, `node-${i + 1}`),
					}),
					...(nodes === 1
						? {}
						: member(routes, {
								http: monitors[i] ?? "",
								listen: routes[i] ?? "",
							})),
					...common.all,
				}),
			);
			return { argv: [program, "-c", file] };
		});
		return {
			before: [],
			nodes: commands,
			...signs(clients, monitors),
			settings: common.shown,
			portTaken: (log) => /address already in use/i.test(log),
		};
	},
};

/** nats-server from its official image, or another one: `-c` is behind the entry point of all of them. */
export const natsInDocker: DockerBroker = {
	ports: [4222, 8222],
	contain(setup) {
		const options = setup.system.options as unknown as NatsOptions;
		const common = settings(setup, options);
		const cluster = setup.nodes.length > 1;
		const routes = setup.nodes.map(({ ip }) => `${ip}:6222`);
		return {
			...signs(
				setup.nodes.map(({ client }) => client),
				cluster ? setup.nodes.map(({ reached }) => reached[1] ?? "") : [],
			),
			settings: common.shown,
			nodes: setup.nodes.map(({ client, published }, i) => ({
				args: ["-c", CONFIG],
				files: {
					[CONFIG]: configuration({
						...identity(i, options, { listen: `${ANY}:4222`, store: DATA }),
						// One alone tells nobody of others.
						...(published && cluster ? { client_advertise: client } : {}),
						...(cluster
							? member(routes, { http: `${ANY}:8222`, listen: `${ANY}:6222` })
							: {}),
						...common.all,
					}),
				},
				data:
					options.mode === "jetstream" ? { path: DATA, kind: "volume" } : null,
			})),
		};
	},
};

/** natsd, which is brought to hosts that ssh reaches. */
export const natsOnHosts: HostBroker = {
	packages: [],
	ports: [4222, 8222],
	listens: (nodes) => ({ address: nodes === 1 ? [4222] : [4222, 6222, 8222] }),
	async place(setup) {
		const options = setup.system.options as unknown as NatsOptions;
		const common = settings(setup, options);
		const cluster = setup.nodes.length > 1;
		const routes = setup.nodes.map(({ ip }) => hostPort(ip, 6222));
		const files = keepsFiles(setup, options);
		return {
			...signs(
				setup.nodes.map(({ client }) => client),
				cluster ? setup.nodes.map(({ reached }) => reached[1] ?? "") : [],
			),
			settings: common.shown,
			onDisk: files,
			bring: { natsd: setup.tools.built("natsd") },
			nodes: setup.nodes.map(({ ip, client, store, brought }, i) => ({
				before: [],
				argv: [`${brought}/natsd`, "-c", `${store}/nats.conf`],
				files: {
					"nats.conf": configuration({
						...identity(i, options, {
							listen: client,
							store: `${store}/data`,
						}),
						...(cluster
							? member(routes, {
									http: hostPort(ip, 8222),
									listen: hostPort(ip, 6222),
								})
							: {}),
						...common.all,
					}),
				},
			})),
		};
	},
};

// --- internal ---

const HOST = "127.0.0.1";
/** Within a container: its own network has nobody else in it. */
const ANY = "0.0.0.0";
const CONFIG = "/etc/mqbench/nats.conf";
const DATA = "/data";

type Value = string | number | boolean | readonly string[];

const INSTALL = {
	linux: "https://github.com/nats-io/nats-server/releases",
	darwin: "brew install nats-server",
	other: "https://github.com/nats-io/nats-server/releases",
};

/** The server's part of each level: how often the file store is flushed. In memory there is nothing to flush. */
const SYNC: Readonly<Record<Exclude<Level, "memory">, string>> = {
	os: "24h",
	interval: "1s",
	fsync: "always",
};

/** The server's own, for larger messages than these only: what is measured is the server as it comes. */
const MAX_PAYLOAD = 1024 ** 2;
/** Room for headers (of deduplication) beside the payload. */
const HEADERS = 4096;

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
	{ mode, dedup, storage, config = {} }: NatsOptions,
): { all: Record<string, Value>; shown: Record<string, string> } {
	const files = keepsFiles({ level }, { mode, storage });
	const all: Record<string, Value> = {};
	const needed = messageBytes + (dedup ? HEADERS : 0);
	if (needed > MAX_PAYLOAD) all.max_payload = needed;
	if (files && level !== null && level !== "memory")
		all["jetstream.sync_interval"] = SYNC[level];
	Object.assign(all, config);
	const shown = Object.fromEntries(
		Object.entries(all).map(([key, value]) => [key, String(value)]),
	);
	if (files && !hasSync(all)) shown["jetstream.sync_interval"] = "2m (default)";
	return { all, shown };
}

/** Streams are files. */
function keepsFiles(
	{ level }: Pick<Setup, "level">,
	{ mode, storage }: Pick<NatsOptions, "mode" | "storage">,
): boolean {
	return mode === "jetstream" && level !== "memory" && storage !== "memory";
}

function hasSync(all: Readonly<Record<string, Value>>): boolean {
	return "jetstream.sync_interval" in all || "jetstream.sync" in all;
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
					await fetch(`http://${monitor}/${what}`, {
						signal: AbortSignal.timeout(2_000),
					})
				).json()) as Record<string, unknown>;
			const jsz = await get("jsz");
			if (jsz.disabled === true) {
				const { num_routes } = await get("routez");
				return Number(num_routes) >= monitors.length - 1;
			}
			const meta = jsz.meta_cluster as
				| { leader?: string; cluster_size?: number }
				| undefined;
			const { status } = await get("healthz");
			return (
				Boolean(meta?.leader) &&
				meta?.cluster_size === monitors.length &&
				status === "ok"
			);
		}),
	);
	return answers.every(Boolean);
}

/** nats-server's own format; "jetstream.sync_interval" is a key within a block. */
function configuration(all: Readonly<Record<string, Value>>): string {
	const blocks = new Map<string, string[]>();
	const top: string[] = [];
	for (const [key, value] of Object.entries(all)) {
		const dot = key.indexOf(".");
		const line = `${key.slice(dot + 1)}: ${text(value)}`;
		if (dot < 0) top.push(line);
		else
			blocks.set(key.slice(0, dot), [
				...(blocks.get(key.slice(0, dot)) ?? []),
				`  ${line}`,
			]);
	}
	return `${[
		...top,
		...[...blocks].map(([name, lines]) => `${name} {\n${lines.join("\n")}\n}`),
	].join("\n")}\n`;
}

/** Sizes ("8MB") stand without quotes, durations ("1m") must not: the server reads 1m without quotes as a million. */
function text(value: Value): string {
	if (Array.isArray(value)) return JSON.stringify(value);
	if (typeof value === "string" && /^\d+([KMGT]|[KMGT]i?B)$/i.test(value))
		return /^\d+[kmgt]$/.test(value) ? JSON.stringify(value) : value;
	return JSON.stringify(value);
}
