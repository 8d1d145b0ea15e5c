import { z } from "zod";
import { broker, traits } from "../broker.ts";

const NoopOptions = z.strictObject({
	broker: z.literal("noop").meta({
		description:
			"No broker: every message completes at once. Shows the floor of the generator itself.",
	}),
});

const NOTHING = "none, nothing is stored";

export const noop = broker(NoopOptions, {
	title: "No broker",
	alsoCalled: { none: "noop" },
	urlSchemes: [],
	defaultPort: 0,
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
});
