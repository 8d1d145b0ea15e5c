import { z } from "zod";
import type { Broker } from "../../brokers/broker.ts";
import { processFields } from "../../brokers/fields.ts";

/** The smallest room: what a scenario may say of a broker that only a test knows, and how it would be run. */
export const carrier: Broker = {
	title: "Carrier",
	options: z.strictObject({
		broker: z.literal("carrier").meta({ description: "Pigeons." }),
		...processFields,
		pigeons: z.int().default(3).meta({ description: "How many fly." }),
	}),
	alsoCalled: { pigeon: "carrier" },
	urlSchemes: ["rfc1149"],
	defaultPort: 1149,
	urlEnv: "MQBENCH_URL",
	secretEnv: [],
	traits: () => ({
		title: "Carrier",
		acks: true,
		delivery: "at-least-once",
		acknowledge: { alone: "automatic", group: "message" },
		ordered: true,
		groupOrdered: false,
		keys: false,
		partitions: false,
		groupsByPartition: false,
		keepsOnly: null,
		wildcards: false,
		maxMessageBytes: 256,
		cannot: { "fan-out": "pigeons fly to one loft" },
		levels: { fsync: "on paper" },
		ownDurability: "on paper",
		prefetch: null,
		redeliverAfterNs: null,
		maxReplicas: 1,
		nodes: [1],
	}),
	durability: () => ({ level: "fsync", text: "on paper", by: [] }),
	driverOptions: () => ({}),
	contradictions: () => [],
	topicOptions: [],
	process: {
		packages: ["pigeons"],
		container: { data: "/loft" },
		ports: () => [{ number: 1149, from: "clients" }],
		async describe() {
			throw new Error("nobody starts it");
		},
	},
	image: { name: "carrier", version: "1.0", suffix: "" },
	program: null,
	install: {
		from: "a loft",
		look: async () => ({
			here: false,
			figure: "no loft",
			sentence: "It needs one.",
		}),
	},
	omb: null,
};
