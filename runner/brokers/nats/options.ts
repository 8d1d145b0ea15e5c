import { z } from "zod";
import { count, span } from "../../model/field.ts";
import { acknowledgeField, clusterFields, processFields, tlsField } from "../fields.ts";

export const NatsOptions = z.strictObject({
	broker: z.literal("nats").meta({
		description: "NATS: core (publish and subscribe, nothing is stored) or JetStream, see `mode`.",
	}),
	mode: z.enum(["core", "jetstream"]).default("core").meta({
		description:
			"`core`: publish and subscribe, nothing is stored or acknowledged. `jetstream`: each topic is a stream, each message is stored and acknowledged.",
	}),
	...processFields,
	...clusterFields,
	...tlsField,
	auth: z.enum(["user", "token", "creds"]).optional().meta({
		description:
			"Where the secret is, if not in the url: `user`: NATS_USER and NATS_PASSWORD; `token`: NATS_TOKEN; `creds`: the file that NATS_CREDS names. Environment variables, all of them.",
	}),
	storage: z.enum(["memory", "file"]).optional().meta({
		description: "JetStream: where streams are. Default: file; memory with `durability: memory`.",
	}),
	publish: z.enum(["async", "sync"]).optional().meta({
		description:
			"JetStream: `async` (default) sends on while acknowledgements are outstanding; `sync` waits for each one before a connection sends the next message.",
	}),
	consumer: z.enum(["pull", "push", "ordered"]).optional().meta({
		description:
			"JetStream: how messages are taken. Default: `pull` for groups (work-queue, backlog, responders), `ordered` where every subscriber gets every message.",
	}),
	...acknowledgeField,
	dedup: z.boolean().optional().meta({
		description:
			"JetStream: every message carries an id (Nats-Msg-Id), by which the server drops what is sent twice within 2 minutes. Default: false.",
	}),
	maxAckPending: count(
		"JetStream: most messages of a consumer that are delivered and not acknowledged. Default: 1000, the server's own.",
		10_000_000,
		[1000],
	).optional(),
	prefetch: count(
		"JetStream, pull: most messages that one member has asked for. Default: 500, the library's own.",
		1_000_000,
		[500],
	).optional(),
	ackWait: span(
		"JetStream: how long a consumer may take for a message, waiting in its prefetch included, before it is delivered again. Default: 30s, the server's own.",
		["30s", "5min"],
		"above 0",
	).optional(),
});
export type NatsOptions = z.infer<typeof NatsOptions>;
