import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { script, testFolder } from "../../infra/test-folder.fake.ts";
import type { Setup, Site } from "./process.ts";
import { describedThere } from "./started.fake.ts";

/** What a broker of so many nodes would be on hosts with Java 17 and 4 GiB of memory. */
async function placed(
	written: Parameters<typeof describedThere>[0],
	asked: Partial<Setup> = {},
	site: Partial<Site> = {},
) {
	const home = testFolder();
	mkdirSync(path.join(home, "libs"));
	script(path.join(home, "libs", "kafka_2.13-4.1.1.jar"), "");
	const made = await describedThere(
		{ ...written, ...(written.broker === "kafka" && { binary: home }) },
		{
			said: 'openjdk version "17.0.1"\nmqbench:program=/there',
			setup: asked,
			site: { folder: "/disk", data: "/disk/data", ...site },
		},
	);
	return { ...made, libs: path.join(home, "libs") };
}

describe("NATS on hosts", () => {
	test("listens at the host's own address, keeps its streams in the store, and knows the others", async () => {
		const made = await placed(
			{ broker: "nats", mode: "jetstream", nodes: 3, replicas: 3 },
			{ level: "fsync" },
		);
		expect(made.brought).toEqual({ "nats-server": "/here/nats-server" });
		expect(made.flushes).toBe(true);
		expect(made.settings).toEqual({ "jetstream.sync_interval": "always" });
		expect(made.nodes[1]?.argv).toEqual(["/brought/nats-server", "-c", "/disk/nats.conf"]);
		const second = made.file("nats.conf", 2).replaceAll(/mqbench:\w+@/g, "***@");
		for (const line of [
			'listen: "10.0.0.2:4222"',
			'server_name: "mqbench-2"',
			'http: "10.0.0.2:8222"',
			'  store_dir: "/disk/data"',
			'  listen: "10.0.0.2:6222"',
			'  routes: ["nats://***@10.0.0.1:6222","nats://***@10.0.0.2:6222","nats://***@10.0.0.3:6222"]',
			'  sync_interval: "always"',
		])
			expect(second.split("\n")).toContain(line);
		expect(made.url().replaceAll(/\w+@/g, "***@")).toBe(
			"nats://***@10.0.0.1:4222,nats://***@10.0.0.2:4222,nats://***@10.0.0.3:4222",
		);
	});

	test("has nothing to flush in memory or without streams, and asks nobody about itself when alone", async () => {
		for (const made of [
			await placed({ broker: "nats", mode: "core" }),
			await placed({ broker: "nats", mode: "jetstream" }, { level: "memory" }),
		]) {
			expect(made.flushes).toBe(false);
			expect(made.healthy).toBeUndefined();
			expect(made.file("nats.conf")).not.toMatch(/http|cluster/);
		}
	});

	test("brackets an address of IPv6", async () => {
		const made = await placed(
			{ broker: "nats", mode: "core", nodes: 3 },
			{},
			{ listen: "fd00::5", ip: "fd00::5", client: "[fd00::5]:4222" },
		);
		expect(made.file("nats.conf")).toMatch(/http: "\[fd00::5\]:8222"/);
	});
});

describe("Kafka on hosts", () => {
	test("runs from jars that are brought, and tells clients and nodes the hosts' addresses", async () => {
		const made = await placed(
			{ broker: "kafka", nodes: 3, replicas: 3, heap: "1GiB" },
			{ level: "interval" },
		);
		expect(made.brought).toEqual({ kafka: made.libs });
		expect(made.flushes).toBe(true);
		const third = made.file("server.properties", 3).split("\n");
		for (const line of [
			"node.id=3",
			"controller.quorum.voters=1@10.0.0.1:9093,2@10.0.0.2:9093,3@10.0.0.3:9093",
			"listeners=PLAINTEXT://10.0.0.3:9092,CONTROLLER://10.0.0.3:9093",
			"advertised.listeners=PLAINTEXT://10.0.0.3:9092",
			"log.dirs=/disk/data",
			"log.flush.scheduler.interval.ms=1000",
			"offsets.topic.replication.factor=3",
		])
			expect(third).toContain(line);
		const [node] = made.nodes;
		expect(node?.before?.map((argv) => argv.slice(-5).join(" "))).toEqual([
			"format -t bXFiZW5jaC1sb2NhbC0tLQ -c /disk/server.properties",
		]);
		expect(node?.argv.join(" ")).toMatch(
			/^java -Xms1073741824 -Xmx1073741824 .* -cp \/brought\/kafka\/\* kafka\.Kafka \/disk\/server\.properties$/,
		);
	});

	test.each<[string, number, RegExp]>([
		["sh: 1: exec: java: not found", 127, /java is not on PATH on h1\. Install it there: apt-get /],
		['openjdk version "11.0.2"', 0, /java is Java 11 on h1\. /],
	])("needs Java 17 there: %s", async (said, code, words) => {
		const refused = placed({ broker: "kafka" }, { ask: async () => ({ said, code }) });
		await expect(refused).rejects.toThrow(/^mine: Kafka needs Java 17 or newer, and /);
		await expect(refused).rejects.toThrow(words);
	});

	test("keeps its logs in memory where durability says so", async () => {
		const made = await placed({ broker: "kafka" }, { level: "memory" });
		expect(made.file("server.properties")).toMatch(/^log\.dirs=\/dev\/shm\/mine\/data$/m);
		expect(made.flushes).toBe(false);
		expect(made.settings["log.dirs"]).toBe("/dev/shm (in memory)");
	});

	test.each([
		[
			{ memory: null },
			"mine: h1: durability: memory puts Kafka's logs on /dev/shm, which has 0B free of 1GiB that it needs. Choose durability: os, or make it larger (mount -o remount,size=4G /dev/shm).",
		],
		[
			{ memory: { freeBytes: 64 * 1024 ** 2, folder: async () => "" } },
			"mine: h1: durability: memory puts Kafka's logs on /dev/shm, which has 64MiB free of 1GiB that it needs. Choose durability: os, or make it larger (mount -o remount,size=4G /dev/shm).",
		],
	])("says what is missing for that", async (node, sentence) => {
		await expect(placed({ broker: "kafka" }, { level: "memory" }, node)).rejects.toThrow(sentence);
	});
});

describe("an image on hosts", () => {
	/** As in containers of their own, but on the host's network. */
	const image = {
		name: "it:1",
		digest: null,
		id: "sha256:1",
		entrypoint: ["/serve"],
		env: { RABBITMQ_VERSION: "4.1.0" },
	};
	const there = (broker: "redis" | "rabbitmq" | "nats" | "kafka") =>
		placed({ broker }, { image, level: "os" }, { folder: "/etc/it", data: "/data" });

	test("of Redis is behind a password, at the host's address", async () => {
		const made = await there("redis");
		expect(made.nodes[0]?.argv).toEqual(["/etc/it/redis.conf"]);
		const file = made.file("redis.conf");
		expect(file).toMatch(/^bind 10\.0\.0\.1$/m);
		expect(file).toMatch(/^dir "\/data"$/m);
		const [, password] = /^requirepass (\w+)$/m.exec(file) ?? [];
		expect(made.url()).toBe(`redis://:${password}@10.0.0.1:6379`);
	});

	test("of RabbitMQ has a name and ports of its own, and but one that others reach", async () => {
		const made = await there("rabbitmq");
		expect(made.nodes[0]?.argv).toEqual(["rabbitmq-server"]);
		expect(made.file("conf.d/90-mqbench.conf")).toMatch(/^listeners\.tcp\.1 = 10\.0\.0\.1:5672$/m);
		expect(made.nodes[0]?.env).toMatchObject({
			RABBITMQ_NODENAME: expect.stringMatching(/^mqbench-\w+@localhost$/),
			RABBITMQ_DIST_PORT: "25673",
			RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-kernel inet_dist_use_interface {127,0,0,1}",
			ERL_EPMD_PORT: "4370",
			ERL_EPMD_ADDRESS: "127.0.0.1",
		});
	});

	test("of Kafka and NATS brings nothing, and asks for no Java", async () => {
		const kafka = await there("kafka");
		expect(kafka.brought).toEqual({});
		expect(kafka.nodes[0]?.argv).toContain("/opt/kafka/libs/*");
		expect(kafka.nodes[0]?.before?.[0]).toContain("--ignore-formatted");
		const nats = await placed({ broker: "nats", mode: "core" }, { image }, { folder: "/etc/it" });
		expect(nats.brought).toEqual({});
		expect(nats.nodes[0]?.argv).toEqual(["-c", "/etc/it/nats.conf"]);
	});
});
