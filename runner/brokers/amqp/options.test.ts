import { describe, expect, test } from "vitest";
import { amqp } from "./options.ts";

type Some = Readonly<Record<string, unknown>>;

function options(some: Some = {}) {
	return amqp.options.parse({ broker: "amqp", ...some });
}

function refusals(some: Some, place: "process" | "container" = "process") {
	return amqp.contradictions(options(some), place).map(({ key, message }) => `${key}: ${message}`);
}

describe("AMQP 1.0", () => {
	test("a queue keeps messages, and each goes to one consumer", () => {
		expect(amqp.traits(options())).toMatchObject({
			acks: true,
			delivery: "at-least-once",
			acknowledge: { alone: "message", group: "message" },
			prefetch: 100,
			redeliverAfterNs: null,
		});
		expect(Object.keys(amqp.traits(options()).cannot)).toEqual(["fan-out"]);
		expect(amqp.traits(options()).instead).toEqual({ "fan-out": "write destination: topic" });
	});

	test("a topic copies them, and keeps nothing", () => {
		const { cannot, levels, ownDurability } = amqp.traits(options({ destination: "topic" }));
		expect(Object.keys(cannot)).toEqual(["work-queue", "backlog", "request-reply"]);
		expect(levels).toEqual({});
		expect(ownDurability).toBe("none, a topic keeps nothing");
	});

	test("of settled messages nobody hears", () => {
		expect(amqp.traits(options({ settled: true }))).toMatchObject({
			acks: false,
			delivery: "at-most-once",
			levels: {},
		});
	});

	test.each([
		[{}, "fsync", "fsync (journal-datasync: true, its default)"],
		[{ durability: "memory" }, "memory", "messages that are not durable (memory)"],
		[{ durability: "os" }, "os", "journal-datasync: false (os)"],
		[{ durability: "fsync" }, "fsync", "journal-datasync: true (fsync)"],
		[{ config: { "journal-datasync": false } }, "os", "journal-datasync: false (os)"],
		[{ server: "classic" }, "fsync", "fsync (kahaDB.journalDiskSyncStrategy: ALWAYS, its default)"],
		[
			{ server: "classic", durability: "interval" },
			"interval",
			"kahaDB.journalDiskSyncStrategy: PERIODIC (interval)",
		],
		[{ server: "classic", durability: "os" }, "os", "kahaDB.journalDiskSyncStrategy: NEVER (os)"],
		[{ destination: "topic" }, null, "none, a topic keeps nothing"],
		[{ settled: true }, null, "none, messages are sent settled, and nobody acknowledges them"],
	])("%j is %s: %s", (some, level, text) => {
		expect(amqp.durability(options(some), true)).toMatchObject({ level, text });
	});

	test("Artemis has no interval", () => {
		expect(Object.keys(amqp.traits(options()).levels)).toEqual(["memory", "os", "fsync"]);
	});

	test("refuses what it cannot do, with what to write", () => {
		expect(refusals({ server: "classic", config: { useJmx: true } })).toEqual([
			expect.stringContaining("broker.NAME or kahaDB.NAME"),
		]);
	});
});
