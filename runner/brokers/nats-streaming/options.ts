import { z } from "zod";
import { count, span, word } from "../../model/field.ts";
import { processFields, tlsField } from "../fields.ts";

export const StreamingOptions = z.strictObject({
	broker: z.literal("nats-streaming").meta({
		description:
			"NATS Streaming (STAN): channels that keep every message. Its makers ended it in 2023; JetStream (`broker: nats`) has taken its place.",
	}),
	...processFields,
	...tlsField,
	cluster: word(
		"Name of the server's cluster, as it was started with (-cid). Default: the server's own.",
		["orders"],
		[/^[\w-]+$/, "must be letters, digits, - and _"],
	).default("test-cluster"),
	prefetch: count(
		"Most messages that a consumer holds and has not acknowledged (MaxInflight). 1 spreads slow work best. Default: 1024, the library's own.",
		1_000_000,
		[1],
	).optional(),
	ackWait: span(
		"How long a consumer may take for a message, waiting in its prefetch included, before it is delivered again; whole seconds. Default: 30s, the library's own.",
		["30s", "5min"],
		"above 0",
	).optional(),
});
export type StreamingOptions = z.infer<typeof StreamingOptions>;
