import type { Level } from "../../model/plan.ts";
import { broker, brought, durabilityBy, type Traits, traits } from "../broker.ts";
import { checkAcknowledge, driverTls } from "../fields.ts";
import { type Mapping, replicas } from "../omb-driver.ts";
import { sizeInConfig } from "../size-limits.ts";
import { NatsOptions } from "./options.ts";
import { HEADERS, image, inServersWords, process, SYNC, SYNC_KEY, wordOf } from "./process.ts";

const PROGRAM = {
	name: "nats-server",
	module: "servers/nats-server",
	package: "github.com/nats-io/nats-server/v2",
};

/** As mqbench sets the server up: it raises max_payload as far as nats-server itself finds reasonable. */
const MAX_MESSAGE_BYTES = 8 * 1024 ** 2;

/** As the driver sets them (xk6-nats/options.go). */
const PREFETCH = 500;
const MAX_ACK_PENDING = 1000;
const ACK_WAIT_NS = 30e9;

const OWN = "interval 2m (default)";
const NOTHING = "none, nothing is stored";

/** Of streams in files; null: they are in memory. */
type Sync = string | number | boolean | null;
const textOf = (sync: Sync) =>
	sync === null ? "storage: memory" : `storage: file, sync_interval: ${sync}`;
const ofFiles = durabilityBy<Sync>({
	own: OWN,
	ownLevel: "interval",
	unknown: "not known (storage: file, your server)",
	levels: { memory: null, ...SYNC },
	decides: (key) => wordOf(key) === SYNC_KEY,
	settings: (level, config) =>
		inServersWords(config)[SYNC_KEY] ?? (level && level !== "memory" ? SYNC[level] : null),
	levelOf,
	textOf,
});

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
	traits: (options) => (options.mode === "jetstream" ? jetstream(options) : core(options)),
	driverOptions: (options) => ({
		mode: options.mode,
		tls: driverTls(options.tls),
		auth: options.auth,
		...(options.mode === "core"
			? {}
			: {
					storage: storageOf(options),
					publish: options.publish,
					consumer: consumerOf(options),
					dedup: options.dedup,
					maxAckPending: options.maxAckPending,
					prefetch: options.prefetch,
					ackWaitNs: options.ackWait,
				}),
	}),
	durability(options, ours) {
		if (options.mode === "core") return { level: null, text: NOTHING, by: [] };
		if (storageOf(options) === "file") return ofFiles.durability(options, ours);
		const text = options.durability === undefined ? "memory (storage: memory)" : IN_MEMORY;
		return { level: "memory", text, by: [] };
	},
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
	oneVersion: { program: "nats-server" },
	check(options, _, wrong) {
		const { durability, storage } = options;
		if (options.mode === "core") {
			for (const key of OF_JETSTREAM)
				if (options[key] !== undefined)
					wrong(key, `${key} needs mode: jetstream; this mode is core`);
			return;
		}
		const several = "an acknowledgement for several would cover those of other members";
		const cannot = {
			automatic: "a group's consumer waits for acknowledgements",
			batch: several,
			interval: several,
			...(options.consumer === "ordered" && { message: "an ordered consumer has none" }),
		};
		checkAcknowledge(options, "JetStream", cannot, wrong);
		if (storage === "file" && durability === "memory")
			wrong("storage", "storage: file contradicts durability: memory; remove storage");
		if (storage === "memory" && durability !== undefined && durability !== "memory")
			wrong("storage", `storage: memory contradicts durability: ${durability}; remove storage`);
		if (options.prefetch !== undefined && options.consumer === "push")
			wrong("prefetch", "prefetch needs consumer: pull; with push write maxAckPending");
	},
	process,
	image,
	program: PROGRAM,
	install: brought(PROGRAM, " (core and JetStream)"),
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

const IN_MEMORY = "storage: memory (memory)";

function core(options: NatsOptions): Traits {
	return traits({
		maxMessageBytes: maxMessageBytes(options),
		nodes: [1, 3],
		title: "NATS core",
		acks: false,
		delivery: "at-most-once",
		acknowledge: { alone: "automatic", group: "automatic" },
		wildcards: true,
		cannot: { publish: "it acknowledges nothing", backlog: "it stores nothing" },
		instead: { publish: "write mode: jetstream", backlog: "write mode: jetstream" },
		ownDurability: NOTHING,
	});
}

function jetstream(options: NatsOptions): Traits {
	const shared = (what: string) =>
		options.consumer === "ordered"
			? { "request-reply": what, "work-queue": what, backlog: what }
			: {};
	return traits({
		maxMessageBytes: maxMessageBytes(options),
		nodes: [1, 3],
		title: "JetStream",
		acks: true,
		delivery: "at-least-once",
		acknowledge: {
			alone: (consumerOf(options) ?? "ordered") === "ordered" ? "automatic" : "message",
			group: "message",
		},
		cannot: shared("an ordered consumer cannot be shared"),
		instead: shared("write consumer: pull"),
		levels: ofFiles.levels,
		ownDurability: storageOf(options) === "memory" ? "memory (storage: memory)" : OWN,
		prefetch:
			options.consumer === "push"
				? (options.maxAckPending ?? MAX_ACK_PENDING)
				: (options.prefetch ?? PREFETCH),
		redeliverAfterNs: options.ackWait ?? ACK_WAIT_NS,
		maxReplicas: 5,
	});
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

const OF_JETSTREAM = [
	"storage",
	"publish",
	"consumer",
	"acknowledge",
	"dedup",
	"maxAckPending",
	"prefetch",
	"ackWait",
] as const;

/** A day and more is never, in a run. A number stands for seconds. null: the server will refuse it. */
function levelOf(sync: Sync): Level | null {
	if (sync === null) return "interval";
	if (String(sync).toLowerCase() === "always") return "fsync";
	const seconds = typeof sync === "number" ? sync : secondsOf(String(sync));
	if (seconds === null) return null;
	return seconds >= 24 * 3600 ? "os" : "interval";
}

/** "1h30m", as Go reads it. */
function secondsOf(text: string): number | null {
	const UNITS = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };
	if (!/^(\d+(\.\d+)?(h|ms|m|s|us|ns))+$/.test(text)) return null;
	return [...text.matchAll(/([\d.]+)(h|ms|m|s|us|ns)/g)].reduce(
		(sum, [, value, unit]) => sum + Number(value) * UNITS[unit as keyof typeof UNITS],
		0,
	);
}
