import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { realBinaries } from "../binaries/real.fake.ts";
import { BrokerNode } from "../nodes/node.ts";
import { testFolder } from "../test-folder.fake.ts";
import { findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";
import { containerPlace } from "./place.ts";

const binaries = await realBinaries();

test("nothing is done to a node that is down, or has not come up yet", async () => {
	const up = path.join(testFolder(), "up");
	const { world, calls } = fakeDocker(
		`case "$1" in container) echo '{"Id":"x","State":{"Running":true}}';; logs) until [ -e ${up} ]; do sleep 0.02; done; echo ready; exec sleep 20;; esac`,
	);
	const node = new BrokerNode({
		number: 2,
		place: containerPlace({
			docker: findDocker(world, binaries.agent),
			name: "n",
			network: "net",
			memoryBytes: null,
			stopMs: 1,
			world,
			async prepare() {},
		}),
		command: { argv: [], before: [], files: {} },
		hear() {},
		ready: (line) => line === "ready",
	});
	onTestFinished(() => node.close());
	await expect(node.kill()).rejects.toThrow("node 2 is down already");
	const starting = node.start();
	await expect
		.poll(() => node.kill().catch((error) => error.message))
		.toMatch(/^node 2 is not up again/);
	const { ready } = await starting;
	for (const fault of [() => node.kill(), () => node.end(), () => node.pause()])
		await expect(fault()).rejects.toThrow(
			"node 2 is not up again after the previous fault; leave more time between faults",
		);
	expect(calls().join()).not.toMatch(/kill|stop|pause/);
	writeFileSync(up, "");
	await ready;
	await node.pause();
	expect(calls()).toContain("pause n");
});
