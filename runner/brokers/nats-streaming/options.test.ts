import { describe, expect, test } from "vitest";
import { streaming } from "./options.ts";

type Some = Readonly<Record<string, unknown>>;

function options(some: Some = {}) {
	return streaming.options.parse({ broker: "nats-streaming", ...some });
}

describe("NATS Streaming", () => {
	test("keeps what is sent, and every consumer acknowledges", () => {
		expect(streaming.traits(options())).toMatchObject({
			acks: true,
			delivery: "at-least-once",
			acknowledge: { alone: "message", group: "message" },
			cannot: {},
			prefetch: 1024,
			redeliverAfterNs: 30e9,
		});
	});

	test("keeps 1 GiB of a channel in memory, and all of one in files", () => {
		expect(streaming.traits(options()).keepsOnly).toMatchObject({ bytes: 1024 ** 3 });
		expect(streaming.traits(options({ durability: "os" })).keepsOnly).toBeNull();
	});

	test.each([
		[{}, "memory", "memory (store: memory, its default)"],
		[{ durability: "memory" }, "memory", "store: memory (memory)"],
		[{ durability: "os" }, "os", "store: file, sync_on_flush: false, auto_sync: 0s (os)"],
		[
			{ durability: "interval" },
			"interval",
			"store: file, sync_on_flush: false, auto_sync: 1s (interval)",
		],
		[{ durability: "fsync" }, "fsync", "store: file, sync_on_flush: true, auto_sync: 1m (fsync)"],
		[
			{ config: { "streaming.store": "FILE" } },
			"fsync",
			"store: file, sync_on_flush: true, auto_sync: 1m (fsync)",
		],
		[
			{ durability: "fsync", config: { "streaming.file_options.sync_on_flush": false } },
			"interval",
			"store: file, sync_on_flush: false, auto_sync: 1m (interval)",
		],
	])("%j is %s: %s", (some, level, text) => {
		expect(streaming.durability(options(some), true)).toMatchObject({ level, text });
	});
});
