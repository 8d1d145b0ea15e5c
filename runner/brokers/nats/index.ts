import { z } from "zod";
import defaults from "../../../extensions/xk6-nats/defaults.json" with { type: "json" };
import { count, span } from "../../model/field.ts";
import type { Level } from "../../model/plan.ts";
import { formatDurationExact } from "../../units.ts";
import { broker, storesBy, storesNothing } from "../broker.ts";
import { sizeInConfig } from "../config.ts";
import {
	acknowledgeField,
	clusterFields,
	onlyIn,
	processFields,
	tlsField,
	unacknowledged,
} from "../fields.ts";
import { type Mapping, replicas } from "../omb-driver.ts";
import { HEADERS, inServersWords, SYNC, SYNC_KEY, server, wordOf } from "./process.ts";

const NatsOptions = z.strictObject({
	broker: z.literal("nats").meta({
		description: "NATS: core (publish and subscribe, nothing is stored) or JetStream, see `mode`.",
	}),
	mode: z.enum(["core", "jetstream"]).default("core").meta({
		description:
			"`core`: publish and subscribe, nothing is stored or acknowledged. `jetstream`: each topic is a stream, each message is stored and acknowledged.",
	}),
	...processFields,
	...clusterFields,
	...tlsField,
	auth: z.enum(["user", "token", "creds"]).optional().meta({
		description:
			"Where the secret is, if not in the url: `user`: NATS_USER and NATS_PASSWORD; `token`: NATS_TOKEN; `creds`: the file that NATS_CREDS names. Environment variables, all of them.",
	}),
	storage: z.enum(["memory", "file"]).optional().meta({
		description: "JetStream: where streams are. Default: file; memory with `durability: memory`.",
	}),
	publish: z.enum(["async", "sync"]).optional().meta({
		description:
			"JetStream: `async` (default) sends on while acknowledgements are outstanding; `sync` waits for each one before a connection sends the next message.",
	}),
	consumer: z.enum(["pull", "push", "ordered"]).optional().meta({
		description:
			"JetStream: how messages are taken. Default: `pull` for groups (work-queue, backlog, responders), `ordered` where every subscriber gets every message.",
	}),
	...acknowledgeField,
	dedup: z.boolean().optional().meta({
		description:
			"JetStream: every message carries an id (Nats-Msg-Id), by which the server drops what is sent twice within 2 minutes. Default: false.",
	}),
	maxAckPending: count(
		`JetStream: most messages of a consumer that are delivered and not acknowledged. Default: ${defaults.maxAckPending}, the server's own.`,
		10_000_000,
		[1000],
	).optional(),
	prefetch: count(
		`JetStream, pull: most messages that one member has asked for. Default: ${defaults.prefetch}, the library's own.`,
		1_000_000,
		[500],
	).optional(),
	ackWait: span(
		`JetStream: how long a consumer may take for a message, waiting in its prefetch included, before it is delivered again. Default: ${formatDurationExact(defaults.ackWaitNs)}, the server's own.`,
		["30s", "5min"],
		"above 0",
	).optional(),
});
type NatsOptions = z.infer<typeof NatsOptions>;

/** As mqbench sets the server up: it raises max_payload as far as nats-server itself finds reasonable. */
const MAX_MESSAGE_BYTES = 8 * 1024 ** 2;

/** Of streams in files; null: they are in memory. */
type Sync = string | number | boolean | null;
const textOf = (sync: Sync) =>
	sync === null ? "storage: memory" : `storage: file, sync_interval: ${sync}`;
const OWN = "interval 2m (default)";
const inFiles = {
	...storesBy<Sync>({
		own: OWN,
		ownLevel: "interval",
		unknown: "not known (storage: file, your server)",
		levels: { memory: null, ...SYNC },
		decides: (key) => wordOf(key) === SYNC_KEY,
		settings: (level, config) =>
			inServersWords(config)[SYNC_KEY] ?? (level && level !== "memory" ? SYNC[level] : null),
		levelOf,
		textOf,
	}),
	own: OWN,
};
/** The driver makes streams so, on whoever's server. */
const inMemory = {
	...storesBy({
		own: "memory (storage: memory)",
		levels: { memory: textOf(null) },
		byDriver: true,
	}),
	levels: inFiles.levels,
};

const storage: Mapping = (where) => {
	if (/^memory$/i.test(where)) return { durability: "memory" };
	return /^file$/i.test(where) ? null : undefined;
};

export const nats = broker(NatsOptions, {
	title: "NATS",
	alsoCalled: {
		jetstream: "{ broker: nats, mode: jetstream }",
		"nats-jetstream": "{ broker: nats, mode: jetstream }",
	},
	urlSchemes: ["nats", "tls", "ws", "wss"],
	defaultPort: 4222,
	otherPorts: { ws: 80, wss: 443 },
	secretEnv: ["NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_CREDS"],
	server,
	traits: (options) => ({
		maxMessageBytes: maxMessageBytes(options),
		nodes: [1, 3],
		...(options.mode === "core" ? CORE : jetstream(options)),
	}),
	stores(options) {
		if (options.mode === "core") return storesNothing();
		return storageOf(options) === "file" ? inFiles : inMemory;
	},
	driver: ({ acknowledge: _, ...own }, options) =>
		options.mode === "core"
			? own
			: { ...own, storage: storageOf(options), consumer: consumerOf(options) },
	topicOptions: ["storage"],
	// Where nodes are and keep their streams, who they are, and where they write what mqbench reads.
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
		const { mode, durability, storage, consumer, acknowledge, prefetch } = options;
		if (mode === "core") return onlyIn(["jetstream"], OF_JETSTREAM, options);
		const contradicts =
			durability !== undefined && (durability === "memory") !== (storage === "memory");
		return {
			...unacknowledged("JetStream", acknowledge, {
				...UNACKNOWLEDGED,
				...(consumer === "ordered" && { message: "an ordered consumer has none" }),
			}),
			storage:
				storage !== undefined &&
				contradicts &&
				`storage: ${storage} contradicts durability: ${durability}; remove storage`,
			prefetch:
				prefetch !== undefined &&
				consumer === "push" &&
				"prefetch needs consumer: pull; with push write maxAckPending",
		};
	},
	// Its NATS driver publishes to JetStream.
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
	acks: false,
	delivery: "at-most-once",
	acknowledge: "automatic",
	wildcards: true,
	cannot: { publish: "it acknowledges nothing", backlog: "it stores nothing" },
	instead: { publish: "write mode: jetstream", backlog: "write mode: jetstream" },
} as const;

function jetstream(options: NatsOptions) {
	const {
		consumer,
		maxAckPending = defaults.maxAckPending,
		prefetch = defaults.prefetch,
	} = options;
	const shared = (what: string) =>
		consumer === "ordered" ? { "request-reply": what, "work-queue": what, backlog: what } : {};
	return {
		title: "JetStream",
		acks: true,
		delivery: "at-least-once",
		acknowledge: {
			alone: (consumerOf(options) ?? "ordered") === "ordered" ? "automatic" : "message",
			group: "message",
		},
		cannot: shared("an ordered consumer cannot be shared"),
		instead: shared("write consumer: pull"),
		prefetch: consumer === "push" ? maxAckPending : prefetch,
		redeliverAfterNs: options.ackWait ?? defaults.ackWaitNs,
		maxReplicas: 5,
	} as const;
}

/** Pull consumers acknowledge each message, ordered ones none. */
function consumerOf({ consumer, acknowledge }: NatsOptions) {
	return consumer ?? (acknowledge === undefined ? undefined : "pull");
}

/** Headers count towards max_payload; without `config` mqbench makes room for them. */
function maxMessageBytes({ config, dedup }: NatsOptions): number {
	const most = sizeInConfig(inServersWords(config).max_payload);
	return most === null ? MAX_MESSAGE_BYTES : most - (dedup ? HEADERS : 0);
}

function storageOf(options: NatsOptions): "memory" | "file" {
	return options.storage ?? (options.durability === "memory" ? "memory" : "file");
}

const SEVERAL = "an acknowledgement for several would cover those of other members";
const UNACKNOWLEDGED = {
	automatic: "a group's consumer waits for acknowledgements",
	batch: SEVERAL,
	interval: SEVERAL,
};

const OF_JETSTREAM =
	"storage publish consumer acknowledge dedup maxAckPending prefetch ackWait".split(" ");

/** A day and more is never, in a run. A number stands for seconds. null: the server will refuse it. */
function levelOf(sync: Sync): Level | null {
	if (/^always$/i.test(String(sync))) return "fsync";
	if (sync !== null && !/^\d/.test(String(sync))) return null;
	const hours = typeof sync === "number" ? sync / 3600 : Number(/^(\d+)h/.exec(String(sync))?.[1]);
	return hours >= 24 ? "os" : "interval";
}
