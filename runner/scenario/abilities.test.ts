import { describe, expect, test } from "vitest";
import { brokerOf, noBroker, type Traits } from "../brokers/index.ts";
import { resolveCases } from "./cases.ts";
import type { Problem } from "./problem.ts";
import { checkSystems } from "./rules/system.ts";
import { ScenarioFile } from "./schema.ts";

/** A system that can do everything except what a test takes away. */
function system(traits: Partial<Traits> = {}) {
	const able: Traits = {
		...brokerOf({ broker: noBroker }).traits({ broker: noBroker }),
		title: "Bus",
		acks: true,
		cannot: {},
		wildcards: true,
		...traits,
	};
	const options = { broker: "nats" } as const;
	return { key: "bus", ...options, options, traits: able, existingTopics: null, path: ["system"] };
}

function refusals(workload: object, traits: Partial<Traits>): string[] {
	const problems: Problem[] = [];
	const written = { workload: { rate: "3/s", message: "1KiB", duration: "9s", ...workload } };
	const cases = resolveCases(ScenarioFile.parse(written), written, problems);
	if (cases === null) throw new Error("a case cannot be made");
	checkSystems([system(traits)], cases, {
		clients: 1,
		rig: null,
		problems,
	});
	return problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("one consumer for each topic competes with nobody", () => {
	const topics = { pattern: "work-queue", consumers: 2, producers: 2, topics: 2 };
	const unordered = { groupOrdered: false };
	expect(refusals({ ...topics, order: "per-producer" }, unordered)).toEqual([]);
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
