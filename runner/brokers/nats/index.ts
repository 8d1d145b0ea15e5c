import { z } from "zod";
import defaults from "../../../extensions/xk6-nats/defaults.json" with { type: "json" };
import { choice, count, flag, named, span } from "../../model/field.ts";
import { formatDurationExact } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import { broker, storesBy, storesNothing } from "../broker.ts";
import { inBlocks, inLowercase, sizeInConfig } from "../config.ts";
import { type Config, clusterFields, onlyIn, processFields, tlsField } from "../fields.ts";
import { type Mapping, replicas } from "../omb-driver.ts";
import { goServer, newLogin } from "../server.ts";

const NatsOptions = z.strictObject({
	broker: named("nats", "NATS core or JetStream, by `mode`."),
	mode: choice(
		["core", "jetstream"],
		"`core`: nothing is stored or acknowledged; `jetstream`: each topic is a stream.",
	).default("core"),
	...processFields,
	...clusterFields,
	...tlsField,
	auth: choice(
		["user", "token", "creds"],
		"Login from environment variables instead of the url. `user`: NATS_USER and NATS_PASSWORD; `token`: NATS_TOKEN; `creds`: the path in NATS_CREDS.",
	).optional(),
	publish: choice(
		["async", "sync", "atomic", "fast"],
		"JetStream. `async`: send on while acknowledgements are outstanding; `sync`: a connection waits for each one; `atomic`: batches are stored whole or not at all (nats-server 2.12); `fast`: messages are stored one by one and acknowledged together (2.14). Default: async.",
	).optional(),
	batch: count(
		`JetStream, \`atomic\`, \`fast\`: messages of a batch, fewer than \`inFlight\`; the server may acknowledge \`fast\` ones earlier. Default: ${defaults.batch}.`,
		1000,
		[500],
	).optional(),
	linger: span(
		`JetStream: a batch that is not full ends after this time. Default: ${formatDurationExact(defaults.lingerNs)}.`,
		["1ms"],
	).optional(),
	consumer: choice(
		["pull", "push", "ordered"],
		"JetStream: kind of consumer. Default: `pull` if consumers share a topic, `ordered` if a subscriber gets every message.",
	).optional(),
	dedup: flag(
		"JetStream: every message carries an id (Nats-Msg-Id), and the server drops repeats within 2 minutes. Default: false.",
	).optional(),
	maxAckPending: count(
		`JetStream: most delivered, unacknowledged messages of a consumer. Default: ${defaults.maxAckPending}, the server's.`,
		10_000_000,
		[1000],
	).optional(),
	prefetch: count(
		`JetStream, \`pull\`: most messages that one consumer requests. Default: ${defaults.prefetch}, the library's.`,
		1_000_000,
		[500],
	).optional(),
	ackWait: span(
		`JetStream: a message that is not acknowledged within this time, including its wait in the prefetch, is delivered again. Default: ${formatDurationExact(defaults.ackWaitNs)}, the server's.`,
		["30s", "5min"],
	).optional(),
});
type NatsOptions = z.infer<typeof NatsOptions>;
/** mqbench raises max_payload as far as nats-server itself finds reasonable. */
const MAX_MESSAGE_BYTES = 8 * 1024 ** 2;
/** The server's default; only larger messages raise it, to measure the server as it comes. */
const MAX_PAYLOAD = 1024 ** 2;
/** For the headers of ids and of atomic batches. */
const HEADERS = 4096;
const SYNC = "jetstream.sync_interval";
const every = (sync: string) =>
	[`storage: file, sync_interval: ${sync}`, { [SYNC]: sync }] as const;

/** How often the file store is flushed. */
const stores = storesBy({
	own: "interval 2m (default)",
	unknown: "not known (storage: file, your server)",
	byDriver: "memory",
	levels: {
		memory: ["storage: memory", {}],
		os: every("24h"),
		interval: every("1s"),
		fsync: every("always"),
	},
	read: inServersWords,
});

const PORTS = [
	{ number: 4222, from: "clients" },
	{ number: 6222, from: "nodes" },
	{ number: 8222, from: "health" },
] as const;

const server = goServer<NatsOptions>({
	program: { name: "nats-server", package: "github.com/nats-io/nats-server/v2" },
	// As in extensions/servers/nats-server/go.mod.
	image: { name: "nats", version: "2.15.2", suffix: "-alpine" },
	remark: " (core and JetStream)",
	ports: (nodes) => PORTS.filter(({ from }) => nodes > 1 || from !== "nodes"),
	launch(setup, options) {
		const { system, nodes } = setup;
		const streams = options.mode === "jetstream";
		const files = streams && setup.level !== "memory";
		const needed = setup.messageBytes + headers(options);
		const settings = {
			...(needed > MAX_PAYLOAD && { max_payload: needed }),
			...stores.settings(files ? setup.level : null, options.config),
		};
		const cluster = nodes.length > 1;
		const watched = options.metrics !== false;
		const ours = !setup.image && system.binary === null;
		const { user, password: token } = newLogin();
		const own = Object.keys(options.config ?? {}).some((key) => LOGINS.test(key));
		const routes = nodes.map(({ ip, ports }) => `${user}:${token}@${hostPort(ip, ports[1] ?? 0)}`);
		return {
			log: { name: "nats-server", version: /\bVersion:\s+v?(\d\S*)$/, up: /\] Server is ready$/ },
			...(cluster && { healthy: () => haveLeader(nodes.map(({ health }) => health)) }),
			url: nodes.map(({ client }) => `nats://${own ? "" : `${token}@`}${client}`).join(","),
			...(watched && { metrics: nodes.map(({ health }) => `http://${health}/varz`) }),
			settings: files ? { [SYNC]: "2m (default)", ...settings } : settings,
			data: streams ? "disk" : null,
			flushes: files,
			node(site, i) {
				const [client = 0, route = 0] = site.ports;
				const monitor = site.ports.at(-1) ?? 0;
				const at = (port: number) => hostPort(site.listen, port);
				return {
					argv: ["-c", `${site.folder}/nats.conf`],
					files: {
						"nats.conf": inBlocks({
							listen: at(client),
							server_name: `mqbench-${i + 1}`,
							...(streams && { "jetstream.store_dir": site.data }),
							// Its log warns about a password, but not about a token.
							...(!own && { "authorization.token": token }),
							// A single node advertises nothing.
							...(site.published && cluster && { client_advertise: site.client }),
							...((cluster || watched) && { http: at(monitor) }),
							...(cluster && {
								"cluster.name": "mqbench",
								"cluster.listen": at(route),
								"cluster.routes": routes.map((one) => `nats://${one}`),
								"cluster.authorization.user": user,
								"cluster.authorization.password": token,
							}),
							// Times are UTC like in this machine's other logs; an older build may refuse the key.
							...(ours && { logtime_utc: true }),
							...settings,
						}),
					},
				};
			},
		};
	},
});

const storage: Mapping = (where) => (/^memory$/i.test(where) ? { durability: "memory" } : null);

export const nats = broker(NatsOptions, {
	title: "NATS",
	alsoCalled: {
		jetstream: "{ broker: nats, mode: jetstream }",
		"nats-jetstream": "{ broker: nats, mode: jetstream }",
	},
	urls: { nats: 4222, tls: 4222, ws: 80, wss: 443 },
	firstDriver: true,
	secretEnv: () => ["NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_CREDS"],
	server,
	metrics: {
		counters:
			/^(in|out)_(msgs|bytes)$|^(slow_consumers|stale_connections|total_connections)$|^jetstream\.stats\.api\./,
		show: `in_msgs out_msgs slow_consumers mem
			jetstream.stats.memory jetstream.stats.storage`.split(/\s+/),
	},
	traits: (options) => ({
		maxMessageBytes: maxMessageBytes(options),
		nodes: [1, 3],
		maxConnections: {
			most: Number(inServersWords(options.config).max_connections ?? 65_536),
			option: "max_connections",
		},
		...(options.mode === "core" ? CORE : jetstream(options)),
	}),
	stores: ({ mode }) => (mode === "core" ? storesNothing() : stores),
	configExample: { max_payload: "8MB" },
	config: {
		file: "nats.conf",
		options: { port: "port" },
		reserved: `listen host net client_advertise server_name http https http_port https_port monitor_port http_base_path prof_port
			include store_dir storedir jetstream jetstream.store_dir jetstream.storedir jetstream.enabled jetstream.enable
			cluster cluster.name cluster.listen cluster.host cluster.net cluster.port cluster.routes cluster.advertise
			cluster.cluster_advertise cluster.authorization.* gateway.* leaf.* leafnodes.* websocket.* ws.* mqtt.*
			logfile log_file syslog remote_syslog pidfile pid_file ports_file_dir`,
	},
	check(options) {
		const { mode, consumer, prefetch, publish = "async" } = options;
		if (mode === "core") return onlyIn("mode", ["jetstream"], OF_JETSTREAM, options);
		return {
			linger: (options.linger ?? 0) > MAX_LINGER && "linger must be at most 5s",
			...onlyIn("publish", BATCHED, ["batch", "linger"], { ...options, publish }),
			prefetch:
				prefetch !== undefined &&
				consumer === "push" &&
				"prefetch needs consumer: pull; with push write maxAckPending",
		};
	},
	// The benchmark's driver publishes to JetStream.
	omb: {
		packages: ["nats", "jetstream"],
		system: { broker: "nats", mode: "jetstream" },
		keys: {
			natsHostUrl: (servers) => ({ at: { servers } }),
			replicationFactor: replicas,
			storageType: storage,
			storage,
		},
	},
});

// --- internal ---

const CORE = {
	title: "NATS core",
	wildcards: true,
	dials: true,
	cannot: { backlog: "it stores nothing" },
	instead: "write mode: jetstream",
} as const;

function jetstream({
	consumer,
	maxAckPending = defaults.maxAckPending,
	prefetch = defaults.prefetch,
	ackWait = defaults.ackWaitNs,
}: NatsOptions) {
	const alone = "an ordered consumer cannot be shared";
	return {
		title: "JetStream",
		acks: true,
		replays: true,
		delivery: "at-least-once",
		acknowledge: {
			// Ordered consumers acknowledge nothing.
			alone: (consumer ?? "ordered") === "ordered" ? "automatic" : "message",
			group: "message",
		},
		cannot: {
			connect: ["a stream for each connection would be measured too", "write mode: core"],
			...(consumer === "ordered" && {
				"request-reply": alone,
				"work-queue": alone,
				backlog: alone,
			}),
		},
		instead: "write consumer: pull",
		prefetch: consumer === "push" ? maxAckPending : prefetch,
		redeliverAfterNs: ackWait,
		maxReplicas: 5,
	} as const;
}

/** Headers count towards max_payload; without `config` mqbench makes room for them. */
function maxMessageBytes(options: NatsOptions): number {
	const most = sizeInConfig(inServersWords(options.config).max_payload);
	return most === null ? MAX_MESSAGE_BYTES : most - headers(options);
}

const headers = ({ dedup, publish }: NatsOptions) => (dedup || publish === "atomic" ? HEADERS : 0);

const BATCHED = ["atomic", "fast"];
/** The server forgets a batch after 10 s of silence. */
const MAX_LINGER = 5e9;
const OF_JETSTREAM = "publish batch linger consumer dedup maxAckPending prefetch ackWait".split(
	" ",
);

/** Lowercase and without synonyms, like the server's own reading of keys. */
function inServersWords(config: Config = {}): Config {
	const { "jetstream.sync": sync, ...others } = inLowercase(config);
	return { ...others, ...(sync !== undefined && { [SYNC]: sync }) };
}

/** With these the scenario decides which logins exist, and the driver uses `auth`. */
const LOGINS = /^(authorization|accounts|operator|no_auth_user)\b/i;

interface Monitored {
	readonly disabled?: boolean;
	readonly meta_cluster?: { readonly leader?: string; readonly cluster_size?: number };
	readonly num_routes?: number;
	readonly status?: string;
}

/** Every node sees the whole cluster and its leader, or without JetStream all its routes. */
async function haveLeader(monitors: readonly string[]): Promise<boolean> {
	const ready = monitors.map(async (monitor) => {
		const get = async (what: string) => {
			const signal = AbortSignal.timeout(2_000);
			return (await (await fetch(`http://${monitor}/${what}`, { signal })).json()) as Monitored;
		};
		const { disabled, meta_cluster: { leader = "", cluster_size } = {} } = await get("jsz");
		if (disabled) return Number((await get("routez")).num_routes) >= monitors.length - 1;
		const { status } = await get("healthz");
		return leader !== "" && cluster_size === monitors.length && status === "ok";
	});
	return (await Promise.all(ready)).every(Boolean);
}
