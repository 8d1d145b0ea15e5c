import { z } from "zod";
import { count } from "../../model/field.ts";
import { processFields, tlsField } from "../fields.ts";
import { heapField } from "../java.ts";

/** What `server` may be. */
const servers = ["artemis", "classic"] as const;
export type Server = (typeof servers)[number];

export const AmqpOptions = z.strictObject({
	broker: z.literal("amqp").meta({
		description:
			"AMQP 1.0: ActiveMQ Artemis, ActiveMQ Classic, or any other server (`target: existing`). RabbitMQ's own protocol is AMQP 0.9.1: `broker: rabbitmq`.",
	}),
	server: z
		.enum(servers)
		.default("artemis")
		.meta({ description: "Which one mqbench starts. Default: artemis." }),
	destination: z.enum(["queue", "topic"]).default("queue").meta({
		description:
			"What messages are sent to. A `queue` keeps them, and gives each to one consumer; a `topic` copies them to whoever is subscribed, and keeps nothing. Default: queue.",
	}),
	settled: z
		.boolean()
		.default(false)
		.meta({ description: "Messages are sent settled: nobody acknowledges them. Default: false." }),
	prefetch: count(
		"Most messages that a consumer holds and has not accepted (its link credit). 1 spreads slow work best. Default: 100.",
		1_000_000,
		[1],
	).optional(),
	...heapField("the servers' own scripts give 1GiB or 2GiB at most"),
	...processFields,
	...tlsField,
});
export type AmqpOptions = z.infer<typeof AmqpOptions>;
