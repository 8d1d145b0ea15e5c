import { describe, expect, test } from "vitest";
import { Plan } from "../model/plan.ts";
import { loadScenario } from "../scenario/load.ts";
import { expand } from "./expand.ts";
import { priming } from "./priming.ts";

function primings(workload: string, systems = "system: kafka") {
	const scenario = loadScenario("scenario.yaml", `${systems}\nworkload: { ${workload} }\n`);
	const [system] = scenario.systems;
	const [plan] = expand(scenario, { runId: "test" });
	if (system === undefined || plan === undefined) throw new Error("no run");
	return { plan, primed: priming(plan, system) };
}

describe("a fresh JVM is primed", () => {
	test("with 20 000 of the run's own messages, one in flight per producer, on topics of their own and with nothing to judge", () => {
		const { plan, primed } = primings("rate: 50/s, message: 5KiB, connections: 3, duration: 30s");
		Plan.parse(primed);
		expect(primed).toMatchObject({
			schedule: { kind: "closed", messages: 20_000, warmupMessages: 0 },
			inFlight: 1,
			connections: 3,
			sla: [],
			limits: [],
			faults: [],
			message: plan.message,
			driverOptions: plan.driverOptions,
		});
		expect(primed?.topics).toHaveLength(plan.topics.length);
		for (const topic of primed?.topics ?? []) expect(plan.topics).not.toContain(topic);
	});

	test("with fewer if they are large: a GiB at most", () => {
		const { primed } = primings("rate: 50/s, message: 1MiB, duration: 30s");
		expect(primed?.schedule.messages).toBe(1024);
	});
});

test.each([
	["whose warm-up is fixed", "rate: 50/s, duration: 30s, warmup: 5s", "system: kafka"],
	["in a closed loop", "messages: 5000, inFlight: 10", "system: kafka"],
	["without a JVM", "rate: 50/s, duration: 30s, warmup: steady", "system: nats"],
	[
		"on somebody else's broker",
		"rate: 50/s, duration: 30s, warmup: steady",
		"target: existing\nsystem: { broker: kafka, url: kafka://127.0.0.1:9092 }",
	],
])("nothing is primed for a run %s", (_, load, systems) => {
	expect(primings(`message: 256B, ${load}`, systems).primed).toBeNull();
});
