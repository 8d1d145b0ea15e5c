import { z } from "zod";
import { count } from "../../model/field.ts";
import type { BrokerPlace } from "../../model/targets.ts";
import { type BrokerOptions, traits } from "../broker.ts";
import { configProblems, reserved } from "../config.ts";
import { defined, driverTls, processFields, tlsField } from "../fields.ts";
import { heapField } from "../java.ts";
import { amqpDurability, levelTexts, ownText, storesNothing } from "./durability.ts";
import { type Server, servers } from "./image.ts";

const AmqpOptions = z.strictObject({
	broker: z.literal("amqp").meta({
		description:
			"AMQP 1.0: ActiveMQ Artemis, ActiveMQ Classic, or any other server (`target: existing`). RabbitMQ's own protocol is AMQP 0.9.1: `broker: rabbitmq`.",
	}),
	server: z
		.enum(servers)
		.default("artemis")
		.meta({ description: "Which one mqbench starts. Default: artemis." }),
	destination: z.enum(["queue", "topic"]).default("queue").meta({
		description:
			"What messages are sent to. A `queue` keeps them, and gives each to one consumer; a `topic` copies them to whoever is subscribed, and keeps nothing. Default: queue.",
	}),
	settled: z
		.boolean()
		.default(false)
		.meta({ description: "Messages are sent settled: nobody acknowledges them. Default: false." }),
	prefetch: count(
		"Most messages that a consumer holds and has not accepted (its link credit). 1 spreads slow work best. Default: 100.",
		1_000_000,
		[1],
	).optional(),
	...heapField("the servers' own scripts give 1GiB or 2GiB at most"),
	...processFields,
	...tlsField,
});
export type AmqpOptions = z.infer<typeof AmqpOptions>;

/** As the driver sets it (xk6-amqp/options.go). */
const PREFETCH = 100;
/** ActiveMQ Classic's frames; Artemis has no limit. */
const MAX_MESSAGE_BYTES = 100 * 1024 ** 2 - 1024;

export const amqp = {
	options: AmqpOptions,
	alsoCalled: {
		artemis: "{ broker: amqp }",
		activemq: "{ broker: amqp, server: classic }",
		"amqp-1.0": "{ broker: amqp }",
		qpid: "{ broker: amqp } with target: existing",
	},
	urlSchemes: ["amqp", "amqps"],
	defaultPort: 5672,
	otherPorts: { amqps: 5671 },
	urlEnv: "MQBENCH_URL",
	secretEnv: [],
	traits: ({ server, destination, settled, prefetch }) =>
		traits({
			title: destination === "topic" ? "AMQP 1.0 topics" : "AMQP 1.0",
			acks: !settled,
			delivery: settled ? "at-most-once" : "at-least-once",
			// Every receiver accepts; the server waits for it.
			acknowledge: { alone: "message", group: "message" },
			maxMessageBytes: server === "classic" ? MAX_MESSAGE_BYTES : null,
			cannot: {
				...(destination === "topic" ? UNSHARED : { "fan-out": ONE }),
				...(settled ? { publish: "nothing is acknowledged" } : {}),
			},
			instead: {
				...(destination === "topic"
					? each(UNSHARED, "write destination: queue")
					: { "fan-out": "write destination: topic" }),
				...(settled ? { publish: "remove settled" } : {}),
			},
			levels: storesNothing({ destination, settled }) ? {} : levelTexts(server),
			ownDurability:
				storesNothing({ destination, settled }) === null
					? `the server's own; one that mqbench starts: ${ownText(server)}`
					: `none, ${storesNothing({ destination, settled })}`,
			prefetch: prefetch ?? PREFETCH,
			jvm: true,
		}),
	driverOptions: ({ destination, settled, prefetch, tls }) =>
		defined({ destination, settled, prefetch, tls: driverTls(tls) }),
	durability: amqpDurability,
	topicOptions: [],
	contradictions,
} as const satisfies BrokerOptions<AmqpOptions>;

// --- internal ---

const ONE = "a queue gives each message to one consumer";
const COPIES = "a topic has no groups";
const UNSHARED = {
	"work-queue": COPIES,
	backlog: "a topic keeps nothing",
	"request-reply": COPIES,
} as const;

function each(patterns: Readonly<Record<string, string>>, what: string) {
	return Object.fromEntries(Object.keys(patterns).map((pattern) => [pattern, what]));
}

/** Where each server listens and keeps its files. */
const CONFIG: Readonly<Record<Server, Parameters<typeof configProblems>[1]>> = {
	artemis: {
		file: "broker.xml",
		reserved: reserved(
			"name",
			"acceptors",
			"connectors",
			"security-enabled",
			"cluster-user",
			"cluster-password",
			"security-settings",
			"journal-directory",
			"bindings-directory",
			"paging-directory",
			"large-messages-directory",
			"persistence-enabled",
			"core",
		),
	},
	classic: {
		file: "activemq.xml",
		reserved: reserved(
			"kahadb.directory",
			"broker.brokername",
			"broker.datadirectory",
			"broker.usejmx",
			"broker.persistent",
			"broker.plugins",
		),
	},
};

function contradictions(
	options: AmqpOptions,
	place: BrokerPlace | null,
): { key: string; message: string }[] {
	const { server, config } = options;
	const problems = configProblems(config, CONFIG[server]);
	const wrong = (key: string, message: string) => problems.push({ key, message });
	for (const key of Object.keys(config ?? {}))
		if (server === "classic" && !/^(broker|kahaDB)\.\w+$/.test(key))
			wrong(
				"config",
				`config of ActiveMQ Classic is an attribute, broker.NAME or kahaDB.NAME; ${JSON.stringify(key)} is neither`,
			);
	if (place === "container" && server !== "artemis")
		wrong("server", "only artemis runs in containers here; remove server, or write target: local");
	if (options.version !== undefined && options.binary !== undefined)
		wrong("version", "binary has a version of its own; remove one of the two");
	return problems;
}
