import { randomBytes } from "node:crypto";
import { z } from "zod";
import defaults from "../../../extensions/xk6-redis/defaults.json" with { type: "json" };
import { choice, count, flag, named, span } from "../../model/field.ts";
import type { Acknowledge, Delivery } from "../../model/workload.ts";
import { formatDurationExact } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import { broker, type OwnTraits, storesBy, storesNothing } from "../broker.ts";
import { lines, sizeInConfig } from "../config.ts";
import {
	acknowledgeField,
	acknowledges,
	clusterFields,
	onlyIn,
	processFields,
	tlsField,
	unacknowledged,
} from "../fields.ts";
import type { Site } from "../process.ts";
import { installedServer, newLogin } from "../server.ts";
import { infoReader } from "./info.ts";

const RedisOptions = z.strictObject({
	broker: named("redis", "Redis, or Valkey (`binary: valkey-server`): pub/sub, streams or lists."),
	mode: choice(
		["pubsub", "streams", "lists"],
		"`pubsub`: nothing is stored or acknowledged; `streams`: XADD, consumer groups with XACK; `lists`: LPUSH, and BLMOVE to the consumer's own list.",
		["streams"],
	).default("pubsub"),
	client: choice(
		["link", "go-redis"],
		"Client library. `link`: mqbench's own code on a go-redis connection, which writes without waiting for replies; `go-redis`: the library's pipelines, which wait. Default: link.",
	).optional(),
	...acknowledgeField,
	prefetch: count(
		`Streams, lists: most messages that a consumer takes at once; 1 spreads slow work best. Default: ${defaults.prefetch}.`,
		10_000,
		[1],
	).optional(),
	maxLength: count(
		"Streams: XADD trims to this many entries (`MAXLEN ~`). A consumer further behind loses messages, which count as lost. 0: never trim. Default: 1 GiB of payload, at least 1000 entries.",
		Number.MAX_SAFE_INTEGER,
		[1_000_000],
		0,
	).optional(),
	claimAfter: span(
		`Streams: an entry that is not acknowledged within this time goes to another consumer of the group. Default: ${formatDurationExact(defaults.claimAfterNs)}.`,
		["10s"],
	).optional(),
	nodes: clusterFields.nodes,
	socket: flag(
		"Clients use a Unix socket (`target: local`); elsewhere `url: unix:///path`. Default: false.",
	).optional(),
	...tlsField,
	...processFields,
});
type RedisOptions = z.output<typeof RedisOptions>;
const PORTS = [
	{ number: 6379, from: "clients" },
	{ number: 16_379, from: "nodes" },
] as const;
/** The cluster's nodes, in a node's folder of data. */
const MEMBERS = "nodes.conf";
const SLOTS = 16_384;
const COUNTERS = /^total_(?!.*active)|^(evicted|expired)_|^rejected_connections$|^keyspace_/;
type Mode = z.infer<typeof RedisOptions>["mode"];
/** The server's default. */
const MAX_MESSAGE_BYTES = 512 * 1024 ** 2;
const NO_SNAPSHOTS = '""';
const OFF = { appendonly: "no" };
const appended = (appendfsync: string) =>
	[
		`appendonly yes, appendfsync ${appendfsync}`,
		{ appendonly: "yes", appendfsync, "no-appendfsync-on-rewrite": "no" },
	] as const;

const stores = storesBy({
	own: "memory (appendonly no, no snapshots)",
	levels: {
		memory: ["appendonly no", OFF],
		os: appended("no"),
		interval: appended("everysec"),
		fsync: appended("always"),
	},
	// Avoids a fork in mid-run; `config: { save: "3600 1" }` brings it back.
	always: { save: NO_SNAPSHOTS },
	without: OFF,
	read: (config) =>
		Object.fromEntries(
			Object.entries(config).map(([key, value]) => [key.toLowerCase(), String(value) || '""']),
		),
});

/** The entry point of both official images starts its server when it gets a file's path. */
const server = installedServer<RedisOptions>({
	name: "redis-server",
	from: "`redis-server` on PATH; or `binary: valkey-server`",
	install: "apt-get install redis-server, brew install redis, or https://redis.io/downloads",
	flag: "--version",
	image: { name: "redis", version: "8.2.3", suffix: "-alpine" },
	ports: (nodes) => (nodes > 1 ? PORTS : PORTS.slice(0, 1)),
	launch({ nodes, level, image }, { config, socket }) {
		const settings = stores.settings(level, config);
		const { password } = newLogin();
		const at = `redis://:${password}@`;
		const file = `${nodes[0]?.folder}/redis.sock`;
		const cluster = nodes.length > 1;
		const ids = nodes.map(() => randomBytes(20).toString("hex"));
		return {
			log: {
				name: ([, product]) => `${product?.toLowerCase()}-server`,
				version: /\b(Redis|Valkey) version=(\d[\w.+~-]*)/i,
				up: cluster ? /Cluster state changed: ok/ : /Ready to accept connections/,
			},
			url: socket
				? `unix://:${password}@localhost${encodeURI(file)}`
				: at + nodes.map(({ client }) => client).join(","),
			metrics: nodes.map(({ client }) => infoReader(at + client, COUNTERS)),
			settings,
			flushes: settings.appendonly === "yes" || settings.save !== NO_SNAPSHOTS,
			node: ({ listen, ports, folder, data }, i) => ({
				// An image's files are read-only, and a node writes its own.
				...(cluster && image && { before: [["cp", `${folder}/${MEMBERS}`, `${data}/${MEMBERS}`]] }),
				argv: [...(cluster && image ? image.entrypoint : []), `${folder}/redis.conf`],
				files: {
					...(cluster && { [MEMBERS]: membersText(nodes, ids, i) }),
					"redis.conf": lines(
						{
							bind: listen,
							port: ports[0],
							requirepass: password,
							daemonize: "no",
							dir: `"${(image ? data : folder).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`,
							...(socket && { unixsocket: `"${file}"` }),
							...(cluster && {
								"cluster-enabled": "yes",
								"cluster-config-file": MEMBERS,
								"cluster-port": ports[1],
							}),
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

export const redis = broker(RedisOptions, {
	title: "Redis",
	alsoCalled: {
		"redis-streams": "{ broker: redis, mode: streams }",
		"redis-pubsub": "{ broker: redis, mode: pubsub }",
		valkey: "{ broker: redis, binary: valkey-server }",
		"redis-cluster": "{ broker: redis, nodes: 3 }",
	},
	urls: { redis: 6379, rediss: 6379, unix: 0 },
	// The user of requirepass has no name.
	urlUser: "",
	server,
	metrics: {
		counters: COUNTERS,
		show: ["total_commands_processed", "used_memory", "connected_clients", "evicted_keys"],
	},
	traits: ({ mode, prefetch, maxLength, acknowledge, claimAfter, config }) => ({
		...byMode[mode],
		nodes: [1, 3],
		maxConnections: { most: Number(config?.maxclients ?? 10_000), option: "maxclients" },
		...promises(mode, acknowledge),
		// As the driver trims (xk6-redis/options.go); 0 means never.
		keepsOnly:
			mode !== "streams" || maxLength === 0
				? null
				: { messages: maxLength ?? 1000, bytes: maxLength ? 0 : 1024 ** 3, option: "maxLength" },
		replays: mode === "streams",
		maxMessageBytes:
			sizeInConfig(stores.settings(null, config)["proto-max-bulk-len"]) ?? MAX_MESSAGE_BYTES,
		// It looks for them three times in that time.
		...(mode === "streams" && { killedAfterNs: ((claimAfter ?? defaults.claimAfterNs) * 4) / 3 }),
		prefetch: mode === "pubsub" ? null : (prefetch ?? defaults.prefetch),
	}),
	stores: ({ mode }) => (mode === "pubsub" ? storesNothing() : stores),
	topicOptions: ["maxLength"],
	configExample: { "io-threads": 4 },
	config: {
		file: "redis.conf",
		options: { port: "port" },
		reserved: `aclfile appenddirname bind cluster-config-file cluster-enabled cluster-port daemonize dir include logfile loglevel pidfile protected-mode rename-command
			replicaof requirepass slaveof supervised syslog-enabled tls-port unixsocket user`,
	},
	driver: ({ socket: _, ...own }) => own,
	check: (options, place) => ({
		...onlyIn("mode", ["streams", "lists"], ["acknowledge", "prefetch"], options),
		...onlyIn("mode", ["streams"], ["claimAfter", "maxLength"], options),
		claimAfter: (options.claimAfter ?? 100e6) < 100e6 && "claimAfter must be at least 100ms",
		...(options.mode === "lists" &&
			unacknowledged("Redis lists", options.acknowledge, { batch: SINGLE, interval: SINGLE })),
		socket:
			options.socket === true &&
			(place !== "process"
				? "socket needs target: local; for your own server write url: unix:///path"
				: (options.nodes ?? 1) > 1 && "nodes of a cluster have no socket; remove socket"),
	}),
	// The benchmark's driver writes to streams.
	omb: {
		packages: ["redis"],
		system: { broker: "redis", mode: "streams" },
		keys: {
			redisHost: (servers) => ({ at: { servers } }),
			redisPort: (port) => ({ at: { port } }),
		},
	},
});

// --- internal ---

const SINGLE = "messages leave a list one by one";

/** Stream readers each have a position; other consumers that do not acknowledge lose the messages they hold. */
function promises(mode: Mode, written: Acknowledge | undefined) {
	const of = (way: Acknowledge): Delivery =>
		way === "automatic" ? "at-most-once" : "at-least-once";
	const { alone, group } = acknowledges(mode === "pubsub" ? "automatic" : written);
	const streams = mode === "streams";
	return {
		acknowledge: { alone: streams ? "automatic" : alone, group },
		delivery: of(group),
		deliveryAlone: streams ? "at-least-once" : of(alone),
	} as const;
}

/** A running cluster's file of its nodes, from which a new one works at once. */
function membersText(nodes: readonly Site[], ids: readonly string[], own: number): string {
	const lines = nodes.map(({ ip, ports: [port = 0, bus] }, i) => {
		const [from = 0, end = 0] = [i, i + 1].map((k) => Math.round((k * SLOTS) / nodes.length));
		const flags = i === own ? "myself,master" : "master";
		return `${ids[i]} ${hostPort(ip, port)}@${bus} ${flags} - 0 0 ${i + 1} connected ${from}-${end - 1}\n`;
	});
	return `${lines.join("")}vars currentEpoch ${nodes.length} lastVoteEpoch 0\n`;
}

const STREAMS = "write mode: streams";
const PUBSUB = ["a key for each connection would be measured too", "write mode: pubsub"] as const;

const byMode = {
	pubsub: {
		title: "Redis pub/sub",
		// PUBLISH returns the number of receivers, even 0, which promises nothing.
		acks: false,
		wildcards: true,
		dials: true,
		cannot: { backlog: "it stores nothing", "work-queue": "every subscriber gets every message" },
		instead: STREAMS,
	},
	streams: { title: "Redis streams", acks: true, keys: true, cannot: { connect: PUBSUB } },
	lists: {
		title: "Redis lists",
		acks: true,
		cannot: { "fan-out": "each message of a list goes to one consumer", connect: PUBSUB },
		instead: STREAMS,
	},
} as const satisfies Record<Mode, OwnTraits>;
