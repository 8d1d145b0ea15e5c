import { describe, expect, test } from "vitest";
import { brokerOf, noBroker, type Traits } from "../brokers/index.ts";
import { expand } from "../plan/expand.ts";
import { beyondAbilities } from "./abilities.ts";
import { resolveCases } from "./cases.ts";
import { loadScenario } from "./load.ts";
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
		parseParts({ workload: { rate: "3/s", message: "1KiB", duration: "9s", ...workload } }),
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
			"workload.consumers: 2 consumers cannot share 1 topic of bus (Bus): it has no groups; write consumers: 1",
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
			"workload.order: bus (Bus) promises no order when 4 consumers share 1 topic; write order: none",
		],
		[
			"a backlog that a topic does not keep",
			{ pattern: "backlog", backlog: 30, duration: "30s" },
			{ keepsOnly: { messages: 29, bytes: 0, option: "maxLength" } },
			"workload.backlog: bus keeps 29 messages of a topic, and 30 pile up, so the first ones are lost; write maxLength: 60 in bus",
		],
		[
			"a backlog of more bytes than a topic keeps",
			{ pattern: "backlog", backlog: 30, duration: "30s" },
			{ keepsOnly: { messages: 10, bytes: 29 * 1024, option: "maxLength" } },
			"workload.backlog: bus keeps 29 messages of a topic, and 30 pile up, so the first ones are lost; write maxLength: 60 in bus",
		],
	])("%s", (_, workload, traits, sentence) => {
		expect(refusals(workload, traits)).toEqual([sentence]);
		expect(refusals(workload, {})).toEqual([]);
	});

	test("one consumer for each topic competes with nobody", () => {
		expect(
			refusals(
				{ pattern: "work-queue", consumers: 2, producers: 2, topics: 2, order: "per-producer" },
				{ groupOrdered: false },
			),
		).toEqual([]);
	});
});

describe("work that its consumers cannot do at the rate is refused for every system", () => {
	const queue = { pattern: "work-queue", consumers: 4, work: "1s" };
	const byPartition = { groupsByPartition: true };
	test.each<[string, object, Partial<Traits>, string[]]>([
		["room for it", { rate: "3/s" }, {}, []],
		["no room left, and none lacking", { rate: "4/s" }, {}, []],
		[
			"too few consumers",
			{ rate: "5/s" },
			{},
			[
				"workload.work: bus: with 1s of work for each message the consumers carry at most 4/s, and the rate is 5/s; write consumers: 6",
			],
		],
		["a partition for each consumer, by default", {}, byPartition, []],
		[
			"consumers that are idle",
			{ partitions: 1 },
			byPartition,
			[
				"workload.work: bus: with 1s of work for each message the consumers carry at most 1/s, and the rate is 3/s; write partitions: 4",
			],
		],
		[
			"a consumer with two of five partitions",
			{ partitions: 5 },
			byPartition,
			[
				"workload.work: bus: with 1s of work for each message the consumers carry at most 2/s, and the rate is 3/s; write partitions: 4",
			],
		],
		[
			"one partition for the order's sake",
			{ order: "per-producer" },
			byPartition,
			[
				"workload.work: bus: with 1s of work for each message the consumers carry at most 1/s, and the rate is 3/s; write at most rate: 0.85/s",
			],
		],
		["a search, which ends where they do", { find: "max-rate", rate: "9/s" }, {}, []],
	])("%s", (_, workload, traits, sentences) => {
		expect(refusals({ ...queue, ...workload }, traits)).toEqual(sentences);
	});
});

test("a system's own partitions are for its topics alone; beside it others do without, and nobody says it twice", () => {
	const two = (first: string, workload: string) => `
systems:
  logs: { broker: kafka${first} }
  queues: { broker: nats, mode: jetstream }
workload: { pattern: work-queue, consumers: 4, rate: 300/s, message: 256B, duration: 9s${workload} }
`;
	const partitions = (text: string) =>
		Object.fromEntries(
			expand(loadScenario("s.yaml", text), {}).map((plan) => [plan.system, plan.partitions]),
		);
	expect(partitions(two("", ""))).toEqual({ logs: 4, queues: 1 });
	expect(partitions(two(", partitions: 12", ""))).toEqual({ logs: 12, queues: 1 });
	expect(partitions(two("", ", partitions: 8"))).toEqual({ logs: 8, queues: 1 });
	expect(partitions(two("", ", order: none, topics: 2, producers: 2"))).toEqual({
		logs: 2,
		queues: 1,
	});
	expect(() => partitions(two(", partitions: 12", ", partitions: 8"))).toThrow(
		"partitions is set here and in logs; remove one of them",
	);
});
