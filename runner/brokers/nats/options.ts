import { z } from "zod";
import { count, span } from "../../model/field.ts";
import type { BrokerPlace } from "../../model/targets.ts";
import { type BrokerOptions, type Traits, traits } from "../broker.ts";
import { configProblems, reserved } from "../config.ts";
import {
	acknowledgeField,
	acknowledgeProblems,
	clusterFields,
	defined,
	driverTls,
	processFields,
	tlsField,
	versionProblems,
} from "../fields.ts";
import { sizeInConfig } from "../size-limits.ts";
import { inServersWords, levelTexts, natsDurability, OWN } from "./durability.ts";

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
		"JetStream: most messages of a consumer that are delivered and not acknowledged. Default: 1000, the server's own.",
		10_000_000,
		[1000],
	).optional(),
	prefetch: count(
		"JetStream, pull: most messages that one member has asked for. Default: 500, the library's own.",
		1_000_000,
		[500],
	).optional(),
	ackWait: span(
		"JetStream: how long a consumer may take for a message, waiting in its prefetch included, before it is delivered again. Default: 30s, the server's own.",
		["30s", "5min"],
		"above 0",
	).optional(),
});
export type NatsOptions = z.infer<typeof NatsOptions>;

export const nats = {
	options: NatsOptions,
	alsoCalled: {
		jetstream: "{ broker: nats, mode: jetstream }",
		"nats-jetstream": "{ broker: nats, mode: jetstream }",
	},
	urlSchemes: ["nats", "tls", "ws", "wss"],
	defaultPort: 4222,
	otherPorts: { ws: 80, wss: 443 },
	urlEnv: "MQBENCH_URL",
	secretEnv: ["NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_CREDS"],
	traits: (options) => (options.mode === "jetstream" ? jetstream(options) : core(options)),
	driverOptions: (options) =>
		defined({
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
	durability: (options, ours) =>
		options.mode === "jetstream"
			? natsDurability(options, storageOf(options), ours)
			: { level: null, text: core(options).ownDurability, by: [] },
	topicOptions: ["storage"],
	contradictions,
} as const satisfies BrokerOptions<NatsOptions>;

// --- internal ---

/** As mqbench sets the server up: it raises max_payload as far as nats-server itself finds reasonable. */
const MAX_MESSAGE_BYTES = 8 * 1024 ** 2;
/** Room for headers (of deduplication) beside the payload. */
export const HEADERS = 4096;

/** Where nodes are and keep their streams, who they are, and where they write what mqbench reads. */
const CONFIG = {
	file: "nats.conf",
	reserved: {
		port: "write port beside config",
		...reserved(
			"listen",
			"host",
			"net",
			"client_advertise",
			"server_name",
			"http",
			"https",
			"http_port",
			"https_port",
			"monitor_port",
			"http_base_path",
			"prof_port",
			"include",
			"store_dir",
			"storedir",
			"jetstream",
			"jetstream.store_dir",
			"jetstream.storedir",
			"jetstream.enabled",
			"jetstream.enable",
			"cluster",
			"cluster.name",
			"cluster.listen",
			"cluster.host",
			"cluster.net",
			"cluster.port",
			"cluster.routes",
			"cluster.advertise",
			"cluster.cluster_advertise",
			"cluster.authorization.*",
			"gateway.*",
			"leaf.*",
			"leafnodes.*",
			"websocket.*",
			"ws.*",
			"mqtt.*",
			"logfile",
			"log_file",
			"syslog",
			"remote_syslog",
			"pidfile",
			"pid_file",
			"ports_file_dir",
		),
	},
};

/** As the driver sets them (xk6-nats/options.go). */
const PREFETCH = 500;
const MAX_ACK_PENDING = 1000;
const ACK_WAIT_NS = 30e9;

function core(options: NatsOptions): Traits {
	return traits({
		...common(options),
		title: "NATS core",
		acks: false,
		delivery: "at-most-once",
		acknowledge: { alone: "automatic", group: "automatic" },
		wildcards: true,
		cannot: { publish: "it acknowledges nothing", backlog: "it stores nothing" },
		instead: { publish: "write mode: jetstream", backlog: "write mode: jetstream" },
		ownDurability: "none, nothing is stored",
	});
}

function jetstream(options: NatsOptions): Traits {
	const shared = (what: string) =>
		options.consumer === "ordered"
			? { "request-reply": what, "work-queue": what, backlog: what }
			: {};
	return traits({
		...common(options),
		title: "JetStream",
		acks: true,
		delivery: "at-least-once",
		acknowledge: {
			alone: (consumerOf(options) ?? "ordered") === "ordered" ? "automatic" : "message",
			group: "message",
		},
		cannot: shared("an ordered consumer cannot be shared"),
		instead: shared("write consumer: pull"),
		levels: levelTexts,
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

function common(options: NatsOptions) {
	return {
		maxMessageBytes: maxMessageBytes(options),
		nodes: [1, 3],
	};
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

function contradictions(
	options: NatsOptions,
	place: BrokerPlace | null,
): { key: string; message: string }[] {
	const problems = [
		...configProblems(options.config, CONFIG),
		...versionProblems(options, place, "nats-server"),
	];
	const wrong = (key: string, message: string) => problems.push({ key, message });
	if (options.mode === "core") {
		for (const key of OF_JETSTREAM)
			if (options[key] !== undefined) wrong(key, `${key} needs mode: jetstream; this mode is core`);
		return problems;
	}
	const several = "an acknowledgement for several would cover those of other members";
	for (const one of acknowledgeProblems(options, "JetStream", {
		automatic: "a group's consumer waits for acknowledgements",
		batch: several,
		interval: several,
		...(options.consumer === "ordered" && { message: "an ordered consumer has none" }),
	}))
		problems.push(one);
	const { durability, storage } = options;
	if (storage === "file" && durability === "memory")
		wrong("storage", "storage: file contradicts durability: memory; remove storage");
	if (storage === "memory" && durability !== undefined && durability !== "memory")
		wrong("storage", `storage: memory contradicts durability: ${durability}; remove storage`);
	if (options.prefetch !== undefined && options.consumer === "push")
		wrong("prefetch", "prefetch needs consumer: pull; with push write maxAckPending");
	return problems;
}
