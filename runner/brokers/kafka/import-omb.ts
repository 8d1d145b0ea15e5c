import { number, type OmbDriver, replicas } from "../omb-driver.ts";

const PEM = /\.(pem|crt)$/i;

/** Reads `username="me" password='secret'`. */
function quoted(jaas: string, key: string): string {
	const found = new RegExp(`\\b${key}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s;]+))`).exec(jaas);
	return found?.[1] ?? found?.[2] ?? found?.[3] ?? "";
}

/** Redpanda speaks Kafka's protocol. */
export const omb: OmbDriver = {
	packages: ["kafka", "redpanda"],
	system: { broker: "kafka" },
	properties: ["commonConfig", "topicConfig", "producerConfig", "consumerConfig"],
	keys: {
		replicationFactor: replicas,
		"bootstrap.servers": (servers) => ({ at: { servers } }),
		"security.protocol": (protocol) => ({ at: { secure: /SSL$/i.test(protocol) } }),
		"sasl.mechanism": (mechanism) =>
			/^(plain|scram-sha-(256|512))$/i.test(mechanism)
				? { sasl: mechanism.toLowerCase() }
				: undefined,
		"sasl.jaas.config": (jaas) => {
			const user = quoted(jaas, "username");
			return user === "" ? undefined : { at: { user, password: quoted(jaas, "password") } };
		},
		"ssl.truststore.location": (file) => (PEM.test(file) ? { tls: { ca: file } } : undefined),
		"ssl.keystore.location": (file) =>
			PEM.test(file) ? { tls: { cert: file, key: file } } : undefined,
		"ssl.truststore.type": null,
		"ssl.keystore.type": null,
		"ssl.endpoint.identification.algorithm": (algorithm) => (algorithm === "" ? undefined : null),
		"min.insync.replicas": (value) =>
			number(value, (n) => (n > 1 ? { minInsyncReplicas: n } : null)),
		"flush.messages": (n) => (n === "1" ? { durability: "fsync" } : undefined),
		"flush.ms": (ms) => (ms === "0" ? { durability: "fsync" } : undefined),
		acks: (acks) => ({ acks: /^(all|-1)$/.test(acks) ? "all" : Number(acks) }),
		"linger.ms": (ms) => ({ linger: `${ms}ms` }),
		"batch.size": (bytes) => ({ batch: `${bytes}B` }),
		"compression.type": (compression) => ({ compression }),
		"enable.idempotence": (on) => ({ idempotence: on === "true" }),
		// The scenario's timeout covers requests.
		"default.api.timeout.ms": null,
		"request.timeout.ms": null,
		// The driver sets positions before the first message, and commits after each.
		"auto.offset.reset": null,
		"enable.auto.commit": null,
	},
};
