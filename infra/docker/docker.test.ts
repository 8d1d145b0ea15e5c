import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { haveImage } from "../../runner/e2e/images.ts";
import type { Level } from "../../runner/plan/plan.ts";
import { brokers } from "../../runner/scenario/brokers.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { realBinaries } from "../binaries/real.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { dockerRig } from "./rig.ts";

const binaries = await realBinaries();
function system(options: Record<string, unknown>): System {
	const kind = brokers[options.broker as "nats"];
	const parsed = kind.options.parse(options);
	return {
		key: "mine",
		broker: options.broker as "nats",
		url: null,
		port: null,
		binary: null,
		image: (options.image as string) ?? null,
		ownTopics: null,
		options: parsed,
		traits: kind.traits(parsed),
	};
}
async function open(
	options: Record<string, unknown>,
	level: Level | null = null,
) {
	const world = fakeWorld({ env: process.env });
	const rig = await dockerRig(world, binaries);
	onTestFinished(() => rig.teardown());
	const log = path.join(testFolder(), "broker.log");
	const broker = await rig.open({
		system: system(options),
		level,
		messageBytes: 256,
		cpus: null,
		logPath: log,
	});
	return { broker, log, world };
}
test("nats", async () => {
	await haveImage("nats");
	let t = Date.now();
	const { broker, log, world } = await open(
		{ broker: "nats", mode: "jetstream", cpus: 1, memory: "256MiB" },
		"fsync",
	);
	console.log(Date.now() - t, broker, world.err());
	for (const action of ["pause", "kill", "restart", "partition"] as const) {
		t = Date.now();
		const back = await broker.disturb({ action, node: null, delayNs: null });
		console.log(action, Date.now() - t);
		t = Date.now();
		await back();
		console.log("back", Date.now() - t);
	}
	console.log(broker.pids);
	await expect(
		broker.disturb({ action: "latency", node: null, delayNs: 1e6 }),
	).rejects.toThrow("Spec");
	t = Date.now();
	await broker.close();
	console.log("close", Date.now() - t, readFileSync(log, "utf8"));
	console.log(execFileSync("docker", ["ps", "-a"], { encoding: "utf8" }));
});
test("redis", async () => {
	await haveImage("redis");
	const { broker } = await open({ broker: "redis" }, "fsync");
	console.log(broker);
});
test("kafka", { timeout: 120000 }, async () => {
	let t = Date.now();
	await haveImage("kafka");
	console.log("image", Date.now() - t);
	t = Date.now();
	const { broker, log } = await open({ broker: "kafka", nodes: 3 }, "memory");
	console.log("open", Date.now() - t, broker);
	t = Date.now();
	const back = await broker.disturb({ action: "kill", node: 1, delayNs: null });
	await back();
	console.log("kill", Date.now() - t);
});
