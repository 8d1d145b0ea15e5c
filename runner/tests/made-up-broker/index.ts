import { z } from "zod";
import type { Broker } from "../../brokers/broker.ts";
import { processFields } from "../../brokers/fields.ts";

/** The smallest room: what a scenario may say of a broker that only a test knows, and how it would be run. Its driver is a copy of noop's. */
export const lines: Broker = {
	title: "Lines",
	options: z.strictObject({
		broker: z.literal("lines").meta({ description: "Lines of text." }),
		...processFields,
		noDelay: z.boolean().default(true).meta({ description: "TCP_NODELAY." }),
	}),
	alsoCalled: { telegraph: "lines" },
	urlSchemes: ["lines"],
	defaultPort: 7000,
	urlEnv: "MQBENCH_URL",
	secretEnv: [],
	traits: () => ({
		title: "Lines",
		acks: false,
		delivery: "at-most-once",
		acknowledge: { alone: "automatic", group: "automatic" },
		ordered: true,
		groupOrdered: false,
		keys: false,
		partitions: false,
		groupsByPartition: false,
		keepsOnly: null,
		wildcards: false,
		maxMessageBytes: null,
		cannot: { "work-queue": "whoever listens gets all messages" },
		levels: {},
		ownDurability: "none, nothing is stored",
		prefetch: null,
		redeliverAfterNs: null,
		maxReplicas: 1,
		nodes: [1],
	}),
	durability: () => ({ level: null, text: "none, nothing is stored", by: [] }),
	driverOptions: (options) => ({ noDelay: "noDelay" in options && options.noDelay === true }),
	contradictions: () => [],
	topicOptions: [],
	process: {
		packages: ["telegraph"],
		onHosts: { text: () => "the host's telegraph" },
		container: { data: "/lines" },
		ports: () => [{ number: 7000, from: "clients" }],
		async describe() {
			throw new Error("nobody starts it");
		},
	},
	image: { name: "lines", version: "1.0", suffix: "" },
	program: null,
	install: {
		from: "a post office",
		look: async () => ({ here: false, figure: "no line", sentence: "It needs one." }),
	},
	omb: null,
};
