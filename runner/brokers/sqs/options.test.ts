import { describe, expect, test } from "vitest";
import { sqs } from "./options.ts";

type Some = Readonly<Record<string, unknown>>;

function options(some: Some = {}) {
	return sqs.options.parse({ broker: "sqs", ...some });
}

describe("SQS", () => {
	test("a standard queue promises no order, a FIFO queue that of each key, and each message once", () => {
		expect(sqs.traits(options())).toMatchObject({
			ordered: false,
			keys: false,
			delivery: "at-least-once",
			prefetch: 10,
			redeliverAfterNs: 30e9,
		});
		expect(sqs.traits(options({ fifo: true }))).toMatchObject({
			ordered: true,
			keys: true,
			delivery: "exactly-once",
		});
	});

	test("is a queue, which copies nothing", () => {
		expect(Object.keys(sqs.traits(options()).cannot)).toEqual(["fan-out"]);
	});

	// In a request of 256 KiB; an attribute's name and type take some of it.
	test.each([
		[{}, 196_608],
		[{ encoding: "binary" }, 262_080],
		[{ batch: 10 }, 19_659],
	])("%j takes messages of up to %d bytes", (some, most) => {
		expect(sqs.traits(options(some)).maxMessageBytes).toBe(most);
	});

	test("a request has Amazon's price", () => {
		expect(sqs.traits(options()).requestUsd).toBe(0.4e-6);
		expect(sqs.traits(options({ fifo: true })).requestUsd).toBe(0.5e-6);
	});

	test("what ElasticMQ acknowledges is in its memory; of Amazon's service nothing is claimed", () => {
		expect(sqs.durability(options(), true)).toMatchObject({ level: "memory" });
		expect(sqs.durability(options(), false)).toMatchObject({ level: null });
	});
});
