import { z } from "zod";
import type { BrokerOptions } from "../broker.ts";

const NoopOptions = z.strictObject({
	broker: z.literal("noop").meta({
		description:
			"No broker: every message completes at once. Shows the floor of the generator itself.",
	}),
});
type NoopOptions = z.infer<typeof NoopOptions>;

const NOTHING = "none, nothing is stored";

export const noop = {
	options: NoopOptions,
	alsoCalled: { none: "noop" },
	urlSchemes: [],
	defaultPort: 0,
	urlEnv: "MQBENCH_URL",
	secretEnv: [],
	traits: () => ({
		title: "No broker",
		acks: false,
		delivery: "at-most-once",
		acknowledge: { alone: "automatic", group: "automatic" },
		ordered: true,
		groupOrdered: true,
		keys: true,
		partitions: true,
		groupsByPartition: false,
		keepsOnly: null,
		wildcards: false,
		maxMessageBytes: null,
		cannot: { publish: "it acknowledges nothing", backlog: "it stores nothing" },
		levels: {},
		ownDurability: NOTHING,
		prefetch: null,
		redeliverAfterNs: null,
		maxReplicas: 1,
		nodes: [1],
	}),
	durability: () => ({ level: null, text: NOTHING, by: [] }),
	driverOptions: () => ({}),
	contradictions: () => [],
	topicOptions: [],
} as const satisfies BrokerOptions<NoopOptions>;
