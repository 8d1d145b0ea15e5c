import { z } from "zod";
import { named } from "../../model/field.ts";
import { broker } from "../broker.ts";

const NoopOptions = z.strictObject({
	broker: named(
		"noop",
		"No broker: every message completes immediately. Shows the load generator's own overhead.",
	),
});

export const noop = broker(NoopOptions, {
	title: "No broker",
	alsoCalled: { none: "noop" },
	urls: {},
	firstDriver: true,
	traits: () => ({
		groupOrdered: true,
		keys: true,
		partitions: true,
		cannot: { backlog: "it stores nothing" },
	}),
});
