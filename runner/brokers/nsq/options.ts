import { z } from "zod";
import { count, span } from "../../model/field.ts";
import { processFields, tlsField } from "../fields.ts";

export const NsqOptions = z.strictObject({
	broker: z.literal("nsq").meta({
		description:
			"NSQ: topics that copy each message to their channels; consumers of a channel share. In no order, at least once; what is with a consumer is in the memory of nsqd alone.",
	}),
	...processFields,
	...tlsField,
	nodes: count(
		"nsqd's that mqbench starts. Each has all topics and a share of the messages: producers send to one in turn, consumers take from all. They know nothing of each other. Default: 1.",
		3,
		[2],
	).optional(),
	prefetch: count(
		"Most messages that a consumer holds and has not finished (its RDY count, of all nsqd's together). 1 spreads slow work best. Default: 100.",
		1_000_000,
		[1],
	).optional(),
	msgTimeout: span(
		"How long a consumer may take for a message, waiting in its prefetch included, before it is requeued. Default: 1min, nsqd's own.",
		["30s", "5min"],
		"above 0",
	).optional(),
	outputBuffer: z.enum(["none", "default"]).default("none").meta({
		description:
			"What nsqd does before it sends to a consumer. `none`: each message leaves at once; `default`: it waits for 16 KiB or 250 ms of them where a consumer has as many as it may hold, as other clients have it. Default: none.",
	}),
});
export type NsqOptions = z.infer<typeof NsqOptions>;
