import { describe, expect, test } from "vitest";
import { rabbitmq } from "./options.ts";

const options = (written: Readonly<Record<string, unknown>> = {}) =>
	rabbitmq.options.parse({ broker: "rabbitmq", ...written });
const traits = (written: Readonly<Record<string, unknown>> = {}) =>
	rabbitmq.traits(options(written));

test("by itself RabbitMQ is durable classic queues with confirms", () => {
	expect(traits()).toMatchObject({
		title: "RabbitMQ classic",
		acks: true,
		delivery: "at-least-once",
		ordered: true,
		groupOrdered: false,
		wildcards: true,
		maxMessageBytes: 134_217_728,
		ownDurability:
			"classic queue (default): RabbitMQ 3 flushes before it confirms, RabbitMQ 4 only writes",
		maxReplicas: 1,
		cannot: {},
	});
});

test.each([
	["RabbitMQ 3.10.8", "RabbitMQ 3 flushes before it confirms"],
	["rabbitmq-server 4.2.1", "RabbitMQ 4 only writes"],
])("of %s says what a classic queue does there", (server, does) => {
	const on = (text: string) => rabbitmq.durabilityOn(text, server);
	expect(on(traits().ownDurability)).toBe(`classic queue (default): ${does}`);
	const other = traits({ queue: "quorum" }).ownDurability;
	expect(on(other)).toBe(other);
	expect(rabbitmq.durabilityOn(traits().ownDurability, "RabbitMQ 5.0")).toBe(
		traits().ownDurability,
	);
});

test("says the kind of queue of each level, and has no interval", () => {
	expect(Object.keys(traits().levels)).toEqual(["memory", "os", "fsync"]);
	expect(traits({ durability: "fsync" }).title).toBe("RabbitMQ quorum");
	expect(traits({ durability: "memory" }).title).toBe("RabbitMQ transient");
});

describe("promises to deliver", () => {
	test.each([
		["what is stored and confirmed", {}, "at-least-once"],
		["of a quorum queue", { queue: "quorum" }, "at-least-once"],
		["not of a transient queue", { queue: "transient" }, "at-most-once"],
		["not without confirms", { confirms: false }, "at-most-once"],
		["not what is not persistent", { persistent: false }, "at-most-once"],
		["not with automatic acks", { acknowledge: "automatic" }, "at-most-once"],
	])("%s", (_, written, delivery) => {
		expect(traits(written).delivery).toBe(delivery);
	});
});

test("without confirms there is nothing to measure in publish", () => {
	expect(traits({ confirms: false })).toMatchObject({
		acks: false,
		cannot: { publish: "with confirms: false it acknowledges nothing" },
		ownDurability: "none is promised (classic queue, confirms: false)",
	});
});

test("consumers acknowledge each message in a group, and none that nobody shares", () => {
	expect(traits({})).toMatchObject({
		acknowledge: { alone: "automatic", group: "message" },
		delivery: "at-least-once",
		deliveryAlone: "at-most-once",
	});
	const batch = traits({ acknowledge: "batch" });
	expect(batch.acknowledge).toEqual({ alone: "batch", group: "batch" });
	expect(batch.deliveryAlone).toBeUndefined();
});

test("with automatic acks a consumer cannot pause", () => {
	const automatic = traits({ acknowledge: "automatic" });
	expect(automatic.cannot.backlog).toContain("acknowledge: automatic");
	expect(automatic.instead?.backlog).toBe("write acknowledge: message");
	expect(automatic.prefetch).toBeNull();
});

test.each([
	[{}, true],
	[{ exchange: "topic" }, true],
	[{ exchange: "direct" }, false],
	[{ exchange: "fanout" }, false],
])("patterns need a topic exchange: %j", (written, wildcards) => {
	expect(traits(written).wildcards).toBe(wildcards);
});

test("config decides the largest message where it says so", () => {
	const config = { max_message_size: 1000 };
	expect(traits({ config }).maxMessageBytes).toBe(1000);
});

test("the driver is told what the scenario says, and nothing else", () => {
	expect(rabbitmq.driverOptions(options({ durability: "fsync" }))).toEqual({});
	const written = {
		queue: "quorum",
		exchange: "fanout",
		confirms: true,
		persistent: true,
		acknowledge: "batch",
		prefetch: 1,
	};
	const tls = { ca: "ca.pem" };
	expect(rabbitmq.driverOptions(options({ ...written, tls }))).toEqual({ ...written, tls });
	expect(rabbitmq.driverOptions(options({ tls: true }))).toEqual({ tls: {} });
	expect(rabbitmq.driverOptions(options({ tls: false }))).toEqual({});
});

test("a cluster of one's own may have replicas", () => {
	const written = { replicas: 3, queue: "quorum", url: "amqp://a,amqp://b" };
	expect(rabbitmq.contradictions(options(written))).toEqual([]);
});
