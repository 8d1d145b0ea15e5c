import { z } from "zod";
import defaults from "../../../extensions/xk6-sqs/defaults.json" with { type: "json" };
import { choice, count, flag, named, span, word } from "../../model/field.ts";
import { formatDurationExact } from "../../units.ts";
import { broker, storesAs } from "../broker.ts";
import { lines } from "../config.ts";
import { processFields } from "../fields.ts";
import { heapField, jvmServer } from "../jvm.ts";

const SqsOptions = z.strictObject({
	broker: named(
		"sqs",
		"Amazon SQS (`target: existing`, `url: https://sqs.REGION.amazonaws.com`, credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), or ElasticMQ, which speaks its protocol and says nothing about Amazon's speed.",
	),
	...processFields,
	...heapField("ElasticMQ's own script gives what Java chooses"),
	region: word(
		`Region that requests are signed for. Default: ${defaults.region}.`,
		["eu-central-1"],
		[/^[a-z0-9-]+$/, "must be a region: us-east-1"],
	).default(defaults.region),
	fifo: flag(
		"FIFO queues: each message group keeps its order, and one of its messages is with a consumer at a time; a deduplication id of each message. A connection then has one request at a time, because two would overtake each other. Default: false, standard queues.",
	).default(false),
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
		`Requests of a connection that are on their way at once, each on a connection of HTTP's. Default: ${defaults.requests}; of FIFO queues always 1.`,
		1000,
		[64],
	).optional(),
	prefetch: count(
		`Most messages in an answer to a consumer, which it holds until all are handled. Default: ${defaults.prefetch}, the service's limit.`,
		10,
		[1],
	).optional(),
	longPolling: span(
		`How long the service waits before it answers a consumer with nothing, whole seconds. 0s is short polling. Default: ${formatDurationExact(defaults.waitNs)}, the service's limit.`,
		["0s", "20s"],
	).optional(),
	visibility: span(
		`How long a consumer may take for the messages of an answer before they are handed out again, whole seconds. Default: ${formatDurationExact(defaults.visibilityNs)}, the service's own.`,
		["2min"],
		"above 0",
	).optional(),
	encoding: choice(
		["base64", "binary"],
		"How a payload travels: a body is text. `base64`: in the body, a third larger; `binary`: in an attribute. Default: base64.",
	).default("base64"),
});
type SqsOptions = z.infer<typeof SqsOptions>;
/** ElasticMQ's limit for a request, as Amazon's until 2025 (now 1 MiB). */
const MAX_REQUEST_BYTES = 256 * 1024;
/** Body, name and type around a payload in an attribute. */
const BESIDE = 64;
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
	secretEnv: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
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
	driver({ longPollingNs: waitNs, encoding, ...own }) {
		return { ...own, waitNs, encoding };
	},
	topicOptions: ["visibility"],
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

/** The messages of a batch share a request's limit. Base64 makes four letters of three bytes. */
function maxMessageBytes({
	batch = defaults.batch,
	encoding,
	config,
}: Pick<SqsOptions, "batch" | "encoding" | "config">): number | null {
	if (config?.[LIMITS] === "relaxed") return null;
	const room = Math.floor(MAX_REQUEST_BYTES / batch);
	return encoding === "base64" ? Math.floor(room / 4) * 3 : room - BESIDE;
}
