import { describe, expect, test } from "vitest";
import { nsq } from "./options.ts";

type Some = Readonly<Record<string, unknown>>;

function options(some: Some = {}) {
	return nsq.options.parse({ broker: "nsq", ...some });
}

describe("NSQ", () => {
	test("keeps what is sent in no order, and every consumer acknowledges", () => {
		expect(nsq.traits(options())).toMatchObject({
			acks: true,
			delivery: "at-least-once",
			ordered: false,
			acknowledge: { alone: "message", group: "message" },
			cannot: {},
			prefetch: 100,
			redeliverAfterNs: 60e9,
			nodes: [1, 2, 3],
		});
		expect(nsq.traits(options({ prefetch: 1, msgTimeout: "5s" }))).toMatchObject({
			prefetch: 1,
			redeliverAfterNs: 5e9,
		});
	});

	test("has no level that means a disk: it flushes after it has acknowledged", () => {
		expect(Object.keys(nsq.traits(options()).levels)).toEqual(["memory", "os", "interval"]);
	});

	test.each([
		[{}, "memory", "memory (mem-queue-size: 10000, what is more goes to files, its default)"],
		[
			{ durability: "memory" },
			"memory",
			"mem-queue-size: 10000, what is more goes to files (memory)",
		],
		[{ durability: "os" }, "os", "mem-queue-size: 0, never synced (os)"],
		[
			{ durability: "interval" },
			"interval",
			"mem-queue-size: 0, sync-every: 2500, sync-timeout: 1s (interval)",
		],
		[
			{ config: { "mem-queue-size": 0 } },
			"interval",
			"mem-queue-size: 0, sync-every: 2500, sync-timeout: 2s (interval)",
		],
		[
			{ durability: "os", config: { "sync-every": 1 } },
			"interval",
			"mem-queue-size: 0, sync-every: 1, sync-timeout: 24h (interval)",
		],
	])("%j is %s: %s", (some, level, text) => {
		expect(nsq.durability(options(some), true)).toMatchObject({ level, text });
	});
});
