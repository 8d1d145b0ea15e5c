import { z } from "zod";
import defaults from "../../../extensions/xk6-amqp/defaults.json" with { type: "json" };
import { count } from "../../model/field.ts";
import type { Level } from "../../model/plan.ts";
import { broker, storesBy, storesNothing } from "../broker.ts";
import { processFields, tlsField } from "../fields.ts";
import { heapField } from "../jvm.ts";
import type { Mapping } from "../omb-driver.ts";
import { amqpSettings, LEVELS, type ServerName, SYNC, server } from "./process.ts";

const AmqpOptions = z.strictObject({
	broker: z.literal("amqp").meta({
		description:
			"AMQP 1.0: ActiveMQ Artemis, ActiveMQ Classic, or any other server (`target: existing`). RabbitMQ's own protocol is AMQP 0.9.1: `broker: rabbitmq`.",
	}),
	server: z
		.enum(["artemis", "classic"])
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
		`Most messages that a consumer holds and has not accepted (its link credit). 1 spreads slow work best. Default: ${defaults.prefetch}.`,
		1_000_000,
		[1],
	).optional(),
	...heapField("the servers' own scripts give 1GiB or 2GiB at most"),
	...processFields,
	...tlsField,
});

/** ActiveMQ Classic's frames; Artemis has no limit. */
const MAX_MESSAGE_BYTES = 100 * 1024 ** 2 - 1024;

/** Artemis speaks all its protocols at one port; that of Classic's address speaks OpenWire. A JSON of another server's settings is not an address. */
const address: Mapping = (servers, other) => {
	if (!/^\(?\w+:\/\//.test(servers)) return undefined;
	const classic = /activemq(?!\.artemis)/i.test(other("connectionFactoryClassName"));
	return classic
		? { at: { servers: servers.replaceAll(/:\d+(?=[,/?)]|$)/g, "") }, partly: true }
		: { at: { servers } };
};

export const amqp = broker(AmqpOptions, {
	title: "AMQP 1.0",
	alsoCalled: {
		artemis: "{ broker: amqp }",
		activemq: "{ broker: amqp, server: classic }",
		"amqp-1.0": "{ broker: amqp }",
		qpid: "{ broker: amqp } with target: existing",
	},
	urlSchemes: ["amqp", "amqps"],
	defaultPort: 5672,
	otherPorts: { amqps: 5671 },
	server,
	traits: ({ server, destination, settled, prefetch = defaults.prefetch }) => ({
		title: destination === "topic" ? "AMQP 1.0 topics" : "AMQP 1.0",
		acks: !settled,
		delivery: settled ? "at-most-once" : "at-least-once",
		// Every receiver accepts; the server waits for it.
		acknowledge: "message",
		maxMessageBytes: server === "classic" ? MAX_MESSAGE_BYTES : null,
		cannot: {
			...UNABLE[destination].cannot,
			...(settled && { publish: "nothing is acknowledged" }),
		},
		instead: { ...UNABLE[destination].instead, ...(settled && { publish: "remove settled" }) },
		prefetch,
		jvm: true,
	}),
	stores({ server, destination, settled }) {
		if (destination === "topic") return storesNothing("a topic keeps nothing");
		if (settled) return storesNothing("messages are sent settled, and nobody acknowledges them");
		return STORES[server];
	},
	driver: ({ server: _, ...own }) => own,
	config: ({ server }) => CONFIG[server],
	check({ server, config = {} }, place) {
		if (server === "artemis") return {};
		const other = Object.keys(config).find((key) => !/^(broker|kahaDB)\.\w+$/.test(key));
		return {
			config:
				other !== undefined &&
				`config of ActiveMQ Classic is an attribute, broker.NAME or kahaDB.NAME; ${JSON.stringify(other)} is neither`,
			server:
				place === "container" &&
				"only artemis runs in containers here; remove server, or write target: local",
		};
	},
	// Its drivers for Artemis and JMS, which speak protocols of their own to servers that speak AMQP 1.0, too.
	omb: {
		packages: ["artemis", "jms"],
		system: { broker: "amqp" },
		copied: { destination: "topic" },
		keys: { brokerAddress: address, connectionFactoryConfigurationParam: address },
	},
});

// --- internal ---

/** What each kind of destination cannot do, and what could be written instead. */
const UNABLE = {
	queue: {
		cannot: { "fan-out": "a queue gives each message to one consumer" },
		instead: { "fan-out": "write destination: topic" },
	},
	topic: {
		cannot: {
			"work-queue": "a topic has no groups",
			backlog: "a topic keeps nothing",
			"request-reply": "a topic has no groups",
		},
		instead: {
			"work-queue": "write destination: queue",
			backlog: "write destination: queue",
			"request-reply": "write destination: queue",
		},
	},
} as const;

/** Where each server listens and keeps its files. */
const CONFIG = {
	artemis: {
		file: "broker.xml",
		reserved: `name acceptors connectors security-enabled cluster-user cluster-password security-settings
			journal-directory bindings-directory paging-directory large-messages-directory persistence-enabled core`,
	},
	classic: {
		file: "activemq.xml",
		reserved: `kahadb.directory broker.brokername broker.datadirectory broker.usejmx broker.persistent broker.plugins`,
	},
};

const NOT_DURABLE = "messages that are not durable";

/** What is in queues. At `memory` messages are not durable (null), which is the driver's to say. */
function stores(server: ServerName) {
	const key = SYNC[server];
	const levels = Object.entries(LEVELS[server]) as [Level, string | boolean][];
	const textOf = (value: unknown) => (value === null ? NOT_DURABLE : `${key}: ${value}`);
	return storesBy<unknown>({
		own: `fsync (${textOf(LEVELS[server].fsync)}, its default)`,
		ownLevel: "fsync",
		unknown: "durable messages; more is not known (your server)",
		levels: { memory: null, ...LEVELS[server] },
		decides: (one) => one === key,
		settings: (level, config) =>
			level === "memory" ? null : amqpSettings(server, level, config)[key],
		levelOf: (value) =>
			value === null
				? "memory"
				: (levels.find(([, one]) => String(one) === String(value))?.[0] ?? null),
		textOf,
	});
}

const STORES = { artemis: stores("artemis"), classic: stores("classic") };
