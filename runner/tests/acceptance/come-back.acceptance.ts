import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { failoverOf, noted } from "../e2e/failover.fake.ts";
import { haveImage } from "../e2e/images.ts";
import { measured } from "../e2e/mqbench.ts";

const RATE = 100;

/** Brokers that take long to start come back under load: for `npm test`, NATS and Redis do, in containers and on this machine. */
test.each([
	[
		"three nodes of Kafka in containers, one of which is killed",
		"docker",
		"{ broker: kafka, nodes: 3, replicas: 3, heap: 256MiB, durability: memory }",
		"{ at: 2s, action: kill, node: 2, for: 1s }",
		"3 containers on 1 host",
	],
	[
		"RabbitMQ in a container, restarted",
		"docker",
		"{ broker: rabbitmq, durability: fsync, acknowledge: message }",
		"{ at: 2s, action: restart }",
		"1 container",
	],
	[
		"RabbitMQ of this machine, restarted",
		"local",
		"{ broker: rabbitmq, durability: fsync, acknowledge: message }",
		"{ at: 2s, action: restart }",
		null,
	],
	[
		"RabbitMQ streams of this machine, killed",
		"local",
		"{ broker: rabbitmq, queue: stream }",
		"{ at: 2s, action: kill, for: 1s }",
		null,
	],
	[
		"Pulsar of this machine, killed",
		"local",
		"{ broker: pulsar, durability: fsync }",
		"{ at: 2s, action: kill, for: 1s }",
		null,
	],
	[
		"Kafka of this machine, killed",
		"local",
		"{ broker: kafka, durability: os }",
		"{ at: 2s, action: kill, for: 1s }",
		null,
	],
] as const)("%s: comes back with its data", async (_, target, system, fault, topology) => {
	const broker = /broker: (\w+)/.exec(system)?.[1] ?? "";
	if (target === "docker") await haveImage(broker as "kafka");
	// Beside other tests a Pulsar was not back after a minute.
	const seconds = broker === "pulsar" ? 150 : 60;
	const { run: one, results } = await measured(
		{ rate: `${RATE}/s`, duration: `${seconds}s`, drain: "30s" },
		{ target, system, faults: `[${fault}]`, sla: "[lost == 0]" },
		{ exit: [0, 4, 6, 99] },
	);
	expect(one).toMatchObject({ topology, notOffered: 0, lost: 0 });
	const { fault: told, log } = failoverOf(results);
	expect(told).toMatchObject({ error: null, endedNs: expect.any(Number) });
	const thereSeconds = seconds - ((told.endedNs ?? Number.NaN) - told.beganNs) / 1e9;
	expect(one.acked).toBeGreaterThan((RATE * thereSeconds) / 2);
	noted(log, `node ${told.node ?? 1} is ready again`);
	const text = readFileSync(path.join(results, one.folder, "broker.log"), "utf8");
	expect(text).not.toMatch(/mkfifo|already running/);
	if (system.includes("durability: os")) expect(text).toMatch(/skipping recovery|recover/i);
});
