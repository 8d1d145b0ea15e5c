import { type OmbDriver, parseProperties, quoted } from "../omb-driver.ts";

const reasons: Readonly<Record<string, string>> = {
	"max.in.flight.requests.per.connection": "the client library's own choice",
	"max.partition.fetch.bytes": "the client library's own choice",
	"fetch.max.bytes": "the client library's own choice",
};

/** What a property becomes; null: nothing, as mqbench does the same anyway; undefined: no equivalent. */
type Setting = (value: string) => Record<string, unknown> | null | undefined;

const SETTINGS: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
	commonConfig: {
		"bootstrap.servers": (hosts) => ({ url: urlOf(hosts) }),
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

function urlOf(hosts: string): string {
	return `kafka://${hosts.replaceAll(/\s+/g, "")}`;
}

/** Redpanda speaks Kafka's protocol. */
export const omb: OmbDriver = {
	packages: ["kafka", "redpanda"],
	read(take, leave) {
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
				const set = SETTINGS[section]?.[key];
				const options = set?.(value);
				if (options) Object.assign(system, options);
				else if (options === undefined)
					leave(
						quoted(`${section}.${key}`, value),
						reasons[key] ?? "has no equivalent here",
					);
			}
		return system;
	},
	reasons,
};
