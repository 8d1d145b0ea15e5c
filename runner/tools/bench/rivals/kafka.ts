import { writeFileSync } from "node:fs";
import path from "node:path";
import { pinned, pomOf } from "../../../brokers/jvm.ts";
import { jars as kafkaJars } from "../../../brokers/kafka/process.ts";
import { kafkaRate } from "../tools-output.ts";
import { BYTES, type Contest, findJars, findTool, type Rival } from "./rival.ts";

export const kafka: Contest = {
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
};

// --- internal ---

function producerPerformance(inFlight: number, batchBytes: number): Rival["command"] {
	return async (bench, { url }, messages) => {
		const jars = await findJars(bench, {
			name: "kafka",
			pom: pomOf(kafkaJars),
			sums: pinned(kafkaJars),
			system: "kafka",
		});
		// With --record-size the tool draws every byte of every message, which costs more than to send it.
		const payload = path.join(bench.folder, "payload.txt");
		writeFileSync(payload, "x".repeat(BYTES));
		const perBatch = Math.floor(batchBytes / (BYTES + 16));
		return {
			argv: [
				findTool("java", bench.world.env),
				"-Xms256m",
				"-Xmx256m",
				"-XX:+UseG1GC",
				"-cp",
				path.join(jars, "*"),
				"org.apache.kafka.tools.ProducerPerformance",
				"--topic",
				"mqbench-tool",
				"--num-records",
				String(messages),
				"--throughput",
				"-1",
				"--payload-file",
				payload,
				"--producer-props",
				`bootstrap.servers=${url.replace("kafka://", "")}`,
				"acks=1",
				"linger.ms=0",
				"enable.idempotence=false",
				"retries=0",
				"max.in.flight.requests.per.connection=5",
				`batch.size=${batchBytes}`,
				`buffer.memory=${Math.ceil(inFlight / perBatch) * batchBytes}`,
			],
		};
	};
}
