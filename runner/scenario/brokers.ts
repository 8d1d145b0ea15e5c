import { z } from "zod";

/** What may be promised of each message, and of the messages of one producer. */
export const Delivery = z.enum([
	"at-most-once",
	"at-least-once",
	"exactly-once",
]);
export type Delivery = z.infer<typeof Delivery>;
export const Order = z.enum(["none", "per-producer"]);
export type Order = z.infer<typeof Order>;

/**
 * The systems that mqbench can measure. A new one is a member here, a driver in `extensions/` and a file in
 * `infra/brokers/`, all under the same word.
 */
export interface Broker {
	/** For people: "NATS core". */
	readonly title: string;
	/** What it promises about stored messages, for people. */
	readonly durability: string;
	/** True when it confirms each message to the sender: only then does `ack` exist. */
	readonly acks: boolean;
	/** What it promises of each message, and of the messages of one producer. */
	readonly delivery: Delivery;
	readonly order: Order;
	/** Largest message that its default settings take; null: no limit. */
	readonly maxMessageBytes: number | null;
	/** Schemes of its URLs, the usual one first; empty: it has no process and no URL. */
	readonly urlSchemes: readonly string[];
	/** Environment variable by which the driver gets the URL, password included. */
	readonly urlEnv: string;
}

/** How a scenario names an environment variable. */
export function variable(name: string): string {
	return `\${${name}}`;
}

const url = z
	.string()
	.min(1)
	.meta({
		description: `Address of an existing broker (\`target: existing\`). \`${variable("NAME")}\` stands for an environment variable: passwords belong there, never in the file.`,
		examples: ["nats://10.0.0.5:4222", variable("NATS_URL")],
	});
const port = z
	.int()
	.min(1)
	.max(65_535)
	.meta({
		description:
			"Port of the broker that mqbench starts (`target: local`). Default: a free one.",
		examples: [4222],
	});

export const brokers = {
	nats: {
		title: "NATS core",
		durability: "none, nothing is stored",
		acks: false,
		delivery: "at-most-once",
		order: "per-producer",
		maxMessageBytes: 1024 ** 2,
		urlSchemes: ["nats", "tls", "ws", "wss"],
		urlEnv: "MQBENCH_URL",
	},
	noop: {
		title: "No broker",
		durability: "none, nothing is stored",
		acks: false,
		delivery: "at-most-once",
		order: "per-producer",
		maxMessageBytes: null,
		urlSchemes: [],
		urlEnv: "MQBENCH_URL",
	},
} as const satisfies Record<string, Broker>;

export type BrokerName = keyof typeof brokers;
export const BrokerName = z.enum(
	Object.keys(brokers) as [BrokerName, ...BrokerName[]],
);

/** What a scenario may say about a system of each kind. */
export const SystemOptions = z.discriminatedUnion("broker", [
	z.strictObject({
		broker: z.literal("nats").meta({
			description: "NATS core: publish and subscribe, nothing is stored.",
		}),
		url: url.optional(),
		port: port.optional(),
	}),
	z.strictObject({
		broker: z.literal("noop").meta({
			description:
				"No broker: every message completes at once. Shows the floor of the generator itself.",
		}),
	}),
]);
export type SystemOptions = z.infer<typeof SystemOptions>;
