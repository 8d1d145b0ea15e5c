import { expect, test } from "vitest";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";
import { warningsOf } from "./warnings.ts";

const warnings = (text: string, only?: string) => {
	const scenario = loadScenario("s.yaml", text);
	return warningsOf(scenario, expand(scenario, { only }));
};
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
