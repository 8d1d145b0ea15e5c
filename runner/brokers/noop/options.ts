import { z } from "zod";
import { type BrokerOptions, traits } from "../broker.ts";

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
	traits: () =>
		traits({
			title: "No broker",
			acks: false,
			delivery: "at-most-once",
			acknowledge: { alone: "automatic", group: "automatic" },
			groupOrdered: true,
			keys: true,
			partitions: true,
			cannot: { publish: "it acknowledges nothing", backlog: "it stores nothing" },
			ownDurability: NOTHING,
		}),
	durability: () => ({ level: null, text: NOTHING, by: [] }),
	driverOptions: () => ({}),
	contradictions: () => [],
	topicOptions: [],
} as const satisfies BrokerOptions<NoopOptions>;
