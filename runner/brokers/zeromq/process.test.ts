import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { realBinaries } from "../../../infra/binaries/real.fake.ts";
import { localRig } from "../../../infra/local/local.ts";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import type { System } from "../../scenario/scenario.ts";
import { fakeWorld } from "../../world.fake.ts";
import { SystemOptions } from "../index.ts";

const real = await realBinaries();

test.each([
	["zeromq", /^ZeroMQ forwarder go-zeromq\/zmq4 v\d\S+ \(pure Go, not libzmq\)$/],
	["nanomsg", /^nanomsg forwarder mangos v\d\S+ \(pure Go, not nng\)$/],
])("the forwarder of %s comes up on loopback and names its library", async (broker, version) => {
	const folder = testFolder();
	mkdirSync(path.join(folder, "tmp"));
	const rig = await localRig(fakeWorld({ env: { PATH: process.env.PATH } }), real);
	onTestFinished(() => rig.teardown());
	const made = await rig.open({
		system: {
			key: "mine",
			broker,
			port: null,
			url: null,
			binary: null,
			options: SystemOptions.parse({ broker, forwarder: true }),
		} as unknown as System,
		level: null,
		messageBytes: 256,
		cpus: null,
		logPath: path.join(folder, "broker.log"),
	});
	expect(made.url).toMatch(new RegExp(`^${broker}://127\\.0\\.0\\.1:\\d+$`));
	expect(made.version).toMatch(version);
	expect(made.pids).toHaveLength(1);
});
