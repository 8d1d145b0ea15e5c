import { describe, expect, test } from "vitest";
import { brokerOf, noBroker, type Traits } from "../brokers/index.ts";
import { beyondAbilities } from "./abilities.ts";
import { resolveCases } from "./cases.ts";
import { parseParts } from "./parts.ts";

/** A system that can do everything, less what a test takes away. */
function system(traits: Partial<Traits> = {}) {
	const able: Traits = {
		...brokerOf({ broker: noBroker }).traits({ broker: noBroker }),
		title: "Bus",
		acks: true,
		cannot: {},
		wildcards: true,
		...traits,
	};
	return { key: "bus", broker: "nats", traits: able } as const;
}

function refusals(workload: object, traits: Partial<Traits>): string[] {
	const cases = resolveCases(
		parseParts({
			workload: { rate: "3/s", message: "1KiB", duration: "9s", ...workload },
		}),
	);
	expect(cases.problems).toEqual([]);
	return beyondAbilities([system(traits)], cases).map(
		({ path, message }) => `${path.join(".")}: ${message}`,
	);
}

describe("what a system cannot do is refused, with a way on", () => {
	test.each<[string, object, Partial<Traits>, string]>([
		[
			"too large a message",
			{},
			{ maxMessageBytes: 1023 },
			"workload.message: message 1KiB is larger than what bus takes, 1023B; the envelope is part of it",
		],
		[
			"a pattern",
			{ pattern: "publish" },
			{ cannot: { publish: "it acknowledges nothing", backlog: "x" } },
			"workload.pattern: pattern publish: bus (Bus) cannot do it: it acknowledges nothing; leave bus out, or write one of round-trip, request-reply, fan-out, work-queue",
		],
		[
			"keys",
			{ keys: "zipf" },
			{ keys: false },
			"workload.keys: keys: messages of bus (Bus) have none; remove keys, or leave bus out",
		],
		[
			"partitions",
			{ partitions: 3 },
			{ partitions: false },
			"workload.partitions: partitions 3: topics of bus (Bus) have none; write topics instead, or leave bus out",
		],
		[
			"a wildcard",
			{ pattern: "fan-out", subscriptions: 2, wildcard: true },
			{ wildcards: false },
			"workload.wildcard: wildcard: bus (Bus) subscribes to topics by their names alone; remove wildcard, or leave bus out",
		],
		[
			"responders that share a topic",
			{ pattern: "request-reply", consumers: 2 },
			{ cannot: { "work-queue": "it has no groups" } },
			"workload.consumers: consumers 2: bus (Bus) cannot share one topic among them: it has no groups; write at most as many consumers as topics, or leave bus out",
		],
		[
			"an order that it does not keep",
			{ order: "per-producer" },
			{ ordered: false },
			"workload.order: order per-producer: bus (Bus) promises no order; write order: none, or leave bus out",
		],
		[
			"an order over competing consumers",
			{ pattern: "work-queue", consumers: 4, order: "per-producer" },
			{ groupOrdered: false },
			"workload.order: order per-producer: 4 consumers compete for the messages of one topic, and bus (Bus) then promises no order; write order: none, or at most as many consumers as topics",
		],
	])("%s", (_, workload, traits, sentence) => {
		expect(refusals(workload, traits)).toEqual([sentence]);
		expect(refusals(workload, {})).toEqual([]);
	});

	test("one consumer for each topic competes with nobody", () => {
		expect(
			refusals(
				{
					pattern: "work-queue",
					consumers: 2,
					producers: 2,
					topics: 2,
					order: "per-producer",
				},
				{ groupOrdered: false },
			),
		).toEqual([]);
	});
});
