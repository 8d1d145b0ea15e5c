import { z } from "zod";
import defaults from "../../../extensions/xk6-sqs/defaults.json" with { type: "json" };
import { count, flag, named, span, word } from "../../model/field.ts";
import { formatDurationExact } from "../../units.ts";
import { broker, storesAs } from "../broker.ts";
import { lines } from "../config.ts";
import { processFields } from "../fields.ts";
import { heapField, jvmServer } from "../jvm.ts";

const SqsOptions = z.strictObject({
	broker: named(
		"sqs",
		"Amazon SQS (`target: existing`, `url: https://sqs.REGION.amazonaws.com`, credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY). On other targets mqbench starts ElasticMQ, which has the same protocol but not Amazon's speed.",
	),
	...processFields,
	...heapField,
	region: word(
		"Region that requests are signed for.",
		["eu-central-1"],
		[/^[a-z0-9-]+$/, "must be a region: us-east-1"],
	).default(defaults.region),
	fifo: flag(
		"FIFO queues: each message group keeps its order, with one message at a consumer at a time. A connection sends one request at a time, with deduplication ids.",
	).default(false),
	groups: count(
		"FIFO message groups for messages without a key, per connection. At most that many consumers work at the same time. Default: 1, which keeps the order of all messages.",
		10_000,
		[10],
	).optional(),
	batch: count(
		"Most waiting messages that share a request, up to 10. Default: 1.",
		10,
		[10],
	).optional(),
	requests: count(
		`Concurrent requests of a connection, each on its own HTTP connection; always 1 for FIFO queues. Default: ${defaults.requests}.`,
		1000,
		[64],
	).optional(),
	prefetch: count(
		`Most messages in a reply; a consumer handles all before it asks again. Default: ${defaults.prefetch}, the service's limit.`,
		10,
		[1],
	).optional(),
	longPolling: span(
		`How long the service waits for a message before an empty reply (whole seconds). 0s: short polling. Default: ${formatDurationExact(defaults.waitNs)}, the service's limit.`,
		["0s", "20s"],
		"from 0",
	).optional(),
	visibility: span(
		`A message that is not deleted within this time (whole seconds) is delivered again. Default: ${formatDurationExact(defaults.visibilityNs)}, the service's.`,
		["2min"],
	).optional(),
});
type SqsOptions = z.infer<typeof SqsOptions>;
/** ElasticMQ's limit for a request, as Amazon's until 2025 (now 1 MiB). */
const MAX_REQUEST_BYTES = 256 * 1024;
/** Per request of 64 KiB, us-east-1, 2025: 0.40 USD and 0.50 USD a million. */
const STANDARD_USD = 0.4e-6;
const FIFO_USD = 0.5e-6;
/** `strict`: Amazon's limits; `relaxed`: none. */
const LIMITS = "rest-sqs.sqs-limits";
const MEMORY = "in ElasticMQ's memory";
const stores = storesAs({ own: `memory (${MEMORY})`, levels: { memory: MEMORY } });
const image = { name: "softwaremill/elasticmq", version: "1.6.12" };

const server = jvmServer<SqsOptions>({
	image,
	jars: [{ title: "ElasticMQ", name: "elasticmq", folder: "sqs", version: image.version }],
	megabytes: 37,
	remark: " (ElasticMQ, which is not Amazon's service)",
	container: { folder: "/opt", data: "/data" },
	ports: 9324,
	defines: ({ folder }) => [`-Dconfig.file=${folder}/elasticmq.conf`],
	inImage: "/opt/elasticmq/lib",
	launch({ nodes, image }, { config }, run) {
		const settings = { [LIMITS]: "strict", ...config };
		return {
			log: { name: "ElasticMQ", version: /ElasticMQ server \((\S+)\) started in/ },
			url: `http://${nodes[0]?.client}`,
			settings,
			data: "memory",
			node: (node) => ({
				// In a container it replaces the image's own start.
				before: image ? [["true"]] : [],
				argv: run(node, ["org.elasticmq.server.Main"]),
				files: {
					// JSON's values are valid there.
					"elasticmq.conf": `include classpath("application.conf")\n${lines(
						{
							"node-address.protocol": "http",
							"node-address.host": node.client.replace(/:\d+$/, ""),
							"node-address.port": Number(/\d+$/.exec(node.client)?.[0]),
							"rest-sqs.bind-hostname": node.listen,
							"rest-sqs.bind-port": node.ports[0] ?? 0,
							"rest-stats.enabled": false,
							...settings,
						},
						" = ",
						JSON.stringify,
					)}`,
				},
			}),
		};
	},
});

export const sqs = broker(SqsOptions, {
	title: "SQS",
	alsoCalled: {
		elasticmq: "{ broker: sqs }",
		"amazon-sqs": "{ broker: sqs } with target: existing",
	},
	urls: { http: 9324, https: 443 },
	secretEnv: () => ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
	server,
	traits: ({
		fifo,
		prefetch = defaults.prefetch,
		visibility = defaults.visibilityNs,
		...options
	}) => ({
		title: fifo ? "SQS FIFO" : "SQS",
		acks: true,
		delivery: fifo ? "exactly-once" : "at-least-once",
		// Every queue waits for it.
		acknowledge: "batch",
		ordered: fifo,
		groupOrdered: fifo,
		keys: fifo,
		maxMessageBytes: maxMessageBytes(options),
		cannot: { "fan-out": "a queue gives each message to one consumer" },
		prefetch,
		redeliverAfterNs: visibility,
		requestUsd: fifo ? FIFO_USD : STANDARD_USD,
		jvm: true,
	}),
	stores: () => stores,
	driver: ({ longPollingNs: waitNs, ...own }) => ({ ...own, waitNs }),
	topicOptions: ["visibility"],
	configExample: { "rest-sqs.sqs-limits": "relaxed" },
	config: {
		file: "elasticmq.conf",
		options: { "node-address.port": "port", "rest-sqs.bind-port": "port" },
		reserved:
			"node-address.host node-address.protocol include rest-sqs.bind-hostname rest-stats.enabled queues.*",
	},
	check: ({ fifo, groups, requests, longPolling = 0, visibility = 0, binary }) => ({
		groups:
			groups !== undefined && !fifo && "only FIFO queues have message groups; write fifo: true",
		requests:
			requests !== undefined &&
			fifo &&
			"a connection to FIFO queues has one request at a time; remove requests, or use more connections",
		longPolling:
			(longPolling % 1e9 !== 0 || longPolling > defaults.waitNs) &&
			"the service counts whole seconds, 20 at most; write 20s",
		visibility: visibility % 1e9 !== 0 && "the service counts whole seconds; write 30s",
		binary: binary !== undefined && "mqbench has Maven fetch ElasticMQ; write version instead",
	}),
});

// --- internal ---

/** The messages of a batch share a request's limit. A body is text: base64 makes four letters of three bytes. */
function maxMessageBytes({
	batch = defaults.batch,
	config,
}: Pick<SqsOptions, "batch" | "config">): number | null {
	if (config?.[LIMITS] === "relaxed") return null;
	return Math.floor(MAX_REQUEST_BYTES / batch / 4) * 3;
}
