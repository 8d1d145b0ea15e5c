import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { brokerLine, readBrokerLog } from "./broker-log.ts";

const at = Date.UTC(2026, 10, 20, 10, 17, 46, 123);

test.each([
	["nats-server", "[4711] 2026/11/20 10:17:46.123000 [WRN] Stream has no quorum"],
	["Kafka", "2026-11-20T10:17:46.123Z WARN Partition Shrinking ISR"],
	["Redis", "4711:M 20 Nov 2026 10:17:46.123 # Disconnected from MASTER"],
	["RabbitMQ", "2026-11-20 10:17:46.123000+00:00 [error] <0.9.0> closed"],
	["Mochi", "time=2026-11-20T10:17:46.123Z level=WARN msg=closed"],
	["Kafka by itself", "[2026-11-20 10:17:46,123] WARN [Broker id=1] gone"],
	["NSQ", "[nsqd] 2026/11/20 10:17:46.123000 ERROR: sending 4 messages"],
])("a warning of %s has its time, alone and among several nodes", (_, line) => {
	const alone = { node: 1, atMs: at, serious: true, ours: false };
	expect(brokerLine(line)).toMatchObject(alone);
	expect(brokerLine(`[3] ${line}`)).toEqual({ ...brokerLine(line), node: 3 });
});

test.each([
	"[1] 2026/11/20 10:17:46.123 [INF] Server is ready",
	"2026-11-20T10:17:46.123Z INFO Broker warn errors fatal",
	"1:M 20 Nov 2026 10:17:46.123 * Ready to accept connections tcp",
	"2026-11-20 12:17:46.123+02:00 [info] <0.9.0> started",
])("what is no warning is none: %s", (line) => {
	const harmless = { node: 1, atMs: at, serious: false };
	expect(brokerLine(line)).toMatchObject(harmless);
});

test("a time that is not known to the millisecond is none: a reaction would stand before its cause", () => {
	expect(brokerLine("1763633866: Client c1 closed")).toBeNull();
	expect(brokerLine("10:17:46.123 [main] ERROR x")).toBeNull();
});

test("what mqbench does is told apart, and what has no time is left out", () => {
	const file = path.join(testFolder(), "broker.log");
	writeFileSync(
		file,
		[
			"[2] 2026-11-20T10:17:46.123Z mqbench: killed node 2",
			"[2] 	at kafka.Kafka$.main(Kafka.scala:1)",
			"",
			"[2] 2026-19-39T10:17:46.123Z no such day",
			"1:M 20 Nux 2026 10:17:46.123 * no such month",
		].join("\n"),
	);
	expect([...(readBrokerLog(file) ?? [])]).toEqual([
		{ node: 2, atMs: at, serious: false, ours: true, text: "mqbench: killed node 2" },
	]);
	expect(readBrokerLog(`${file}.absent`)).toBeNull();
});

test("a log is read line by line, wherever its pieces end, as often as one goes through it", () => {
	const file = path.join(testFolder(), "broker.log");
	const texts = Array.from({ length: 3000 }, (_, i) => `INFO ${"ü€".repeat(i % 400)} ${i}`);
	writeFileSync(file, texts.map((text) => `2026-11-20T10:17:46.123Z ${text}\n`).join(""));
	const log = readBrokerLog(file);
	for (const _ of [1, 2]) expect([...(log ?? [])].map(({ text }) => text)).toEqual(texts);
});
