import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { variable } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import type { Surroundings } from "./context.ts";
import { loadScenario } from "./load.ts";

/**
 * Wrong scenarios, one mistake each, and what a person reads: golden/mistakes.txt. Add one here, run npm run golden, and read
 * the diff like a sentence of a book: where it is, what is wrong, what to do.
 */

const system = "system: nats";
const jetstream = "system: { broker: nats, mode: jetstream }";
const noop = "system: noop";

/** A whole scenario, with one line of it replaced or added; "" removes a line. */
function workload(lines: Readonly<Record<string, string>>, head = system) {
	const all = { rate: "3000/s", message: "256B", duration: "10s", ...lines };
	return `${head}\nworkload:\n${Object.entries(all)
		.filter(([, value]) => value !== "")
		.map(([field, value]) => `  ${field}: ${value}\n`)
		.join("")}`;
}

const right = workload({});
const sla = (...lines: string[]) => `sla:\n${lines.map((line) => `  - ${line}\n`).join("")}`;
/** A scenario whose only mistake can be in that line. */
const compared = (line: string) => `${right}repeat: 5\n${sla(line)}`;
const closed = { rate: "", duration: "", messages: "100000" };
/** A head of a scenario on target existing: a broker of the user's with these options. */
const mine = (options: string) =>
	`target: existing\nsystem: { broker: kafka, url: "kafka://h:9092", ${options} }`;
const docker = (options: string) => `target: docker\nsystem: { broker: kafka, ${options} }`;
const disturbed = (...at: number[]) =>
	`faults:\n${at.map((s) => `  - { at: ${s}s, action: pause, for: 500ms }\n`).join("")}${workload({ warmup: "5s" }, "system: redis")}`;
const threeClients = (head = system) => `clients: 3\n${head}`;
const fanOut = { pattern: "fan-out", subscriptions: "3", connections: "3" };
const backlog = { pattern: "backlog", backlog: "60000", duration: "40s" };

const mistakes: Readonly<Record<string, string>> = {
	// --- slips of the finger ---
	"a letter too few": workload({ message: "", messgae: "256B" }),
	"a rate without unit": workload({ rate: "3000" }),
	"a size without unit": workload({ message: "1024" }),
	"a duration in words": workload({ duration: "10 sec" }),
	"a duration without unit": workload({ duration: "10" }),
	"minutes or milliseconds": workload({ duration: "5m" }),
	"K of something": workload({ message: "1K" }),
	"a rate with words": workload({ rate: "3000 msg/s" }),
	"a rate below zero": workload({ rate: "-5/s" }),
	"a limit and a bare number": workload({ message: "limit + 1" }),
	"half a connection": workload({ connections: "1.5" }),
	"no connection": workload({ connections: "0" }),
	"a number in quotes": workload({ connections: '"25"' }),
	"a broker with a typo": workload({}, "system: nast"),
	"a broker by its mode": workload({}, "system: jetstream"),
	"a broker under another name": workload({}, "system: valkey"),
	"a pattern with a typo": workload({ pattern: "fanout" }),
	"a pattern by another name": workload({ pattern: "pubsub" }),
	"a percentile without unit": `${right}${sla("p99 < 5")}`,
	"a percentile with half a limit": `${right}${sla("p99 <5")}`,
	"a percentile the wrong way round": `${right}${sla("p99 > 5ms")}`,
	"an average": `${right}${sla("avg < 5ms")}`,
	"an objective as a map": `${right}${sla("p99: 5ms")}`,
	"a counter with a typo": `${right}${sla("losst == 0")}`,
	"a field at the top level": `${system}\nrate: 3000/s\nworkload:\n  message: 256B\n  duration: 10s\n`,
	"a word of OpenMessaging Benchmark": workload({ message: "", messageSize: "1024" }),
	"two words of OpenMessaging Benchmark become one": workload({ consumerPerSubscription: "2" }),
	"a word of k6": workload({ vus: "10" }),
	"a tab": `${system}\nworkload:\n\trate: 3000/s\n`,
	"a system without a key for its broker": workload({}, "system: { port: 4222 }"),
	"a list of systems": workload({}, "systems: [nats, noop]"),
	"nothing to do": `${system}\n`,

	"a size in small letters": workload({ message: "1kb" }),
	"a size in words": workload({ message: "256 bytes" }),
	"a rate of other tools": workload({ rate: "3000rps" }),
	"a rate in thousands": workload({ rate: "3k/s" }),
	"a rate with a separator": workload({ rate: '"3,000/s"' }),
	"minutes and seconds": workload({ duration: "1m30s" }),
	days: workload({ duration: "2 days" }),
	"a duration beyond the longest": workload({ duration: "700000" }),
	"a drain of nothing": workload({ drain: "0s" }),
	"a drain below nothing": workload({ drain: "-1s" }),
	"a timeout in ms": workload({ timeout: "250" }),
	"a number in words": workload({ ...closed, messages: "100k" }),
	"yes and no": workload({ checksum: "yes" }),
	"connections beyond 2^53": workload({ connections: "99999999999999999999", producers: "" }),
	"a missing colon": `${system}\nworkload:\n  rate: 3000/s\n  message 256B\n  duration: 10s\n`,
	"a missing colon in the first line of a map": `${system}\nworkload:\n  message 256B\n  rate: 3000/s\n  duration: 10s\n`,
	"a missing colon in the last line": `${system}\nworkload:\n  rate: 3000/s\n  duration: 10s\n  message 256B\n`,
	"a missing colon in the only line": `${system}\nworkload:\n  message 256B\n`,
	"a percentile without its point": `${right}${sla("p999 < 20ms")}`,
	"a percentile in capitals": `${right}${sla("P99 < 20ms")}`,
	"a percentile with a point in front": `${right}${sla("response.p99 < 20ms")}`,
	"a percentile behind its number": `${right}${sla("99p < 20ms")}`,
	"a percentile against a baseline, in capitals": compared("P99 <= baseline + 10%"),
	"objectives as a map": `${right}sla: { p99: 20ms, lost: 0 }\n`,
	"objectives as text": `${right}sla: p99 < 20ms\n`,
	"a counter as a map": `${right}${sla("lost: 0")}`,
	"a rate without unit in an objective": `${right}${sla("throughput >= 2900")}`,
	"a key that stages forbid": workload({
		duration: "",
		durration: "10s",
		stages: "[{ duration: 30s, target: 10000/s }]",
	}),
	"a closed load with a typo": workload({ rate: "", duration: "", mesages: "100000" }),
	"an option with a letter too few": workload({}, "system: { broker: kafka, ack: all }"),
	"an option without unit": workload({}, "system: { broker: kafka, linger: 5 }"),
	"a map in raw settings": workload(
		{},
		"system: { broker: nats, config: { jetstream: { store_dir: /tmp/x } } }",
	),
	"a list in a workload": workload({ rate: "[1000/s, 2000/s]" }),
	"cases as a map": `${right}cases: { message: 1KiB }\n`,
	"a payload of nothing": workload({ payload: "{ }" }),
	"a payload in a word": workload({ payload: "json" }),
	"acknowledgements of the leader": workload({}, "system: { broker: kafka, acks: leader }"),
	"a name that is too long": `name: ${"n".repeat(81)}\n${right}`,
	"a seed below zero": workload({ arrivals: "poisson", seed: "-1" }),

	// --- loads ---
	"two kinds of load": workload({ messages: "100000" }),
	"stages without a start": workload({
		rate: "",
		duration: "",
		stages: "[{ duration: 30s, target: 10000/s }]",
	}),
	"stages and a duration": workload({ stages: "[{ duration: 30s, target: 10000/s }]" }),
	"stages of a closed load": workload({
		...closed,
		stages: "[{ duration: 30s, target: 10000/s }]",
	}),
	"a stage with a rate": workload({ duration: "", stages: "[{ duration: 30s, rate: 10000/s }]" }),
	"steps and a rate": workload({ duration: "", steps: "[{ rate: 1000/s, duration: 10s }]" }),
	"a step of half a second": workload({
		rate: "",
		duration: "",
		steps: "[{ rate: 1000/s, duration: 1500ms }]",
	}),
	"a rate of 0": workload({ rate: "0/s" }),
	"stages of 0": workload({
		duration: "",
		rate: "0/s",
		stages: "[{ target: 0/s, duration: 10s }]",
	}),
	"a step without a message": workload({
		rate: "",
		duration: "",
		steps: "[{ rate: 1/min, duration: 10s }]",
	}),
	"a seed of nothing": workload({ seed: "7" }),
	"poisson arrivals without end": workload({
		rate: "1000000/s",
		arrivals: "poisson",
		duration: "10min",
	}),
	"a warm-up in time for a closed load": workload({ ...closed, warmup: "5s" }),
	"a warm-up of a closed load without unit": workload({ ...closed, warmup: "100" }),
	"a warm-up in messages for a rate": workload({ warmup: "5000 messages" }),
	"a size where a number of messages belongs": workload({ ...closed, messages: "1KiB" }),
	"a search without an objective": `${workload({ find: "max-rate", duration: "" })}${sla("lost == 0")}`,
	"a search with stages": `${workload({
		find: "max-rate",
		duration: "",
		stages: "[{ duration: 30s, target: 10000/s }]",
	})}${sla("p99 < 5ms")}`,
	"a duration without a message": workload({ rate: "1/min" }),
	"a timeout after the drain": workload({ timeout: "31s" }),

	// --- patterns and topology ---
	"producers that are too few": workload({ connections: "25", producers: "2" }),
	"topics that nobody sends to": workload({ topics: "5" }),
	"consumers of a round trip": workload({ consumers: "2" }),
	"subscriptions of a work queue": workload(
		{ pattern: "work-queue", subscriptions: "2" },
		jetstream,
	),
	"a fan-out to nobody": workload({ pattern: "fan-out" }),
	"a wildcard without subscribers": workload({ wildcard: "true" }),
	"work of a fan-out": workload({ pattern: "fan-out", subscriptions: "2", work: "2ms" }),
	"connections that nobody uses": workload(
		{ pattern: "work-queue", consumers: "2", consumerConnections: "3" },
		jetstream,
	),
	"a backlog of a round trip": workload({ backlog: "60000" }),
	"a backlog of no size": workload({ ...backlog, backlog: "" }, jetstream),
	"a backlog that is too short": workload({ ...backlog, duration: "20s" }, jetstream),
	"a backlog without a rate": workload({ ...backlog, ...closed }, jetstream),
	"a backlog in bytes of messages of any size": workload(
		{ ...backlog, backlog: "1MiB", message: "limit" },
		jetstream,
	),
	"a limit that is none": workload({ message: "limit" }, "system: noop"),
	"a limit below zero": workload({ message: "limit - 1GiB" }),
	"all of a search": `${workload({ duration: "", find: "max-rate" })}${sla("p99 < 10ms", "failed == all")}`,
	"a backlog in K": workload({ ...backlog, backlog: "60K" }, jetstream),
	"order by keys without keys": workload({ order: "per-key" }, noop),
	"order over partitions": workload({ order: "per-producer", partitions: "3" }, noop),
	"order among competing consumers": workload(
		{ pattern: "work-queue", consumers: "4", order: "per-producer" },
		jetstream,
	),
	"a promise about what nobody receives": workload(
		{ pattern: "publish", delivery: "at-least-once" },
		jetstream,
	),
	"a checksum without room": workload({ message: "50B", checksum: "true" }),
	"a payload that is not there": workload({ payload: "{ file: orders.json }" }),
	"a ratio in percent": workload({ payload: "{ random: 30 }" }),
	"a payload of two kinds": workload({ payload: "{ file: orders.json, random: 0.3 }" }),
	"a payload of a file and at random": workload({ payload: "{ file: orders.json, random: true }" }),
	"a payload that is a folder": workload({ payload: "{ file: . }" }),
	"a payload with a typo": workload({ payload: "{ flie: orders.json }" }),
	"keys that are drawn by nothing": workload({ keys: "{ count: 10 }" }, noop),

	// --- what a system cannot ---
	"a message that is too large": workload({ message: "9MiB" }),
	"a publish without acknowledgements": workload({ pattern: "publish" }),
	"keys that a broker has not": workload({ keys: "zipf" }),
	"partitions that a broker has not": workload({ partitions: "12" }),
	"a level that a broker has not": workload({}, "system: { broker: nats, durability: fsync }"),
	"a level that there is not": workload(
		{},
		"system: { broker: nats, mode: jetstream, durability: disk }",
	),
	"more copies than nodes": workload({}, "system: { broker: nats, mode: jetstream, replicas: 3 }"),
	"two nodes": workload({}, "system: { broker: nats, mode: jetstream, nodes: 2 }"),
	"an option of another mode": workload({}, "system: { broker: nats, storage: memory }"),
	"an option that there is not": workload({}, "system: { broker: nats, storeage: memory }"),

	"a backlog of pub/sub": workload(backlog, "system: { broker: redis, mode: pubsub }"),
	"an option of another broker": workload({}, "system: { broker: redis, linger: 5ms }"),
	"copies on one node": workload({}, "system: { broker: kafka, replicas: 3 }"),
	"acknowledgements that were switched off": workload(
		{ pattern: "publish" },
		"system: { broker: kafka, acks: 0 }",
	),
	"a level that RabbitMQ has not": workload(
		{},
		"system: { broker: rabbitmq, durability: interval }",
	),
	"a pattern over topics that are logs": workload(
		{ pattern: "fan-out", subscriptions: "2", wildcard: "true" },
		"system: { broker: redis, mode: streams }",
	),

	// --- systems and targets ---
	"a secret variable that is not set": `target: existing\n${workload({}, `system: { broker: nats, url: "nats://me:${variable("NATS_PASSWORD")}@h" }`)}`,
	"too many clients": `clients: [${Array.from({ length: 101 }, (_, i) => `h${i}`).join(", ")}]\ntarget: existing\n${workload({ connections: "101" }, 'system: { broker: nats, url: "nats://h" }')}`,
	"a binary of somebody else's broker": `target: existing\n${workload({}, 'system: { broker: nats, url: "nats://h:4222", binary: ./nats-server }')}`,
	"nodes of somebody else's broker": `target: existing\n${workload({}, 'system: { broker: nats, url: "nats://h:4222", nodes: 3 }')}`,
	"CPUs of somebody else's broker": `target: existing\npin: { brokers: 2-3 }\n${workload({}, 'system: { broker: nats, url: "nats://h:4222" }')}`,
	"settings of machines": `machine: { maxCState: 1 }\n${right}`,
	"a url of a broker that is started": workload(
		{},
		'system: { broker: nats, url: "nats://h:4222" }',
	),
	"a broker that exists nowhere": `target: existing\n${right}`,
	"a variable that is not set": workload(
		{},
		`system: { broker: nats, binary: "${variable("NATS_SERVER")}" }`,
	),
	"a config against the durability": workload(
		{},
		'system: { broker: redis, mode: streams, durability: fsync, config: { appendfsync: "no" } }',
	),
	"two settings in one": workload(
		{},
		'system: { broker: rabbitmq, config: { "heartbeat": "30\\nlisteners.tcp.2 = 0.0.0.0:1" } }',
	),
	"a setting of mqbench's own": workload(
		{},
		"system: { broker: kafka, durability: memory, config: { log.dirs: /data } }",
	),
	"a secret in the wrong place": workload(
		{},
		`system: { broker: nats, binary: "${variable("NATS_PASSWORD")}" }`,
	),
	"a password in the file": `target: existing\n${workload({}, 'system: { broker: nats, url: "nats://me:hunter2@h:4222" }')}`,
	"CPUs that are none": `pin: { generator: "0..3" }\n${right}`,
	"an objective inside a system": workload({}, "system: { broker: nats, sla: [p99 < 5ms] }"),

	// --- containers ---
	"an image of a program": workload({}, "system: { broker: nats, image: x }"),
	"CPUs of no container": workload({}, "system: { broker: nats, cpus: 2 }"),
	"memory of no container": workload({}, "system: { broker: nats, memory: 2GiB }"),
	"too little memory": workload({}, docker("memory: 4MiB")),
	"memory without unit": workload({}, docker("memory: 2048")),
	"a port of containers": workload({}, docker("port: 9092")),
	"a program in containers": workload({}, docker("binary: /opt/kafka")),
	"an address of containers": workload({}, docker('url: "kafka://h:9092"')),
	"an image and a version": workload({}, docker("image: apache/kafka:4.1.1, version: 4.1.0")),
	"an image of somebody else's broker": workload({}, mine("image: x")),
	"an image in words": workload({}, docker('image: "the newest one"')),
	"an image that is an option": workload({}, docker('image: "-v/:/host"')),
	"more copies than containers": workload({}, docker("replicas: 3")),

	// --- topics of the user's own ---
	"topics of a broker that is started": workload({}, "system: { broker: kafka, topics: [orders] }"),
	"no topics of a broker that is started": workload({}, "system: { broker: kafka, create: false }"),
	"topics that would be made": workload({}, mine("topics: [orders]")),
	"topics without a name": workload({}, mine("create: false")),
	"a topic with a blank": workload({}, mine('create: false, topics: ["my orders"]')),
	"a topic twice": workload(
		{ topics: "2", producers: "2" },
		mine("create: false, topics: [orders, orders]"),
	),
	"fewer topics than are sent to": workload(
		{ connections: "2" },
		mine("create: false, topics: [orders]"),
	),
	"more topics than are sent to": workload(
		{ topics: "1" },
		mine("create: false, topics: [orders, bills]"),
	),
	"settings of topics that are not made": workload(
		{},
		mine("create: false, topics: [orders], replicas: 3"),
	),
	"a level of topics that are not made": workload(
		{},
		mine("create: false, topics: [orders], durability: fsync"),
	),
	"an option of topics that are not made": workload(
		{},
		mine("create: false, topics: [orders], minInsyncReplicas: 2"),
	),
	"replies on topics of one's own": workload(
		{ pattern: "request-reply" },
		mine("create: false, topics: [orders]"),
	),
	"a pattern over topics of one's own": workload(
		{ pattern: "fan-out", subscriptions: "2", wildcard: "true" },
		mine("create: false, topics: [orders]"),
	),
	"bystanders of topics of one's own": workload(
		{ pattern: "fan-out", subscriptions: "2", bystanders: "9" },
		mine("create: false, topics: [orders]"),
	),

	// --- clients ---
	"no client": `clients: 0\n${right}`,
	"clients in words": `clients: three\n${right}`,
	"a client that is no host": `clients: [bench@]\n${workload({ connections: "3" }, mine("acks: 1"))}`,
	"a client at no port": `clients: [bench@a:99999]\n${workload({ connections: "3" }, mine("acks: 1"))}`,
	"a client twice": `clients: [bench@a, root@a]\n${workload({ connections: "3" }, mine("acks: 1"))}`,
	"clients in containers of no engine": `clients: { docker: 3 }\n${workload({ connections: "3" })}`,
	"clients of another kind": `clients: { ssh: 3 }\n${workload({ connections: "3" })}`,
	"clients far from a broker on loopback": `clients: [bench@a]\n${right}`,
	"clients far from containers on loopback": `clients: [bench@a]\n${workload({}, docker("acks: 1"))}`,
	"clients with one connection": workload({}, threeClients()),
	"clients with fewer connections than they are": workload({ connections: "2" }, threeClients()),
	"clients of a closed load": workload({ ...closed, connections: "3" }, threeClients()),
	"clients that share a topic": workload({ connections: "3", topics: "1" }, threeClients()),
	"the slowest subscriber of several clients": `${workload(fanOut, threeClients())}${sla("last p99 < 5ms")}`,
	"order in a group over several clients": workload(
		{ pattern: "work-queue", connections: "3", order: "per-producer" },
		threeClients(jetstream),
	),
	"order in a group over several clients, as an objective": `${workload({ pattern: "work-queue", connections: "3" }, threeClients(jetstream))}${sla("reordered == 0")}`,
	"clients without a broker between them": workload(fanOut, threeClients(noop)),

	// --- cases and objectives ---
	"cases and a matrix": `${right}cases: [{ message: 1KiB }]\nmatrix: { rate: [1000/s] }\n`,
	"a matrix of one value": `${right}matrix: { message: 1KiB }\n`,
	"a wrong value in a matrix": `${right}matrix: { message: [256B, 1K] }\n`,
	"a matrix with the same value twice": `${right}matrix: { message: [1KiB, 1024B] }\n`,
	"two cases of one name": `${right}cases:\n  - { message: 1KiB }\n  - { message: 1024B }\n`,
	"an objective of a case that is not there": `${right}cases: [{ message: 1KiB }]\n${sla("{ expect: p99 < 5ms, case: 2KiB }")}`,
	"an objective inside a case for another case": `${right}cases:\n  - { message: 1KiB, sla: [{ expect: p99 < 5ms, case: 1KiB }] }\n`,
	"objectives of the workload": workload({ sla: "[p99 < 5ms]" }),
	"a percentile of a closed load": `${workload(closed)}${sla("p99 < 5ms")}`,
	"lag of a closed load": `${workload(closed)}${sla("lag p99 < 5ms")}`,
	"a percentile of a backlog": `${workload(backlog, jetstream)}${sla("p99 < 5ms")}`,
	"acknowledgements of a system without": `${right}${sla("ack p99 < 5ms")}`,
	"the slowest subscriber of one": `${right}${sla("last p99 < 5ms")}`,
	"loss of what nobody receives": `${workload({ pattern: "publish" }, jetstream)}${sla("lost == 0")}`,
	"throughput of what nobody receives": `${workload({ pattern: "publish" }, jetstream)}${sla("throughput >= 2900/s")}`,
	"a drain without a backlog": `${right}${sla("drainTime < 30s")}`,
	"the drain of next to nothing": `${workload({ ...backlog, backlog: "500" }, jetstream)}${sla("drainTime < 30s")}`,
	"a drain rate as a time": `${workload(backlog, jetstream)}${sla("drainRate < 30s")}`,
	"the rate of a closed load": `${workload(closed)}${sla("achieved >= 2900/s")}`,
	"a limit beyond the drain": `${right}${sla("p99 < 40s")}`,
	"corruption without a checksum": `${right}${sla("corrupted == 0")}`,

	// --- what a fault does ---
	"what a fault does where there is none": `${right}${sla("unavailable < 5s")}`,
	"a window that ends too soon after a fault": `${disturbed(4)}${sla("p99 < 1s", "drained < 6s")}`,
	"a fault too soon after another": `${disturbed(1, 4)}${sla("unavailable < 3s")}`,
	"a time too short to be counted": `${disturbed(4)}${sla("unavailable < 20ms")}`,
	"a fault before the queue is counted": `${disturbed(0.05).replace("warmup: 5s", "warmup: 0s")}${sla("drained < 2s")}`,
	"recovered from what": `${disturbed(4)}${sla("lost == 0", "recovered < 5s")}`,
	"recovered from what, in one of two systems": `${disturbed(4).replace("system: redis", "systems: { a: redis, b: redis }")}${sla("{ expect: p99 < 1s, system: a }", "recovered < 5s")}`,
	"recovered from the generator's lag": `${disturbed(4)}${sla("recovered(lag p99 < 1ms) < 5s")}`,
	"recovered from a count": `${disturbed(4)}${sla("recovered(lost == 0) < 5s")}`,
	"recovered from a latency without unit": `${disturbed(4)}${sla("recovered(p99 < 100) < 5s")}`,
	"recovered from a latency that the system lacks": `${disturbed(4)}${sla("recovered(ack p99 < 100ms) < 5s")}`,
	"recovered from a limit beyond the drain": `${disturbed(4)}${sla("recovered(p99 < 40s) < 5s")}`,
	"recovered without a limit": `${disturbed(4)}${sla("recovered(p99 < 100ms)")}`,
	"recovered for longer": `${disturbed(4)}${sla("recovered(p99 < 100ms) > 5s")}`,
	"faults of a search": `${disturbed(4).replace("workload:", "workload:\n  find: max-rate")}${sla("p99 < 1s", "drained < 2s")}`,
	"recovered as a baseline had": `${disturbed(4)}repeat: 5\n${sla("recovered <= baseline + 10%")}`,
	"downtime as others call it": `${disturbed(4)}${sla("downtime < 2s")}`,

	// --- a warm-up until steady ---
	"messages until steady": workload({ ...closed, warmup: "steady" }),
	"a backlog until steady": workload({ ...backlog, warmup: "steady" }, jetstream),
	"steps until steady": `system: nats\nworkload: { message: 256B, warmup: steady, steps: [{ rate: 1000/s, duration: 5s }, { rate: 2000/s, duration: 5s }] }\n`,
	"several clients until steady": `clients: 2\n${workload({ warmup: "steady", connections: "2" })}`,
	"faults until steady": `faults: [{ at: 2s, action: restart }]\n${workload({ warmup: "steady" }, "system: redis")}`,

	// --- baselines ---
	"a margin below a latency": compared("p99 <= baseline - 10%"),
	"a margin above a rate": compared("throughput >= baseline + 5%"),
	"a margin without per cent": compared("p99 <= baseline + 10"),
	"a margin in time": compared("p99 <= baseline + 5ms"),
	"two margins in time": compared("p99 <= max(baseline + 1ms, baseline + 2ms)"),
	"a margin in time of a rate": compared("throughput >= max(baseline - 5%, baseline + 2ms)"),
	"a margin that is none": compared("p99 <= baseline"),
	"a margin below the noise of any machine": compared("p50 <= baseline + 0.1%"),
	"a margin that lets everything pass": compared("p99 <= baseline * 20"),
	"a factor below a latency": compared("p99 <= baseline * 0.9"),
	"a count against a baseline": compared("lost <= baseline + 10%"),
	"the largest sample against a baseline": compared("max <= baseline + 10%"),
	"acknowledgements of a baseline without": compared("ack p99 <= baseline + 10%"),
	"a run that is to stop for a baseline": compared(
		"{ expect: p99 <= baseline + 10%, abort: true }",
	),
	"one run against a baseline": `${right}${sla("p99 <= baseline + 10%")}`,
	"three runs against a baseline": `${right}repeat: 3\n${sla("p99 <= baseline + 10%")}`,
	"more runs than can be planned": `${right}repeat: 1000\nmatrix:\n  message: [1KiB, 2KiB, 3KiB, 4KiB]\n  rate: [1/s, 2/s, 3/s]\n`,
	"as many runs as can be planned": `${right}repeat: 1000\nmatrix:\n  message: [1KiB, 2KiB, 3KiB, 4KiB, 5KiB]\n  rate: [1/s, 2/s]\nsla: [p99]\n`,
	"default lines of one run": `baseline: old\n${workload({}, "systems: { old: nats, new: nats }")}`,
	"a search against a baseline": `${workload({ find: "max-rate", duration: "" })}repeat: 5\n${sla("p99 < 5ms", "p99 <= baseline + 10%")}`,
	"a baseline with a typo": `baseline: odl\n${workload({}, "systems: { old: nats, new: nats }")}`,
	"a baseline that is a number": `baseline: 5\n${right}`,
	"a baseline with nothing beside it": `baseline: nats\n${right}`,
	"an objective of the baseline itself": `baseline: old\nrepeat: 5\n${workload({}, "systems: { old: nats, new: nats }")}${sla("{ expect: p99 <= baseline + 10%, system: old }")}`,
};

const surroundings: Surroundings = {
	folder: "/scenarios",
	platform: "linux",
	fileBytes: (path) => (path === "/scenarios" ? "folder" : null),
};

/** The scenario, and what is said about it. */
function block([name, text]: readonly [string, string]): string {
	return `=== ${name}\n${text}---\n${complaint(text)}\n`;
}

function complaint(text: string): string {
	try {
		loadScenario("s.yaml", text, {}, {}, surroundings);
	} catch (error) {
		if (error instanceof MqbenchError && error.code === "scenario-invalid") return error.message;
		throw error;
	}
	return "(taken)";
}

const entries = Object.entries(mistakes);

test.each(entries)("%s: one mistake, one sentence", (_, text) => {
	const report = complaint(text);
	expect(report.match(/^s\.yaml:\d+:\d+ /gm)).toHaveLength(1);
	// A remedy: what to write, what is possible, or what it should have been.
	expect(report).toMatch(
		/write |add |remove |did you mean|known:|must |needs |use |put |give |raise |rename |move it|run /,
	);
});

test("what is said about them is golden", () => {
	const golden = new URL("./golden/mistakes.txt", import.meta.url);
	const found = entries.map(block).join("\n");
	if (process.env.UPDATE_GOLDEN === "1") writeFileSync(golden, found);
	expect(found).toBe(readFileSync(golden, "utf8"));
});
