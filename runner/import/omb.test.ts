import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { seeded } from "../histogram/random.fake.ts";
import { loadScenario } from "../scenario/load.ts";
import { importOmb } from "./omb.ts";

const WORKLOAD = `
name: 1 Topic / 16 partitions, 1kb
topics: 1
partitionsPerTopic: 16
keyDistributor: "NO_KEY"
messageSize: 1024
payloadFile: "payload/payload-1Kb.data"
subscriptionsPerTopic: 1
consumerPerSubscription: 4
producersPerTopic: 2
producerRate: 50000
consumerBacklogSizeGB: 0
testDurationMinutes: 15
`;

const KAFKA = `
name: Kafka
driverClass: io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver
replicationFactor: 3
reset: true
topicConfig: |
  min.insync.replicas=2
  flush.messages=1
commonConfig: |
  bootstrap.servers=10.0.0.1:9092, 10.0.0.2:9092
producerConfig: |
  acks=all
  linger.ms=1
  batch.size=1048576
  max.in.flight.requests.per.connection=5
consumerConfig: |
  auto.offset.reset=earliest
  max.partition.fetch.bytes=10485760
`;

const ENVIRONMENT = new Proxy({}, { get: () => "x" });

const imported = (workload: string, driver = KAFKA) =>
	importOmb({ file: "workload.yaml", text: workload }, { file: "driver.yaml", text: driver });
const inWorkload = (...changes: (readonly [from: string, to: string])[]) =>
	changes.reduce((text, [from, to]) => text.replace(from, to), WORKLOAD);
const alone = ["Subscription: 4", "Subscription: 1"] as const;

test.each<[string, Parameters<typeof inWorkload>, object]>([
	[
		"one partition for several consumers is kept",
		[["Topic: 16", "Topic: 1"]],
		{ pattern: "work-queue", partitions: 1 },
	],
	[
		"one for a single consumer is not written",
		[["Topic: 16", "Topic: 1"], alone],
		{ partitions: undefined },
	],
	[
		"counts per topic become counts in all",
		[["topics: 1", "topics: 10"]],
		{ topics: 10, connections: 20, consumers: 40 },
	],
	[
		"several subscriptions are a fan-out",
		[["subscriptionsPerTopic: 1", "subscriptionsPerTopic: 3"], alone],
		{ pattern: "fan-out", subscriptions: 3 },
	],
	[
		"nobody who consumes is publish",
		[["subscriptionsPerTopic: 1", "subscriptionsPerTopic: 0"]],
		{ pattern: "publish" },
	],
	[
		"a backlog is in GB of 1024^3 bytes",
		[["consumerBacklogSizeGB: 0", "consumerBacklogSizeGB: 2"]],
		{ pattern: "backlog", backlog: "2GiB" },
	],
	[
		"producerRate 0 is the search for the highest rate",
		[["producerRate: 50000", "producerRate: 0"]],
		{ rate: "10000/s", find: "max-rate" },
	],
])("%s", (_, changes, workload) => {
	const found = parse(imported(inWorkload(...changes)).yaml);
	expect({ partitions: undefined, ...found.workload }).toMatchObject(workload);
	expect(found.sla[0]).toBe(found.workload.pattern === "publish" ? "failed == 0" : "lost == 0");
});

test("what the system or a scenario refuses is left out, with the reason; what a scenario needs stays", () => {
	const { yaml, left } = imported(WORKLOAD.replace("messageSize: 1024", "messageSize: 1"));
	expect(parse(yaml).workload).toMatchObject({ message: "1B" });
	expect(left).toContainEqual(
		expect.objectContaining({ what: "message", why: expect.stringContaining("message") }),
	);
	expect(imported(WORKLOAD, "driverClass: x.redis.RedisBenchmarkDriver\n").left).toContainEqual({
		file: "workload.yaml",
		what: "partitions: 16",
		why: expect.stringMatching(/have no partitions$/),
	});
});

/** Usual and strange values of each key of its class Workload. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
	name: ["1 topic / 1kb", "..", 7, undefined],
	topics: [1, 1, 3, 100, undefined],
	partitionsPerTopic: [1, 16, 100_000, undefined],
	keyDistributor: ["NO_KEY", "KEY_ROUND_ROBIN", "RANDOM_NANO", "X", undefined],
	messageSize: [1024, 100, 65_536, "many", undefined],
	messageSizeDistribution: [
		{ "0-256": 3, "1KB-4kb": 5 },
		{ "0-99999": 1 },
		{ "0-9": 0 },
		{ x: "y" },
		[1],
		undefined,
		undefined,
	],
	payloadFile: ["payload/payload-1Kb.data", undefined],
	useRandomizedPayloads: [true, false, undefined],
	randomBytesRatio: [0, 0.3, 1, 2, undefined],
	randomizedPayloadPoolSize: [0, 1000, undefined],
	subscriptionsPerTopic: [1, 1, 3, undefined],
	consumerPerSubscription: [1, 4, undefined],
	producersPerTopic: [1, 4, 0, 1000, undefined],
	producerRate: [0, 1000, 50_000, 100_000_000, undefined],
	warmupDurationMinutes: [0, 1, undefined],
	testDurationMinutes: [1, 15, undefined],
	sampleRateMillis: [100, undefined],
	existingTopicList: [["a", "b"], ["a b"], [], undefined, undefined],
};

const DRIVERS = [
	KAFKA,
	KAFKA.replace("acks=all", "acks=0"),
	"driverClass: x.redpanda.RedpandaBenchmarkDriver\n",
	"driverClass: x.nats.NatsBenchmarkDriver\nnatsHostUrl: nats://10.0.0.1:4222\nreplicationFactor: 3\n",
	"driverClass: x.redis.RedisBenchmarkDriver\nredisHost: cache\n",
	"driverClass: x.artemis.ArtemisBenchmarkDriver\nbrokerAddress: tcp://a:61616\n",
	"driverClass: x.mqtt.MqttBenchmarkDriver\nbrokerAddr: tcp://a\npubQos: 0\ncleanSession: false\n",
	"driverClass: x.rabbitmq.RabbitMqBenchmarkDriver\namqpUris: [amqp://a:s3cr3t@10.0.0.1:5672]\nmessagePersistence: true\nqueueType: QUORUM\n",
];

test("whatever keys a workload has, what is imported is valid", () => {
	const random = seeded(1);
	const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
	const wrong: string[] = [];
	for (let i = 0; i < 150; i++) {
		const workload = Object.fromEntries(
			Object.entries(VALUES).map(([key, values]) => [key, pick(values)]),
		);
		const driver = pick(DRIVERS);
		try {
			const { yaml } = imported(stringify(workload), driver);
			loadScenario("imported.yaml", yaml, {}, ENVIRONMENT);
		} catch (error) {
			wrong.push(`${(error as Error).message}\n${JSON.stringify(workload)}`);
		}
	}
	expect(wrong.slice(0, 3), `${wrong.length} in all`).toEqual([]);
}, 60_000);

test("a driver that mqbench does not have is named", () => {
	for (const other of ["pulsar.Pulsar", "rocketmq.RocketMQ"])
		expect(() =>
			imported(
				WORKLOAD,
				`driverClass: io.openmessaging.benchmark.driver.${other}BenchmarkDriver\n`,
			),
		).toThrow(new RegExp(`${other}BenchmarkDriver: mqbench has no such system`));
});

test.each([
	["no YAML", "a: [", /workload.yaml: cannot be imported/],
	["no map", "- 1\n", /it is not a map of keys/],
])("%s is one sentence", (_, text, message) => {
	expect(() => imported(text)).toThrow(message);
});

const GOLDEN = path.join(import.meta.dirname, "golden");

describe("a pair of files becomes the scenario beside them, which is valid and repeats no secret", () => {
	test.each(readdirSync(GOLDEN))("%s", (folder) => {
		const file = (name: string, otherwise = folder) => {
			const at = path.join(GOLDEN, folder, name);
			return existsSync(at) ? at : path.join(GOLDEN, otherwise, name);
		};
		const read = (name: string) => readFileSync(file(name, "kafka"), "utf8");
		const { yaml } = importOmb(
			{ file: "workload.yaml", text: read("workload.yaml") },
			{ file: "driver.yaml", text: read("driver.yaml") },
		);
		if (process.env.UPDATE_GOLDEN === "1") writeFileSync(file("scenario.yaml"), yaml);
		expect(yaml).toBe(readFileSync(file("scenario.yaml"), "utf8"));
		expect(yaml).not.toContain("leaked");
		expect(() => loadScenario("scenario.yaml", yaml, {}, ENVIRONMENT)).not.toThrow();
	});
});

test("a secret is not repeated, whatever its key is and wherever its line is broken", () => {
	const odd =
		"foo: leaked\nbar: { baz: leaked }\nqux: [leaked]\nname: leaked\nusername: ''\napiKey: 1234567\n";
	const properties = `producerConfig: |
  leaked==
  sasl.jaas.config=Module required
    username="u"
    password="leaked";
  "leaked":x
`;
	for (const driver of [...DRIVERS, properties].map((one) => one + odd)) {
		const file = driver.startsWith("producerConfig") ? `driverClass: x.kafka.K\n${driver}` : driver;
		const { yaml, left } = imported(WORKLOAD, file.replace(/^name: K.*\n/m, ""));
		expect(yaml + JSON.stringify(left)).not.toMatch(/leaked|1234567/);
	}
});

test("no error quotes a file, which may hold passwords", () => {
	for (const driver of ["password: *leaked", "- password: leaked\n\ta: ]"])
		expect(() => imported(WORKLOAD, driver)).toThrow(
			expect.not.objectContaining({ message: expect.stringContaining("leaked") }),
		);
});
