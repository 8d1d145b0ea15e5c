import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { openBrokerLog } from "./broker-log.ts";

test("the last words of Kafka are its last error, however long it goes on after it", async () => {
	const log = openBrokerLog(path.join(testFolder(), "broker.log"), 1, () => 0);
	const at = "2026-11-20T10:00:00.000Z";
	log.write(`${at} INFO KafkaConfig values`);
	expect(log.lastWords()).toMatch(/KafkaConfig values$/);
	log.write(`${at} ERROR Broker: first`);
	log.write(`${at} FATAL Broker: no disk is left`);
	log.write("	at kafka.Kafka$.main(Kafka.scala:1)");
	for (let i = 0; i < 200; i++) log.write(`${at} INFO Broker: shut down ${i}`);
	expect(log.lastWords()).toBe(`${at} FATAL Broker: no disk is left`);
	log.note("started node 1 again", 1);
	log.write(`${at} INFO Broker: out of memory`);
	expect(log.lastWords()).toBe(`${at} INFO Broker: out of memory`);
	await log.close();
});

test("a secret is neither in the log nor in the last words", async () => {
	const file = path.join(testFolder(), "broker.log");
	const log = openBrokerLog(file, 1, () => 0, ["hunter2"]);
	log.write("unknown setting password=hunter2");
	expect(log.lastWords()).toBe("unknown setting password=***");
	expect(log.tail()).not.toContain("hunter2");
	await log.close();
	expect(readFileSync(file, "utf8")).toBe("unknown setting password=***\n");
});
