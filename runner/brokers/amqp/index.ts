import { z } from "zod";
import defaults from "../../../extensions/xk6-amqp/defaults.json" with { type: "json" };
import { choice, count, flag, named } from "../../model/field.ts";
import { broker, storesNothing } from "../broker.ts";
import { processFields, tlsField } from "../fields.ts";
import { heapField } from "../jvm.ts";
import { SERVERS, server } from "./process.ts";

const AmqpOptions = z.strictObject({
	broker: named(
		"amqp",
		"AMQP 1.0: ActiveMQ Artemis or Classic, or any other server (`target: existing`). For RabbitMQ's AMQP 0.9.1 write `broker: rabbitmq`.",
	),
	server: choice(["artemis", "classic"], "The server that mqbench starts.").default("artemis"),
	destination: choice(
		["queue", "topic"],
		"`queue`: keeps messages and gives each to one consumer; `topic`: copies each to all subscribers and keeps nothing.",
	).default("queue"),
	settled: flag("`true`: send messages settled, without acknowledgements.").default(false),
	prefetch: count(
		`Most unaccepted messages of a consumer (its link credit); 1 spreads slow work best. Default: ${defaults.prefetch}.`,
		1_000_000,
		[1],
	).optional(),
	...heapField,
	...processFields,
	...tlsField,
});

export const amqp = broker(AmqpOptions, {
	title: "AMQP 1.0",
	alsoCalled: {
		artemis: "{ broker: amqp }",
		activemq: "{ broker: amqp, server: classic }",
		"amqp-1.0": "{ broker: amqp }",
		qpid: "{ broker: amqp } with target: existing",
	},
	urls: { amqp: 5672, amqps: 5671 },
	server,
	traits: ({ server, destination, settled, prefetch = defaults.prefetch }) => ({
		title: destination === "topic" ? "AMQP 1.0 topics" : "AMQP 1.0",
		acks: !settled,
		delivery: settled ? "at-most-once" : "at-least-once",
		// Every receiver accepts, and the server waits for it.
		acknowledge: "message",
		maxMessageBytes: SERVERS[server].maxMessageBytes,
		cannot: UNABLE[destination],
		instead: "remove settled",
		prefetch,
		jvm: true,
	}),
	stores({ server, destination, settled }) {
		if (destination === "topic") return storesNothing("a topic keeps nothing");
		if (settled) return storesNothing("messages are sent settled, without acknowledgements");
		return SERVERS[server].stores;
	},
	driver: ({ server: _, ...own }) => own,
	configExample: { "journal-buffer-timeout": 0 },
	config: ({ server }) => SERVERS[server].config,
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
	// The benchmark's driver speaks Artemis's own protocol, at the same port.
	omb: {
		packages: ["artemis"],
		system: { broker: "amqp" },
		copied: { destination: "topic" },
		keys: { brokerAddress: (servers) => ({ at: { servers } }) },
	},
});

// --- internal ---

const QUEUE = "write destination: queue";
const UNABLE = {
	queue: { "fan-out": ["a queue gives each message to one consumer", "write destination: topic"] },
	topic: {
		"work-queue": ["a topic has no groups", QUEUE],
		backlog: ["a topic keeps nothing", QUEUE],
		"request-reply": ["a topic has no groups", QUEUE],
	},
} as const;
