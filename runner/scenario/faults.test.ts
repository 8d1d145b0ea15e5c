import { describe, expect, test } from "vitest";
import { loadScenario } from "./load.ts";

const scenario = (faults: string, more = "system: nats") => `
${more}
workload: { rate: 1000/s, message: 256B, duration: 20s, warmup: 5s }
faults:
${faults}
`;

test("a fault counts from the end of the warm-up, and is of all nodes unless it names one", () => {
	const { faults } = loadScenario(
		"s.yaml",
		scenario("  - { at: 8s, action: pause, for: 500ms }"),
	);
	expect(faults).toEqual([
		{ atNs: 8e9, action: "pause", forNs: 5e8, node: null },
	]);
});

describe("a fault that makes no sense is one sentence", () => {
	test.each([
		[
			"beyond the window",
			"  - { at: 20s, action: pause, for: 1s }",
			undefined,
			/s.yaml:5:11 at 20s lies beyond the measured 20s/,
		],
		[
			"before the one above it is over",
			"  - { at: 8s, action: pause, for: 3s }\n  - { at: 10s, action: pause, for: 1s }",
			undefined,
			/s.yaml:6:11 a fault begins when the one before it is over/,
		],
		[
			"on a node that there is not",
			"  - { at: 8s, action: pause, for: 1s, node: 2 }",
			undefined,
			/node 2: nats has not so many nodes/,
		],
		[
			"on somebody's own broker",
			"  - { at: 8s, action: pause, for: 1s }",
			"target: existing\nsystem: { broker: nats, url: nats://host:4222 }",
			/faults are for target local/,
		],
		[
			"of an unknown kind",
			"  - { at: 8s, action: explode, for: 1s }",
			undefined,
			/explode/,
		],
		[
			"with an unknown key",
			"  - { at: 8s, action: pause, duration: 1s }",
			undefined,
			/duration/,
		],
	])("%s", (_, faults, more, message) => {
		expect(() => loadScenario("s.yaml", scenario(faults, more))).toThrow(
			message,
		);
	});

	test("in a closed load", () => {
		const text = scenario("  - { at: 1s, action: pause, for: 1s }").replace(
			"rate: 1000/s, message: 256B, duration: 20s, warmup: 5s",
			"messages: 1000, message: 256B",
		);
		expect(() => loadScenario("s.yaml", text)).toThrow(/closed load/);
	});
});

test("another target on the command line leaves faults aside", () => {
	const { faults } = loadScenario(
		"s.yaml",
		scenario("  - { at: 8s, action: pause, for: 1s }"),
		{ url: "nats://host:4222" },
	);
	expect(faults).toEqual([]);
});
