import { describe, expect, test } from "vitest";
import { expand } from "../plan/expand.ts";
import { warnBeforeRuns } from "../plan/warnings.ts";
import { fakeWorld } from "../world.fake.ts";
import { loadScenario } from "./load.ts";

const load = (text: string) => loadScenario("s.yaml", text);

test.each([
	[
		"a longer ackWait",
		"system: { broker: nats, mode: jetstream, ackWait: 60s }\nworkload: { pattern: backlog, rate: 300/s, message: 256B, backlog: 10200, duration: 120s }\n",
	],
	[
		"slow work in a small prefetch",
		"system: { broker: nats, mode: jetstream, prefetch: 1 }\nworkload: { pattern: work-queue, rate: 5/s, message: 256B, work: 100ms, duration: 10s }\n",
	],
])("messages that our own consumers hold are waited for with %s", (_, text) => {
	expect(() => load(text)).not.toThrow();
});

describe("systems whose consumers hold different numbers of messages while they work", () => {
	const warned = (rabbitmq: string) => {
		const world = fakeWorld();
		const scenario = load(`
systems:
  jetstream: { broker: nats, mode: jetstream, prefetch: 1 }
  rabbitmq: { broker: rabbitmq${rabbitmq} }
workload: { pattern: work-queue, rate: 50/s, message: 256B, work: 5ms, duration: 10s }
`);
		warnBeforeRuns(scenario, expand(scenario, { runId: "x" }), { path: "s.yaml" }, world);
		return world.err();
	};

	test("are warned of before anything runs", () => {
		expect(warned("")).toContain("jetstream 1, rabbitmq 100");
	});

	test("not when they are alike", () => {
		expect(warned(", prefetch: 1")).not.toContain("prefetch");
	});
});
