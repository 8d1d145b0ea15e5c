import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import type { Level } from "../../model/plan.ts";
import { maskUrls } from "../../secrets.ts";
import { describedHere, describedThere } from "../started.fake.ts";

type Some = Readonly<Record<string, unknown>>;

/** An installation with that jar. */
function installation(jar: string): string {
	const folder = testFolder();
	mkdirSync(path.join(folder, "lib"));
	writeFileSync(path.join(folder, "lib", jar), "");
	return folder;
}

const described = (written: Some, binary: string, level: Level | null = null) =>
	describedHere("amqp", { binary, ...written }, { level });

const ARTEMIS = "artemis-server-9.9.9.jar";
const CLASSIC = "activemq-broker-9.9.9.jar";

test("Artemis listens on loopback alone, and keeps its journal where the data goes", async () => {
	const made = await described(
		{ config: { "journal-buffer-timeout": 500_000 } },
		installation(ARTEMIS),
		"os",
	);
	const file = made.file("etc/broker.xml");
	expect(file).toContain("tcp://127.0.0.1:1?protocols=AMQP<");
	expect(file).toContain("<journal-datasync>false</journal-datasync>");
	expect(file).toContain("<journal-buffer-timeout>500000</journal-buffer-timeout>");
	expect(file).toContain(`<journal-directory>${made.store}/data-1/journal</journal-directory>`);
	expect(made.settings).toMatchObject({
		"journal-type": "NIO",
		"journal-datasync": "false",
		java: expect.stringContaining("-Xmx512MiB"),
	});
	// The root logger's level would turn them on: six lines for each message.
	expect(made.file("log4j2.properties")).toMatch(
		/^logger\.audit\.name=org\.apache\.activemq\.audit\nlogger\.audit\.level=OFF$/m,
	);
	expect(maskUrls(made.url())).toBe("amqp://***@127.0.0.1:1");
	expect(made.ready("... AMQ221007: Server is now active", 0)).toBe(true);
});

test("ActiveMQ Classic has its settings as attributes, and lets small messages leave at once", async () => {
	const made = await described(
		{ server: "classic", config: { "kahaDB.indexCacheSize": 1000 } },
		installation(CLASSIC),
	);
	const file = made.file("activemq.xml");
	expect(file).toContain(
		'uri="amqp://127.0.0.1:1?maximumConnections=100000&amp;transport.tcpNoDelay=true"',
	);
	expect(file).toMatch(
		/<kahaDB directory="[^"]*data-1\/kahadb" journalDiskSyncStrategy="ALWAYS" indexCacheSize="1000"\/>/,
	);
	expect(file).toContain('useJmx="false"');
	const [ready, early] = [
		"INFO BrokerService Apache ActiveMQ 6.1.7 (mqbench, ID:x-1-0:1) started",
		"INFO BrokerService Apache ActiveMQ 6.1.7 (mqbench, ID:x-1-0:1) is starting",
	];
	expect([made.ready(early, 0), made.ready(ready, 0)]).toEqual([false, true]);
	expect(made.version()).toBe("ActiveMQ Classic 6.1.7");
});

test("messages that are not durable wait for no disk", async () => {
	const memory = await described({}, installation(ARTEMIS), "memory");
	expect(memory.flushes).toBe(false);
	expect((await described({}, installation(ARTEMIS))).flushes).toBe(true);
});

test("a folder that is no installation of the server is refused, with what is missing", async () => {
	await expect(described({ server: "classic" }, installation(ARTEMIS))).rejects.toMatchObject({
		code: "broker-missing",
	});
});

test("on a host it runs on the host's Java, from jars that are copied", async () => {
	const { nodes, url } = await describedThere(
		{ broker: "amqp", binary: installation(ARTEMIS) },
		{ said: 'openjdk version "17.0.1" 2021' },
	);
	expect(nodes[0]?.argv.join(" ")).toContain(
		"-cp /brought/artemis/*:/brought/artemis/optional/* org.apache.activemq.artemis.core.server.embedded.Main /disk/run's/store",
	);
	expect(nodes[0]?.files["etc/broker.xml"]).toContain("tcp://10.0.0.1:5672?");
	expect(maskUrls(url())).toBe("amqp://***@10.0.0.1:5672");
});
