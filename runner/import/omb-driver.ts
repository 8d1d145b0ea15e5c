import { failure } from "../errors.ts";
import { parseProperties, quoted } from "./file.ts";

type Leave = (what: string, why: string) => void;
type Written = Readonly<Record<string, unknown>>;

/** The system of a scenario, from a driver file of OpenMessaging Benchmark: told by its driverClass. */
export function readDriver(
	file: Written,
	leave: Leave,
): Record<string, unknown> {
	const driver = String(file.driverClass ?? "");
	const kind = Object.keys(drivers).find((name) =>
		driver.toLowerCase().includes(`.${name}.`),
	);
	if (kind === undefined)
		throw failure("import-unsupported", {
			what:
				driver === ""
					? "The second file names no driverClass (the workload comes first, then the driver)"
					: driver,
			known: Object.keys(drivers),
		});
	const known = new Set(["name", "driverClass"]);
	const take = (key: string): unknown => {
		known.add(key);
		return file[key];
	};
	const system = drivers[kind]?.(take, leave) ?? {};
	for (const [key, value] of Object.entries(file))
		if (!known.has(key) && value !== null)
			leave(quoted(key, value), REASONS[key] ?? "has no equivalent here");
	return system;
}

// --- internal ---

type Reader = (
	take: (key: string) => unknown,
	leave: Leave,
) => Record<string, unknown>;

const kafka: Reader = (take, leave) => {
	const system: Record<string, unknown> = { broker: "kafka" };
	const replicas = Number(take("replicationFactor") ?? 1);
	if (replicas > 1) system.replicas = replicas;
	for (const section of [
		"commonConfig",
		"topicConfig",
		"producerConfig",
		"consumerConfig",
	])
		for (const [key, value] of parseProperties(take(section))) {
			const set = KAFKA[section]?.[key];
			const found = set?.(value);
			if (found) Object.assign(system, found);
			else if (found === undefined)
				leave(
					quoted(`${section}.${key}`, value),
					REASONS[key] ?? "has no equivalent here",
				);
		}
	return system;
};

/** What a property becomes; null: nothing, as mqbench does the same anyway; undefined: no equivalent. */
type Setting = (value: string) => Record<string, unknown> | null | undefined;

const KAFKA: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
	commonConfig: {
		"bootstrap.servers": (hosts) => ({ url: kafkaUrl(hosts) }),
		"security.protocol": (protocol) =>
			protocol === "PLAINTEXT" ? null : undefined,
		// Timeouts of requests are the scenario's timeout.
		"default.api.timeout.ms": () => null,
		"request.timeout.ms": () => null,
	},
	topicConfig: {
		"min.insync.replicas": (n) => ({ minInsyncReplicas: Number(n) }),
		"flush.messages": (n) => (n === "1" ? { durability: "fsync" } : undefined),
		"flush.ms": (n) => (n === "0" ? { durability: "fsync" } : undefined),
	},
	producerConfig: {
		acks: (acks) => ({
			acks: acks === "all" || acks === "-1" ? "all" : Number(acks),
		}),
		"linger.ms": (ms) => ({ linger: `${ms}ms` }),
		"batch.size": (bytes) => ({ batch: `${bytes}B` }),
		"compression.type": (type) => ({ compression: type }),
		"enable.idempotence": (on) => ({ idempotence: on === "true" }),
	},
	consumerConfig: {
		// Positions are set before the first message, and committed after each.
		"auto.offset.reset": () => null,
		"enable.auto.commit": () => null,
	},
};

function kafkaUrl(hosts: string): string {
	return `kafka://${hosts.replaceAll(/\s+/g, "")}`;
}

/** Its NATS driver publishes to JetStream. */
const nats: Reader = (take, leave) => {
	const url = take("natsHostUrl");
	const replicas = Number(take("replicationFactor") ?? 1);
	const storage = take("storageType") ?? take("storage");
	if (storage !== undefined && !/^(file|memory)$/i.test(String(storage)))
		leave(quoted("storageType", storage), "is neither file nor memory");
	return {
		broker: "nats",
		mode: "jetstream",
		...(typeof url === "string" ? { url: withScheme("nats", url) } : {}),
		...(replicas > 1 ? { replicas } : {}),
		...(/^memory$/i.test(String(storage)) ? { durability: "memory" } : {}),
	};
};

const rabbitmq: Reader = (take, leave) => {
	const uris = take("amqpUris");
	const [first, ...others] = Array.isArray(uris) ? uris.map(String) : [];
	if (others.length > 0)
		leave(
			quoted("amqpUris", `${others.length} more`),
			"connections go to the first node",
		);
	const quorum = /quorum/i.test(String(take("queueType") ?? ""));
	const persistent = take("messagePersistence") === true;
	return {
		broker: "rabbitmq",
		...(first === undefined ? {} : { url: withoutPassword(first, leave) }),
		...(quorum ? { queue: "quorum" } : { queue: "classic", persistent }),
	};
};

/** Its Redis driver writes to streams. */
const redis: Reader = (take) => {
	const host = take("redisHost");
	const port = take("redisPort") ?? 6379;
	return {
		broker: "redis",
		mode: "streams",
		...(typeof host === "string" ? { url: `redis://${host}:${port}` } : {}),
	};
};

/** By the package of the driver's class. Redpanda speaks Kafka's protocol. */
const drivers: Readonly<Record<string, Reader>> = {
	kafka,
	redpanda: kafka,
	nats,
	rabbitmq,
	redis,
};

const REASONS: Readonly<Record<string, string>> = {
	reset: "mqbench removes the topics that it makes, and no others",
	jedisPoolMaxTotal: "connections are the workload's",
	jedisPoolMaxIdle: "connections are the workload's",
	producerCreationDelay: "connections are made one after the other",
	producerCreationBatchSize: "connections are made one after the other",
	consumerCreationDelay: "connections are made one after the other",
	consumerCreationBatchSize: "connections are made one after the other",
	"max.in.flight.requests.per.connection": "the client library's own choice",
	"max.partition.fetch.bytes": "the client library's own choice",
	"fetch.max.bytes": "the client library's own choice",
};

function withScheme(scheme: string, url: string): string {
	return url.includes("://") ? url : `${scheme}://${url}`;
}

/** A password belongs in the environment, not in a file. */
function withoutPassword(uri: string, leave: Leave): string {
	const found = /^(\w+:\/\/[^:/@]+):[^@]+@(.*)$/.exec(uri);
	if (!found) return uri;
	leave(
		"the password in amqpUris",
		"passwords stay out of files; set RABBITMQ_PASSWORD in the environment",
	);
	// biome-ignore lint/suspicious/noTemplateCurlyInString: the scenario's own syntax.
	return `${found[1]}:${"${RABBITMQ_PASSWORD}"}@${found[2]}`;
}
