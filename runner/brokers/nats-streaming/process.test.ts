import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { realBinaries } from "../../../infra/binaries/real.fake.ts";
import { localRig } from "../../../infra/local/local.ts";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import type { System } from "../../scenario/scenario.ts";
import { fakeWorld } from "../../world.fake.ts";
import { streaming } from "./options.ts";

const real = await realBinaries();

async function open(written: Readonly<Record<string, unknown>>, bytes = 256) {
	const folder = testFolder();
	mkdirSync(path.join(folder, "tmp"));
	const options = streaming.options.parse({ broker: "nats-streaming", ...written });
	const rig = await localRig(fakeWorld({ env: { PATH: process.env.PATH } }), real);
	onTestFinished(() => rig.teardown());
	return rig.open({
		system: {
			key: "mine",
			broker: "nats-streaming",
			port: null,
			url: null,
			binary: null,
			options,
		} as unknown as System,
		level: options.durability ?? null,
		messageBytes: bytes,
		cpus: null,
		logPath: path.join(folder, "broker.log"),
	});
}

test.each([
	[
		"its own",
		{},
		{ "streaming.store": "memory", "streaming.store_limits.max_bytes": "1073741824" },
	],
	[
		"fsync",
		{ durability: "fsync" },
		{
			"streaming.store": "file",
			"streaming.file_options.sync_on_flush": "true",
			"streaming.file_options.auto_sync": "1m",
			"streaming.store_limits.max_bytes": "0",
		},
	],
	[
		"os, and settings of the scenario",
		{ durability: "os", config: { "streaming.file_options.buffer_size": "4MB" } },
		{
			"streaming.store": "file",
			"streaming.file_options.sync_on_flush": "false",
			"streaming.file_options.auto_sync": "0s",
			"streaming.file_options.buffer_size": "4MB",
			"streaming.store_limits.max_bytes": "0",
		},
	],
])(
	"nats-streaming-server comes up with durability %s, and says what that is",
	async (_, options, settings) => {
		const broker = await open(options);
		expect(broker.settings).toEqual(settings);
		expect(broker.version).toBe("nats-streaming-server 0.25.6");
	},
);

test("it takes messages above its own limit when the run has such", async () => {
	const broker = await open({}, 3 * 1024 ** 2);
	expect(broker.settings.max_payload).toBe(String(3 * 1024 ** 2 + 1024));
});
