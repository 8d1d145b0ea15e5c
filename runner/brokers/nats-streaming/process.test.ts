import { expect, test } from "vitest";
import { started } from "../started.fake.ts";

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
		const broker = await started("nats-streaming", options);
		expect(broker.settings).toEqual(settings);
		expect(broker.version).toBe("nats-streaming-server 0.25.6");
	},
);

test("it takes messages above its own limit when the run has such", async () => {
	const broker = await started("nats-streaming", {}, { messageBytes: 3 * 1024 ** 2 });
	expect(broker.settings.max_payload).toBe(String(3 * 1024 ** 2 + 1024));
});
