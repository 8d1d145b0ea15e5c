import { describe, expect, test } from "vitest";
import { brokerOf, realBrokers } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";

const REDIS = "broker: redis, mode: streams";
const JETSTREAM = "broker: nats, mode: jetstream";
const KAFKA = "broker: kafka";

/** The label of charts, or the sentence with which the scenario is refused. */
function label(system: string, target = "local"): string {
	const text = `target: ${target}\nsystem: { ${system} }\nworkload: { rate: 10/s, message: 256B, duration: 1s }\n`;
	try {
		return expand(loadScenario("s.yaml", text), {})[0]?.durability ?? "";
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		return (error.message.split("\n")[0] ?? "").replace(/^\S+ /, "");
	}
}

describe("the label of durability is what is really set", () => {
	test.each([
		// Redis
		[REDIS, "memory (appendonly no, no snapshots)"],
		[`${REDIS}, durability: fsync`, "appendonly yes, appendfsync always (fsync)"],
		[
			`${REDIS}, durability: fsync, config: { save: "3600 1" }`,
			"appendonly yes, appendfsync always (fsync)",
		],
		[
			`${REDIS}, config: { AppendOnly: '"YES"', appendfsync: always }`,
			`save: "", appendonly: "YES", appendfsync: always`,
		],
		// JetStream
		[JETSTREAM, "interval 2m (default)"],
		[`${JETSTREAM}, durability: fsync`, "storage: file, sync_interval: always (fsync)"],
		[`${JETSTREAM}, config: { JetStream.sync: Always }`, "jetstream.sync_interval: Always"],
		[
			`${JETSTREAM}, durability: interval, config: { jetstream.sync_interval: 1m30s }`,
			"durability: interval sets jetstream.sync_interval itself; remove jetstream.sync_interval from config",
		],
		// Kafka
		[KAFKA, "os (no flush, default), acks=all"],
		[`${KAFKA}, durability: fsync`, "flush.messages=1, acks=all (fsync)"],
		[
			`${KAFKA}, config: { log.flush.interval.messages: 100 }`,
			"log.flush.interval.messages: 100, acks=all",
		],
		// RabbitMQ: the driver declares queues.
		[
			"broker: rabbitmq, durability: fsync",
			"queue: quorum (its log is flushed before a confirm) (fsync)",
		],
	])("%s: %s", (system, text) => {
		expect(label(system)).toBe(text);
	});

	test.each([
		[`${REDIS}, url: "redis://h"`, "not known (your server)"],
		[
			`${REDIS}, url: "redis://h", durability: fsync`,
			"appendonly yes, appendfsync always (fsync, declared, not checked)",
		],
		[`${JETSTREAM}, url: "nats://h"`, "not known (storage: file, your server)"],
		[
			`${JETSTREAM}, url: "nats://h", durability: os`,
			"storage: file, sync_interval: 24h (os, declared, not checked)",
		],
		[`${JETSTREAM}, url: "nats://h", durability: memory`, "storage: memory (memory)"],
		[`${KAFKA}, url: "kafka://h"`, "not known (your brokers), acks=all"],
		[`${KAFKA}, url: "kafka://h", durability: fsync`, "flush.messages=1, acks=all (fsync)"],
		[
			`${KAFKA}, url: "kafka://h", durability: memory`,
			"log.dirs on tmpfs, acks=all (memory, declared, not checked)",
		],
		["broker: mqtt, url: mqtt://h", "not known (your server)"],
		[
			"broker: mqtt, url: mqtt://h, durability: memory",
			"nothing is written before an acknowledgement (memory, declared, not checked)",
		],
		["broker: nsq, url: nsq://h", "not known (your server)"],
		[
			"broker: nsq, url: nsq://h, durability: os",
			"mem-queue-size: 0, never synced (os, declared, not checked)",
		],
		["broker: amqp, url: amqp://h", "durable messages; more is not known (your server)"],
		[
			"broker: amqp, url: amqp://h, durability: fsync",
			"journal-datasync: true (fsync, declared, not checked)",
		],
		["broker: nats-streaming, url: nats://h", "not known (your server)"],
		[
			"broker: nats-streaming, url: nats://h, durability: fsync",
			"store: file, sync_on_flush: true, auto_sync: 1m (fsync, declared, not checked)",
		],
	])("on a server of yours, %s: %s", (system, text) => {
		expect(label(system, "existing")).toBe(text);
	});
});

describe("config has neither mqbench's own settings nor two in one", () => {
	test.each([
		[REDIS, "dir Port slaveof unixsocket"],
		[JETSTREAM, "listen Port server_name jetstream.store_dir store_dir http logfile"],
		[JETSTREAM, "cluster.routes cluster.listen gateway.name"],
		[KAFKA, "log.dirs log.dir listeners advertised.listeners node.id port process.roles"],
		[KAFKA, "controller.quorum.voters"],
		["broker: rabbitmq", "listeners.tcp.1 listeners.ssl.default default_user log.file"],
		["broker: rabbitmq", "cluster_formation.peer_discovery_backend"],
	])("%s: %s", (system, keys) => {
		for (const key of keys.split(" "))
			expect(label(`${system}, config: { ${key}: x }`)).toMatch(`mqbench sets ${key} itself`);
		for (const key of ["appendonly", "maxmemory"])
			expect(label(`${REDIS}, config: { ${key}: "yes" }`)).not.toMatch("itself");
	});

	test.each(
		realBrokers.filter(takesConfig).flatMap((broker) =>
			["\\n", "\\r", "\\u0085", "\\u2028"].flatMap((end) => [
				[broker, `{ "a": "1${end}listen 2" }`],
				[broker, `{ "a${end}b": 1 }`],
			]),
		),
	)("%s: %s does not fit on a line", (broker, config) => {
		expect(label(`broker: ${broker}, config: ${config}`)).toMatch(
			/does not fit on a line of \S+; use letters/,
		);
	});
});

function takesConfig(broker: string): boolean {
	return "config" in brokerOf({ broker }).options.shape;
}
