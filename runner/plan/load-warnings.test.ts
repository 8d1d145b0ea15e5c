import { expect, test } from "vitest";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";
import { warningsOf } from "./warnings.ts";

const warnings = (text: string, only?: string) => {
	const scenario = loadScenario("s.yaml", text);
	return warningsOf(scenario, expand(scenario, { only }));
};
const queue = (more: string, system = "kafka") =>
	`system: ${system}\nworkload: { pattern: work-queue, message: 256B, duration: 10s, consumers: 4, ${more} }\n`;

test.each<[string, string, string[]]>([
	["a partition for each consumer", queue("rate: 500/s, work: 3ms"), []],
	[
		"idle consumers",
		queue("rate: 500/s, partitions: 1"),
		[
			"kafka, 256B 500/s: 3 of 4 consumers get nothing, because each partition has one consumer and one partition has messages; write partitions: 4",
		],
	],
	[
		"idle consumers, as the order allows one partition",
		queue("rate: 500/s, order: per-producer"),
		[
			"kafka, 256B 500/s: 3 of 4 consumers get nothing, because each partition has one consumer and one partition has messages; write consumers: 1",
		],
	],
	[
		"fewer keys than consumers",
		queue("rate: 500/s, keys: { distribution: random, count: 3 }"),
		[
			"kafka, 256B 500/s: 1 of 4 consumers gets nothing, because each partition has one consumer and 3 partitions have messages; write count: 4 in keys",
		],
	],
	[
		"consumers that are nearly always busy",
		queue("rate: 1200/s, work: 3ms"),
		[
			"kafka, 256B 1200/s: with 3ms of work for each message the busiest consumer is busy 90 % of the time at 1 200/s, so messages wait for consumers; write consumers: 5",
		],
	],
	[
		"a stage beyond what consumers carry",
		queue("rate: 100/s, work: 3ms, stages: [{ duration: 10s, target: 2000/s }]").replace(
			"duration: 10s, consumers",
			"consumers",
		),
		[
			"kafka, 256B 100/s to 2000/s in 1 stage: with 3ms of work for each message the consumers carry at most 1 333/s, and the rate is 2 000/s; write consumers: 8",
		],
	],
	[
		"a search that consumers end",
		`${queue("rate: 100/s, work: 3ms, find: max-rate")}sla: [p99 < 50ms]\n`,
		[
			"kafka, 256B 100/s: with 3ms of work for each message the consumers carry at most 1 333/s, whatever the broker; to see more of the broker, use more consumers",
		],
	],
	[
		"producers without a message",
		"system: nats\nworkload: { rate: 5/s, message: 256B, duration: 10s, warmup: 0s, connections: 60 }\n",
		[
			"nats, 256B 5/s: 10 of 60 producers send nothing, because only 50 messages are due; write connections: 50",
		],
	],
])("%s", (_, text, found) => {
	expect(warnings(text)).toEqual(found);
});

test("is said once for all cases, and not of systems that --only leaves out", () => {
	const text = `
systems:
  kafka: { broker: kafka, partitions: 1 }
  slow: { broker: rabbitmq, prefetch: 1 }
  jetstream: { broker: nats, mode: jetstream, prefetch: 10 }
workload: { pattern: work-queue, duration: 10s, consumers: 4, rate: 100/s, work: 1ms }
cases: [{ message: 256B }, { message: 1KiB }]
`;
	const idle = /^kafka, 256B \(and 1 more\): 3 of 4 consumers get nothing/;
	expect(warnings(text)).toEqual([
		expect.stringContaining("slow 1, jetstream 10"),
		expect.stringMatching(idle),
	]);
	expect(warnings(text, "kafka/*")).toEqual([expect.stringMatching(idle)]);
	expect(warnings(text, "jetstream/*")).toEqual([]);
});
