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
			"workload.message: message 1KiB is larger than bus takes; write at most message: 1023B",
		],
		[
			"a pattern",
			{ pattern: "publish" },
			{ cannot: { publish: "it acknowledges nothing", backlog: "x" } },
			"workload.pattern: bus (Bus) cannot run pattern publish: it acknowledges nothing; write another pattern, or remove bus",
		],
		[
			"keys",
			{ keys: "zipf" },
			{ keys: false },
			"workload.keys: messages of bus (Bus) have no keys; remove keys",
		],
		[
			"partitions",
			{ partitions: 3 },
			{ partitions: false },
			"workload.partitions: topics of bus (Bus) have no partitions; remove partitions",
		],
		[
			"a wildcard",
			{ pattern: "fan-out", subscriptions: 2, wildcard: true },
			{ wildcards: false },
			"workload.wildcard: bus (Bus) has no wildcard subscriptions; remove wildcard",
		],
		[
			"responders that share a topic",
			{ pattern: "request-reply", consumers: 2 },
			{ cannot: { "work-queue": "it has no groups" } },
			"workload.consumers: 2 consumers cannot share one topic of bus (Bus): it has no groups; write consumers: 1",
		],
		[
			"an order that it does not keep",
			{ order: "per-producer" },
			{ ordered: false },
			"workload.order: bus (Bus) promises no order; write order: none",
		],
		[
			"an order over competing consumers",
			{ pattern: "work-queue", consumers: 4, order: "per-producer" },
			{ groupOrdered: false },
			"workload.order: bus (Bus) promises no order when 4 consumers share one topic; write consumers: 1, or order: none",
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
