import { broker, declared, traits } from "../broker.ts";
import { lookForJava, OLDEST_JAVA } from "../java.ts";
import { SqsOptions } from "./options.ts";
import { image, jars, LIMITS, process } from "./process.ts";

/** As the driver sets them (xk6-sqs/options.go). */
const PREFETCH = 10;
const VISIBILITY_NS = 30e9;
const LONGEST_POLL_NS = 20e9;

/** Of a request of ElasticMQ's, as Amazon's was until 2025 (now 1 MiB). */
const MAX_REQUEST_BYTES = 256 * 1024;
/** Body, name and type beside a payload that is an attribute. */
const BESIDE = 64;

/** Amazon's prices of a request, us-east-1, 2025: 0.40 USD and 0.50 USD a million, of 64 KiB each. */
const STANDARD_USD = 0.4e-6;
const FIFO_USD = 0.5e-6;

const MEMORY = "in ElasticMQ's memory";

export const sqs = broker(SqsOptions, {
	title: "SQS",
	alsoCalled: {
		elasticmq: "{ broker: sqs }",
		"amazon-sqs": "{ broker: sqs } with target: existing",
	},
	urlSchemes: ["http", "https"],
	defaultPort: 9324,
	otherPorts: { https: 443 },
	secretEnv: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
	traits(options) {
		const { fifo, prefetch, visibility } = options;
		return traits({
			title: fifo ? "SQS FIFO" : "SQS",
			acks: true,
			delivery: fifo ? "exactly-once" : "at-least-once",
			// A queue waits for it, whoever reads it.
			acknowledge: { alone: "batch", group: "batch" },
			ordered: fifo,
			groupOrdered: fifo,
			keys: fifo,
			maxMessageBytes: maxMessageBytes(options),
			cannot: { "fan-out": "a queue gives each message to one consumer" },
			levels: { memory: MEMORY },
			ownDurability: `the service's own; ElasticMQ, if mqbench starts it: memory (${MEMORY})`,
			prefetch: prefetch ?? PREFETCH,
			redeliverAfterNs: visibility ?? VISIBILITY_NS,
			requestUsd: fifo ? FIFO_USD : STANDARD_USD,
			jvm: true,
		});
	},
	driverOptions: (options) => ({
		region: options.region,
		fifo: options.fifo,
		groups: options.groups,
		batch: options.batch,
		requests: options.requests,
		prefetch: options.prefetch,
		waitNs: options.longPolling,
		visibilityNs: options.visibility,
		encoding: options.encoding,
	}),
	durability({ durability }, ours) {
		if (ours) return { level: "memory", text: `memory (${MEMORY})`, by: [] };
		return durability === undefined
			? { level: null, text: "not known (the service's own)", by: [] }
			: declared(durability, MEMORY);
	},
	topicOptions: ["visibility"],
	config: {
		file: "elasticmq.conf",
		options: { "node-address.port": "port", "rest-sqs.bind-port": "port" },
		reserved:
			"node-address.host node-address.protocol include rest-sqs.bind-hostname rest-stats.enabled queues.*",
	},
	check(options, _, wrong) {
		const { fifo, longPolling, visibility } = options;
		if (!fifo && options.groups !== undefined)
			wrong("groups", "only FIFO queues have message groups; write fifo: true");
		if (fifo && options.requests !== undefined)
			wrong(
				"requests",
				"a connection to FIFO queues has one request at a time; remove requests, or use more connections",
			);
		if (longPolling !== undefined && (longPolling % 1e9 !== 0 || longPolling > LONGEST_POLL_NS))
			wrong("longPolling", "the service counts whole seconds, 20 at most; write 20s");
		if (visibility !== undefined && visibility % 1e9 !== 0)
			wrong("visibility", "the service counts whole seconds; write 30s");
		if (options.binary !== undefined)
			wrong("binary", "mqbench has Maven fetch ElasticMQ; write version instead");
	},
	process,
	largeDriver: true,
	image,
	install: {
		from: `Java ${OLDEST_JAVA} or newer, and Maven (ElasticMQ, which is not Amazon's service)`,
		look: lookForJava("ElasticMQ", 37),
	},
	jars: [jars],
});

// --- internal ---

/** A request's room, of which each message of a batch has its share. Base64 makes four letters of three bytes. */
function maxMessageBytes({ batch = 1, encoding, config }: SqsOptions): number | null {
	if (config?.[LIMITS] === "relaxed") return null;
	const room = Math.floor(MAX_REQUEST_BYTES / batch);
	return encoding === "base64" ? Math.floor(room / 4) * 3 : room - BESIDE;
}
