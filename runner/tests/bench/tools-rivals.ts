import { writeFileSync } from "node:fs";
import path from "node:path";
import { type JarsOptions, resolveJars } from "../../../infra/binaries/jars.ts";
import { findOnPath } from "../../../infra/local/program.ts";
import { pinned, pomOf } from "../../brokers/jars.ts";
import { jars as kafka } from "../../brokers/kafka/image.ts";
import { packageFolder } from "../../package.ts";
import {
	kafkaRate,
	natsLoopRate,
	perfTestRate,
	redisRate,
} from "./tools-output.ts";
import type { Bench, Command } from "./tools-run.ts";

/** Size of a message, for all. */
export const BYTES = 1024;

/** A broker's own tool, and what mqbench is to do in order to do the same. */
export interface Rival {
	/** Name of the tool, and what both do. */
	readonly tool: string;
	readonly what: string;
	/** Messages of a run, so that it takes two seconds or so on two cores. */
	readonly messages: number;
	/** The system and workload of ours; both have the same messages, size, connections and inFlight. */
	readonly system: Readonly<Record<string, unknown>>;
	readonly pattern: "publish" | "round-trip";
	readonly inFlight: number;
	/** `run` is different for each. */
	command(
		bench: Bench,
		broker: { readonly url: string; readonly run: number },
		messages: number,
	): Promise<Command>;
	rate(stdout: string): number;
	/** In Java: its first second is not like the others. */
	readonly slowStart: boolean;
}

/** A broker that is started once, and all that is measured on it. */
export interface Contest {
	/** The system that the local rig starts. */
	readonly rig: Readonly<Record<string, unknown>>;
	readonly rivals: readonly Rival[];
	/** The system whose rates are tried. */
	readonly rates: Readonly<Record<string, unknown>>;
}

export const contests: Readonly<Record<string, Contest>> = {
	nats: {
		rig: { broker: "nats", mode: "jetstream" },
		rivals: [
			{
				tool: "nats.go loop",
				what: "core, publish and receive, 1000 in flight",
				messages: 600_000,
				system: { broker: "nats" },
				pattern: "round-trip",
				inFlight: 1000,
				command: natsLoop("core", 1000),
				rate: natsLoopRate,
				slowStart: false,
			},
			{
				tool: "nats.go loop",
				what: "JetStream, files, async publish, 1000 in flight",
				messages: 200_000,
				system: { broker: "nats", mode: "jetstream" },
				pattern: "publish",
				inFlight: 1000,
				command: natsLoop("jetstream", 1000),
				rate: natsLoopRate,
				slowStart: false,
			},
		],
		rates: { broker: "nats" },
	},
	redis: {
		rig: { broker: "redis" },
		rivals: [
			{
				tool: "redis-benchmark",
				what: "XADD MAXLEN ~ 100000, -P 100",
				messages: 400_000,
				system: { broker: "redis", mode: "streams", maxLength: 100_000 },
				pattern: "publish",
				inFlight: 100,
				command: redisBenchmark(100),
				rate: redisRate,
				slowStart: false,
			},
		],
		rates: { broker: "redis" },
	},
	rabbitmq: {
		rig: { broker: "rabbitmq" },
		rivals: [
			{
				tool: "PerfTest",
				what: "classic queue, transient messages, confirms, 1000 in flight",
				messages: 100_000,
				system: { broker: "rabbitmq", persistent: false },
				pattern: "publish",
				inFlight: 1000,
				command: perfTest(1000),
				rate: perfTestRate,
				slowStart: true,
			},
		],
		rates: { broker: "rabbitmq", durability: "memory" },
	},
	kafka: {
		rig: {
			broker: "kafka",
			// The tool makes no topic; what is sent is not to fill the disk.
			config: {
				"auto.create.topics.enable": true,
				"log.segment.bytes": 128 * 1024 ** 2,
				"log.retention.bytes": 256 * 1024 ** 2,
			},
		},
		rivals: [
			{
				tool: "producer-perf-test",
				what: "acks 1, linger 0, batches of 16 KiB, 10 000 in flight",
				messages: 300_000,
				system: { broker: "kafka", acks: 1, batch: "16KiB" },
				pattern: "publish",
				inFlight: 10_000,
				command: producerPerformance(10_000, 16 * 1024),
				rate: kafkaRate,
				slowStart: true,
			},
		],
		rates: { broker: "kafka", acks: 1 },
	},
};

// --- internal ---

/** Part of a run's messages that go before, and are not counted. As mqbench's own warm-up. */
const WARMUP = 0.1;

function natsLoop(mode: string, inFlight: number): Rival["command"] {
	return async (bench, { url }, messages) => ({
		argv: [
			path.join(bench.folder, "nats-loop"),
			...["-url", url, "-mode", mode, "-bytes", String(BYTES)],
			...["-messages", String(messages), "-in-flight", String(inFlight)],
			...["-warmup", String(Math.round(WARMUP * messages))],
		],
	});
}

function redisBenchmark(inFlight: number): Rival["command"] {
	return async ({ world }, { url }, messages) => ({
		argv: [
			findTool("redis-benchmark", world.env),
			...["-p", new URL(url).port, "-c", "1", "-P", String(inFlight)],
			...["-n", String(messages), "--csv"],
			...["XADD", "mqbench-tool", "MAXLEN", "~", "100000", "*", "p"],
			"x".repeat(BYTES),
		],
	});
}

function perfTest(inFlight: number): Rival["command"] {
	return async (bench, { url, run }, messages) => {
		const jars = await resolve(bench, {
			name: "perf-test",
			pom: path.join(packageFolder, "runner/tests/bench/tools.pom.xml"),
			sums: null,
			system: "rabbitmq",
		});
		return {
			argv: [
				findTool("java", bench.world.env),
				...["-cp", path.join(jars, "*"), "com.rabbitmq.perf.PerfTest"],
				...["--producers", "1", "--consumers", "0", "--size", String(BYTES)],
				...["--confirm", String(inFlight), "--pmessages", String(messages)],
				// A queue for each run, which the broker removes when it has been left alone.
				...["--queue", `mqbench-tool-${run}`, "--auto-delete", "false"],
				...["--queue-args", "x-expires=20000"],
			],
			env: { URI: url },
		};
	};
}

function producerPerformance(
	inFlight: number,
	batchBytes: number,
): Rival["command"] {
	return async (bench, { url }, messages) => {
		const jars = await resolve(bench, {
			name: "kafka",
			pom: pomOf(kafka),
			sums: pinned(kafka),
			system: "kafka",
		});
		// With --record-size the tool draws every byte of every message, which costs more than to send it.
		const payload = path.join(bench.folder, "payload.txt");
		writeFileSync(payload, "x".repeat(BYTES));
		const perBatch = Math.floor(batchBytes / (BYTES + 16));
		return {
			argv: [
				findTool("java", bench.world.env),
				...["-Xms256m", "-Xmx256m", "-XX:+UseG1GC", "-cp"],
				path.join(jars, "*"),
				"org.apache.kafka.tools.ProducerPerformance",
				...["--topic", "mqbench-tool", "--num-records", String(messages)],
				...["--throughput", "-1", "--payload-file", payload],
				"--producer-props",
				`bootstrap.servers=${url.replace("kafka://", "")}`,
				...["acks=1", "linger.ms=0", "enable.idempotence=false", "retries=0"],
				...["max.in.flight.requests.per.connection=5"],
				`batch.size=${batchBytes}`,
				`buffer.memory=${Math.ceil(inFlight / perBatch) * batchBytes}`,
			],
		};
	};
}

function resolve(
	{ world, binaries }: Bench,
	asked: Pick<JarsOptions, "name" | "pom" | "sums" | "system">,
): Promise<string> {
	return resolveJars({
		...asked,
		properties: {},
		mvn: findTool("mvn", world.env),
		agent: binaries.agent,
		world,
	});
}

function findTool(name: string, env: Bench["world"]["env"]): string {
	const found = findOnPath(name, env);
	if (found === null) throw new Error(`${name} is not on PATH`);
	return found;
}
