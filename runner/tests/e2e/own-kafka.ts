import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { resolveJars } from "../../../infra/programs/jars.ts";
import { realWorld } from "../../../infra/programs/real.fake.ts";
import { pinned, pomOf } from "../../brokers/jvm.ts";
import { jars } from "../../brokers/kafka/process.ts";
import { scenario, standing, temporaryFolder } from "./mqbench.ts";

/** For tests: Kafka's jars, as mqbench fetches them. */
export async function kafkaJars(): Promise<string> {
	return resolveJars({
		name: "kafka",
		pom: pomOf(jars),
		properties: {},
		sums: pinned(jars),
		mvn: "mvn",
		world: realWorld,
		system: "kafka",
	});
}

/** For tests: a Kafka with one topic, made by Kafka's own tool; gone when the test is over. Returns its address, with kafka://. */
export async function ownKafka(topic: string): Promise<string> {
	const folder = temporaryFolder();
	await standing(folder, scenario(folder, {}, { system: "kafka" }));
	const { brokers } = JSON.parse(readFileSync(path.join(folder, "rig.json"), "utf8")) as {
		brokers: { url: string }[];
	};
	const url = brokers[0]?.url ?? "";
	execFileSync(
		"java",
		[
			"-cp",
			path.join(await kafkaJars(), "*"),
			"org.apache.kafka.tools.TopicCommand",
			"--bootstrap-server",
			url.replace("kafka://", ""),
			"--create",
			"--topic",
			topic,
		],
		{ stdio: ["ignore", "ignore", "inherit"] },
	);
	return url;
}
