import { describe, expect, test } from "vitest";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";

const load = (system: string, workload = "", overrides: Overrides = {}, target = "existing") =>
	loadScenario(
		"s.yaml",
		`target: ${target}\nsystem: { broker: kafka, url: "kafka://h:9092", ${system} }\nworkload: { rate: 3/s, message: 256B, duration: 9s${workload} }\n`,
		overrides,
	);
const planOf = (scenario: ReturnType<typeof load>) => expand(scenario, { runId: "r" })[0];

describe("topics of one's own", () => {
	test("are used as they are, and none is made", () => {
		expect(
			planOf(load("create: false, topics: [orders, bills]", ", connections: 2")),
		).toMatchObject({
			create: false,
			topics: ["orders", "bills"],
			durability: "not known, the topics are yours",
			durabilityLevel: null,
			replicas: null,
		});
	});

	test("without them mqbench makes its own, and removes them", () => {
		for (const system of ["acks: all", "create: true"])
			expect(planOf(load(system))).toMatchObject({ create: true, topics: ["mqbench.r.1.0"] });
	});

	test("are left aside where the command line chose another target", () => {
		const scenario = load("create: false, topics: [orders]", "", { target: "local" });
		expect(scenario.systems[0]?.existingTopics).toBeNull();
		expect(planOf(scenario)).toMatchObject({ create: true });
	});

	test("a promise about acknowledged messages is as before", () => {
		expect(
			planOf(load("create: false, topics: [orders]", ", delivery: exactly-once"))?.sla.map(
				({ text }) => text,
			),
		).toEqual(["lost == 0 (delivery: exactly-once)", "duplicated == 0 (delivery: exactly-once)"]);
	});
});
