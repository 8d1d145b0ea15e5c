import { z } from "zod";
import { count, span, word } from "../../model/field.ts";
import { processFields } from "../fields.ts";
import { heapField } from "../java.ts";

export const SqsOptions = z.strictObject({
	broker: z.literal("sqs").meta({
		description:
			"Amazon SQS (`target: existing`, `url: https://sqs.REGION.amazonaws.com`, credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), or ElasticMQ, which speaks its protocol and says nothing about Amazon's speed.",
	}),
	...processFields,
	...heapField("ElasticMQ's own script gives what Java chooses"),
	region: word(
		"Region that requests are signed for. Default: us-east-1.",
		["eu-central-1"],
		[/^[a-z0-9-]+$/, "must be a region: us-east-1"],
	).default("us-east-1"),
	fifo: z.boolean().default(false).meta({
		description:
			"FIFO queues: each message group keeps its order, and one of its messages is with a consumer at a time; a deduplication id of each message. A connection then has one request at a time, as two would overtake each other. Default: false, standard queues.",
	}),
	groups: count(
		"Message groups of a FIFO queue over which the messages of a connection are dealt that have no key: as many consumers can work at once. Default: 1, which keeps the order of all of them.",
		10_000,
		[10],
	).optional(),
	batch: count(
		"Most messages that share a request: those that wait for one. Default: 1; the service's limit is 10.",
		10,
		[10],
	).optional(),
	requests: count(
		"Requests of a connection that are on their way at once, each on a connection of HTTP's. Default: 32; of FIFO queues always 1.",
		1000,
		[64],
	).optional(),
	prefetch: count(
		"Most messages in an answer to a consumer, which it holds until all are handled. Default: 10, the service's limit.",
		10,
		[1],
	).optional(),
	longPolling: span(
		"How long the service waits before it answers a consumer with nothing, whole seconds. 0s is short polling. Default: 20s, the service's limit.",
		["0s", "20s"],
	).optional(),
	visibility: span(
		"How long a consumer may take for the messages of an answer before they are handed out again, whole seconds. Default: 30s, the service's own.",
		["2min"],
		"above 0",
	).optional(),
	encoding: z.enum(["base64", "binary"]).default("base64").meta({
		description:
			"How a payload travels, as a body is text. `base64`: in the body, a third larger; `binary`: in an attribute. Default: base64.",
	}),
});
export type SqsOptions = z.infer<typeof SqsOptions>;
