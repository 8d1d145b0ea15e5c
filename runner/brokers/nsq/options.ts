import { z } from "zod";
import { count, span } from "../../model/field.ts";
import type { BrokerPlace } from "../../model/targets.ts";
import { type BrokerOptions, traits } from "../broker.ts";
import { configProblems, reserved } from "../config.ts";
import { defined, driverTls, processFields, tlsField, versionProblems } from "../fields.ts";
import { levelTexts, nsqDurability, OWN } from "./durability.ts";

const NsqOptions = z.strictObject({
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

/** As the driver sets them (xk6-nsq/options.go). */
export const PREFETCH = 100;
const MSG_TIMEOUT_NS = 60e9;

/** As mqbench sets nsqd up. */
const MAX_MESSAGE_BYTES = 8 * 1024 ** 2;

export const nsq = {
	options: NsqOptions,
	alsoCalled: { nsqd: "{ broker: nsq }" },
	urlSchemes: ["nsq"],
	defaultPort: 4150,
	urlEnv: "MQBENCH_URL",
	secretEnv: [],
	traits: (options) =>
		traits({
			title: "NSQ",
			acks: true,
			delivery: "at-least-once",
			// A channel waits for it, whoever reads it.
			acknowledge: { alone: "message", group: "message" },
			ordered: false,
			maxMessageBytes: Number(options.config?.["max-msg-size"]) || MAX_MESSAGE_BYTES,
			levels: levelTexts,
			ownDurability: `the server's own; one that mqbench starts: ${OWN}`,
			prefetch: options.prefetch ?? PREFETCH,
			redeliverAfterNs: options.msgTimeout ?? MSG_TIMEOUT_NS,
			nodes: [1, 2, 3],
		}),
	driverOptions: ({ prefetch, msgTimeout, outputBuffer, tls }) =>
		defined({ prefetch, msgTimeoutNs: msgTimeout, outputBuffer, tls: driverTls(tls) }),
	durability: nsqDurability,
	topicOptions: [],
	contradictions,
} as const satisfies BrokerOptions<NsqOptions>;

// --- internal ---

/** Where it listens and keeps its files, who comes, and what mqbench reads or sets by other options. */
const FLAGS = {
	file: "nsqd",
	reserved: {
		"tcp-address": "write port beside config",
		"max-rdy-count": "write prefetch beside config",
		"max-msg-timeout": "write msgTimeout beside config",
		...reserved(
			"config",
			"version",
			"http-address",
			"https-address",
			"data-path",
			"broadcast-address",
			"broadcast-tcp-port",
			"broadcast-http-port",
			"lookupd-tcp-address",
			"auth-http-address",
			"statsd-address",
			"log-level",
			"log-prefix",
			"verbose",
			"worker-id",
			"tls-required",
			"tls-cert",
			"tls-key",
			"tls-root-ca-file",
			"tls-client-auth-policy",
			"tls-min-version",
		),
	},
};

function contradictions(
	options: NsqOptions,
	place: BrokerPlace | null,
): { key: string; message: string }[] {
	const { config, msgTimeout } = options;
	const problems = [...configProblems(config, FLAGS), ...versionProblems(options, place, "nsqd")];
	if (msgTimeout !== undefined && msgTimeout % 1e6 !== 0)
		problems.push({
			key: "msgTimeout",
			message: "nsqd counts whole milliseconds; write 1ms or more of them",
		});
	return problems;
}
