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

const imported = (workload: string, driver = KAFKA) =>
	importOmb(
		{ file: "workload.yaml", text: workload },
		{ file: "driver.yaml", text: driver },
	);
const scenarioOf = (workload: string, driver?: string) =>
	parse(imported(workload, driver).yaml);
const leftOf = (workload: string, driver?: string) =>
	imported(workload, driver).left.map(({ file, what }) => `${file} ${what}`);

test("an imported scenario is valid as it is", () => {
	const { yaml } = imported(WORKLOAD);
	const scenario = loadScenario("imported.yaml", yaml);
	expect(scenario.name).toBe("1-Topic-16-partitions-1kb");
	expect(scenario.target).toBe("existing");
});

test("rates, counts, sizes and minutes keep their meaning", () => {
	expect(scenarioOf(WORKLOAD).workload).toEqual({
		pattern: "work-queue",
		consumers: 4,
		rate: "50000/s",
		message: "1024B",
		duration: "15min",
		warmup: "1min",
		connections: 2,
		partitions: 16,
	});
});

test("one partition for several consumers is kept, as the file asks for it", () => {
	const one = WORKLOAD.replace(
		"partitionsPerTopic: 16",
		"partitionsPerTopic: 1",
	);
	expect(scenarioOf(one).workload).toMatchObject({ partitions: 1 });
	const alone = one.replace("Subscription: 4", "Subscription: 1");
	expect(scenarioOf(alone).workload).not.toHaveProperty("partitions");
});

test("counts per topic become counts in all", () => {
	const workload = WORKLOAD.replace("topics: 1", "topics: 10");
	expect(scenarioOf(workload).workload).toMatchObject({
		topics: 10,
		connections: 20,
		consumers: 40,
	});
});

test("a Kafka driver's settings become the system's", () => {
	expect(scenarioOf(WORKLOAD).system).toEqual({
		broker: "kafka",
		url: "kafka://10.0.0.1:9092,10.0.0.2:9092",
		replicas: 3,
		durability: "fsync",
		minInsyncReplicas: 2,
		acks: "all",
		linger: "1ms",
		batch: "1048576B",
	});
});

test("what has no equivalent is listed with its file, and stands on top of the scenario", () => {
	expect(leftOf(WORKLOAD)).toEqual([
		"driver.yaml producerConfig.max.in.flight.requests.per.connection: 5",
		"driver.yaml consumerConfig.max.partition.fetch.bytes: 10485760",
		"driver.yaml reset: true",
		"workload.yaml payloadFile: payload/payload-1Kb.data",
	]);
	expect(imported(WORKLOAD).yaml).toContain("#   reset: true: mqbench removes");
});

describe("the pattern", () => {
	test("several subscriptions are a fan-out", () => {
		const workload = WORKLOAD.replace(
			"subscriptionsPerTopic: 1",
			"subscriptionsPerTopic: 3",
		).replace("consumerPerSubscription: 4", "consumerPerSubscription: 1");
		expect(scenarioOf(workload).workload).toMatchObject({
			pattern: "fan-out",
			subscriptions: 3,
		});
	});

	test("a backlog in GB of 1024^3 bytes is a backlog", () => {
		const workload = WORKLOAD.replace(
			"consumerBacklogSizeGB: 0",
			"consumerBacklogSizeGB: 2",
		);
		expect(scenarioOf(workload).workload).toMatchObject({
			pattern: "backlog",
			backlog: "2GiB",
		});
	});

	test("producerRate 0, the search for the highest rate, is find: max-rate", () => {
		const workload = WORKLOAD.replace("producerRate: 50000", "producerRate: 0");
		expect(scenarioOf(workload).workload).toMatchObject({
			rate: "10000/s",
			find: "max-rate",
		});
		expect(scenarioOf(workload).sla).toEqual(["lost == 0", "p99 < 100ms"]);
		expect(leftOf(workload)).toContain("workload.yaml producerRate: 0");
	});
});

test("the lists of a sweep become cases", () => {
	const workload = WORKLOAD.replace(
		"messageSize: 1024",
		"messageSize: [1024, 4096]",
	).replace("producerRate: 50000", "producerRate: [1000, 2000]");
	expect(scenarioOf(workload).cases).toEqual([
		{ rate: "1000/s", message: "1024B" },
		{ rate: "2000/s", message: "1024B" },
		{ rate: "1000/s", message: "4096B" },
		{ rate: "2000/s", message: "4096B" },
	]);
});

test("random payloads keep their ratio of random bytes", () => {
	const workload = `${WORKLOAD.replace(/payloadFile.*\n/, "")}useRandomizedPayloads: true\nrandomBytesRatio: 0.5\nrandomizedPayloadPoolSize: 100\n`;
	expect(scenarioOf(workload).workload.payload).toEqual({ random: 0.5 });
});

/** Of each key of its class Workload values that a file may have, the usual ones and the strange. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
	name: ["1 topic / 1kb", "..", 7, undefined],
	topics: [1, 1, 3, 100, 100_000, 0, [1, 10], undefined],
	partitionsPerTopic: [1, 16, 100_000, 0, undefined],
	keyDistributor: ["NO_KEY", "KEY_ROUND_ROBIN", "RANDOM_NANO", "X", undefined],
	messageSize: [1024, 1, 100, 65_536, [100, 1024], "many", undefined],
	payloadFile: ["payload/payload-1Kb.data", undefined],
	useRandomizedPayloads: [true, false, undefined],
	randomBytesRatio: [0, 0.3, 1, 2, undefined],
	randomizedPayloadPoolSize: [0, 1000, undefined],
	subscriptionsPerTopic: [1, 1, 3, 0, [1, 2], undefined],
	consumerPerSubscription: [1, 4, 0, 20_000, [1, 4], undefined],
	producersPerTopic: [1, 4, 0, 1000, undefined],
	producerRate: [0, 1, 50_000, 100_000_000, [0, 1000], [1e8, 2e8], undefined],
	consumerBacklogSizeGB: [0, 0, 1, 100, 100_000, undefined],
	backlogDrainRatio: [1, 0.99, undefined],
	warmupDurationMinutes: [0, 1, undefined],
	testDurationMinutes: [0, 1, 15, 100_000, undefined],
	sampleRateMillis: [100, undefined],
};

const DRIVERS = [
	KAFKA,
	KAFKA.replace("acks=all", "acks=0"),
	"driverClass: x.redpanda.RedpandaBenchmarkDriver\n",
	"driverClass: x.nats.NatsBenchmarkDriver\nnatsHostUrl: nats://10.0.0.1:4222\nreplicationFactor: 3\n",
	"driverClass: x.redis.RedisBenchmarkDriver\nredisHost: cache\n",
	"driverClass: x.rabbitmq.RabbitMqBenchmarkDriver\namqpUris: [amqp://a:s3cr3t@10.0.0.1:5672]\nmessagePersistence: true\nqueueType: QUORUM\n",
];

test("whatever a workload says, what is imported is valid", () => {
	const random = seeded(1);
	const pick = <T>(values: readonly T[]) =>
		values[Math.floor(random() * values.length)] as T;
	const wrong: string[] = [];
	for (let i = 0; i < 400; i++) {
		const workload = Object.fromEntries(
			Object.entries(VALUES).map(([key, values]) => [key, pick(values)]),
		);
		const driver = pick(DRIVERS);
		try {
			const { yaml } = imported(stringify(workload), driver);
			loadScenario("imported.yaml", yaml, {}, { RABBITMQ_PASSWORD: "s" });
		} catch (error) {
			wrong.push(`${(error as Error).message}\n${JSON.stringify(workload)}`);
		}
	}
	expect(wrong.slice(0, 3), `${wrong.length} in all`).toEqual([]);
}, 60_000);

describe("other drivers", () => {
	const of = (driver: string) => scenarioOf(WORKLOAD, driver).system;

	test("NATS is JetStream", () => {
		expect(
			of(
				"driverClass: io.openmessaging.benchmark.driver.nats.NatsBenchmarkDriver\nnatsHostUrl: nats://10.0.0.1:4222\nreplicationFactor: 3\n",
			),
		).toEqual({
			broker: "nats",
			mode: "jetstream",
			url: "nats://10.0.0.1:4222",
			replicas: 3,
		});
	});

	test("Redis is streams", () => {
		expect(
			of(
				"driverClass: io.openmessaging.benchmark.driver.redis.RedisBenchmarkDriver\nredisHost: cache\nredisPort: 6380\n",
			),
		).toEqual({ broker: "redis", mode: "streams", url: "redis://cache:6380" });
	});

	test("RabbitMQ keeps queue type and persistence, and loses its password to the environment", () => {
		const driver =
			"driverClass: io.openmessaging.benchmark.driver.rabbitmq.RabbitMqBenchmarkDriver\namqpUris: [amqp://admin:s3cr3t@10.0.0.1:5672]\nmessagePersistence: true\nqueueType: QUORUM\n";
		expect(of(driver)).toMatchObject({ broker: "rabbitmq", queue: "quorum" });
		const { yaml, left } = imported(WORKLOAD, driver);
		expect(yaml + JSON.stringify(left)).not.toContain("s3cr3t");
	});

	test("one that mqbench does not have is named", () => {
		expect(() =>
			imported(
				WORKLOAD,
				"driverClass: io.openmessaging.benchmark.driver.pulsar.PulsarBenchmarkDriver\n",
			),
		).toThrow(/PulsarBenchmarkDriver: mqbench has no such system/);
	});
});

test.each([
	["no YAML", "a: [", /workload.yaml: cannot be imported/],
	["no map", "- 1\n", /it is not a map of keys/],
])("%s is one sentence", (_, text, message) => {
	expect(() => imported(text)).toThrow(message);
});

test("secrets in properties are not repeated", () => {
	const driver = `${KAFKA}`.replace(
		"commonConfig: |",
		"commonConfig: |\n  sasl.jaas.config=Plain required password=hunter2;",
	);
	const { yaml, left } = imported(WORKLOAD, driver);
	expect(yaml + JSON.stringify(left)).not.toContain("hunter2");
});
