import { describe, expect, test } from "vitest";
import { redis } from "./options.ts";

type Some = Readonly<Record<string, unknown>>;

function options(some: Some = {}) {
	return redis.options.parse({ broker: "redis", ...some });
}

function refusals(some: Some): string[] {
	return redis.contradictions(options(some)).map(({ key, message }) => `${key}: ${message}`);
}

describe("what a mode promises", () => {
	test("pub/sub stores and acknowledges nothing", () => {
		expect(redis.traits(options())).toMatchObject({
			title: "Redis pub/sub",
			acks: false,
			delivery: "at-most-once",
			wildcards: true,
			levels: {},
			ownDurability: "none, nothing is stored",
		});
	});

	test("streams acknowledge, in all levels", () => {
		expect(redis.traits(options({ mode: "streams" }))).toMatchObject({
			title: "Redis streams",
			acks: true,
			delivery: "at-least-once",
			ordered: true,
			groupOrdered: false,
			wildcards: false,
			cannot: {},
			levels: {
				memory: "appendonly no",
				os: "appendonly yes, appendfsync no",
				interval: "appendonly yes, appendfsync everysec",
				fsync: "appendonly yes, appendfsync always",
			},
		});
	});

	test.each<[Some, string, string, string, string]>([
		[{ mode: "pubsub" }, "automatic", "at-most-once", "automatic", "at-most-once"],
		[{ mode: "streams" }, "automatic", "at-least-once", "message", "at-least-once"],
		[
			{ mode: "streams", acknowledge: "automatic" },
			"automatic",
			"at-least-once",
			"automatic",
			"at-most-once",
		],
		[{ mode: "lists" }, "automatic", "at-most-once", "message", "at-least-once"],
		[
			{ mode: "lists", acknowledge: "message" },
			"message",
			"at-least-once",
			"message",
			"at-least-once",
		],
	])("%j alone: %s, %s; in a group: %s, %s", (some, alone, promisedAlone, group, promised) => {
		expect(redis.traits(options(some))).toMatchObject({
			acknowledge: { alone, group },
			delivery: promised,
			deliveryAlone: promisedAlone,
		});
	});

	test.each([
		["pubsub", ["publish", "backlog", "work-queue"]],
		["streams", []],
		["lists", ["fan-out"]],
	])("%s cannot do %j, and says why", (mode, patterns) => {
		const { cannot } = redis.traits(options({ mode }));
		expect(Object.keys(cannot)).toEqual(patterns);
		for (const why of Object.values(cannot)) expect(why).toMatch(/^\w.*[^.]$/);
	});
});

describe("the driver's options", () => {
	test("are the mode where nothing else is said", () => {
		expect(redis.driverOptions(options())).toEqual({ mode: "pubsub" });
	});

	test("carry durations in ns, and TLS without what is not given", () => {
		const all = {
			mode: "streams",
			client: "go-redis",
			acknowledge: "batch",
			prefetch: 1,
			maxLength: 0,
			claimAfter: "10s",
			tls: { ca: "/ca.pem" },
		};
		expect(redis.driverOptions(options(all))).toEqual({
			mode: "streams",
			client: "go-redis",
			acknowledge: "batch",
			prefetch: 1,
			maxLength: 0,
			claimAfterNs: 10_000_000_000,
			tls: { ca: "/ca.pem" },
		});
		expect(redis.driverOptions(options({ tls: true }))).toMatchObject({ tls: {} });
		expect(redis.driverOptions(options({ tls: false }))).not.toHaveProperty("tls");
	});
});

describe("what goes together", () => {
	test("is not refused", () => {
		expect(
			refusals({
				mode: "streams",
				prefetch: 1,
				maxLength: 5,
				claimAfter: "1s",
				url: "redis://a:1",
				config: { "io-threads": 2 },
			}),
		).toEqual([]);
	});
});
