import type { Level } from "../../model/plan.ts";
import { broker, declared, durabilityBy, traits } from "../broker.ts";
import { driverTls } from "../fields.ts";
import { lookForJava, OLDEST_JAVA } from "../java.ts";
import type { Mapping } from "../omb-driver.ts";
import { AmqpOptions, type Server } from "./options.ts";
import { amqpSettings, image, jarsOf, LEVELS, process, SYNC } from "./process.ts";

/** As the driver sets it (xk6-amqp/options.go). */
const PREFETCH = 100;
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
	traits({ server, destination, settled, prefetch }) {
		const none = storesNothing({ destination, settled });
		const { own, levels } = STORES[server];
		return traits({
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
			levels: none ? {} : { memory: NOT_DURABLE, ...levels },
			ownDurability: none ? `none, ${none}` : `the server's own; one that mqbench starts: ${own}`,
			prefetch: prefetch ?? PREFETCH,
			jvm: true,
		});
	},
	driverOptions: ({ destination, settled, prefetch, tls }) => ({
		destination,
		settled,
		prefetch,
		tls: driverTls(tls),
	}),
	durability(options, ours) {
		const none = storesNothing(options);
		if (none !== null) return { level: null, text: `none, ${none}`, by: [] };
		if (options.durability === "memory")
			return ours
				? { level: "memory", text: `${NOT_DURABLE} (memory)`, by: [] }
				: declared("memory", NOT_DURABLE);
		return STORES[options.server].durability(options, ours);
	},
	config: ({ server }) => CONFIG[server],
	check({ server, config, version, binary }, place, wrong) {
		for (const key of Object.keys(config ?? {}))
			if (server === "classic" && !/^(broker|kahaDB)\.\w+$/.test(key))
				wrong(
					"config",
					`config of ActiveMQ Classic is an attribute, broker.NAME or kahaDB.NAME; ${JSON.stringify(key)} is neither`,
				);
		if (place === "container" && server !== "artemis")
			wrong(
				"server",
				"only artemis runs in containers here; remove server, or write target: local",
			);
		if (version !== undefined && binary !== undefined)
			wrong("version", "binary has a version of its own; remove one of the two");
	},
	process,
	image,
	install: {
		from: `Java ${OLDEST_JAVA} or newer, and Maven (ActiveMQ Artemis or Classic); or \`binary: /opt/activemq\``,
		look: lookForJava("ActiveMQ", 20),
	},
	jars: Object.values(jarsOf),
	// Its drivers for Artemis and JMS, which speak protocols of their own to servers that speak AMQP 1.0, too.
	omb: {
		packages: ["artemis", "jms"],
		system: { broker: "amqp" },
		copied: { destination: "topic" },
		keys: { brokerAddress: address, connectionFactoryConfigurationParam: address },
	},
});

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

/** What is in queues. At `memory` messages are not durable, which is the driver's to say. */
function stores(server: Server) {
	const key = SYNC[server];
	const settingOf = (value: unknown) => `${key}: ${value}`;
	const own = `fsync (${settingOf(LEVELS[server].fsync)}, its default)`;
	const ofLevels = Object.entries(LEVELS[server]) as [Level, string | boolean][];
	return {
		own,
		...durabilityBy<unknown>({
			own,
			ownLevel: "fsync",
			unknown: "durable messages; more is not known (your server)",
			levels: LEVELS[server],
			decides: (one) => one === key,
			settings: (level, config) => amqpSettings(server, level, config)[key],
			levelOf: (value) => ofLevels.find(([, one]) => String(one) === String(value))?.[0] ?? null,
			textOf: settingOf,
		}),
	};
}

const STORES = { artemis: stores("artemis"), classic: stores("classic") };

/** Why nothing that is acknowledged waits anywhere; null: it does. */
function storesNothing({ destination, settled }: Pick<AmqpOptions, "destination" | "settled">) {
	if (destination === "topic") return "a topic keeps nothing";
	return settled ? "messages are sent settled, and nobody acknowledges them" : null;
}
