import { z } from "zod";
import { broker } from "../broker.ts";

const NoopOptions = z.strictObject({
	broker: z.literal("noop").meta({
		description:
			"No broker: every message completes at once. Shows the floor of the generator itself.",
	}),
});

export const noop = broker(NoopOptions, {
	title: "No broker",
	alsoCalled: { none: "noop" },
	urlSchemes: [],
	defaultPort: 0,
	traits: () => ({
		acks: false,
		delivery: "at-most-once",
		acknowledge: "automatic",
		groupOrdered: true,
		keys: true,
		partitions: true,
		cannot: { publish: "it acknowledges nothing", backlog: "it stores nothing" },
	}),
});
