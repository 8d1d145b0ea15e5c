import { describe, expect, test } from "vitest";
import { loadScenario } from "./load.ts";

const scenario = (faults: string, more = "system: nats") => `
${more}
workload: { rate: 1000/s, message: 256B, duration: 20s, warmup: 5s }
faults:
${faults}
`;

/** Three nodes, of which one leads each topic. */
const CLUSTER = "system: { broker: nats, mode: jetstream, nodes: 3, replicas: 3 }";
const linux = { folder: "/", platform: "linux", fileBytes: () => null };
const load = (faults: string, more?: string) =>
	loadScenario("s.yaml", scenario(faults, more), {}, {}, linux).faults;

test("a fault counts from the end of the warm-up, and is of all nodes unless it names one", () => {
	expect(load("  - { at: 8s, action: pause, for: 500ms }")).toEqual([
		{ atNs: 8e9, action: "pause", forNs: 5e8, node: null, delayNs: null },
	]);
});

describe("what an action is, takes and lacks", () => {
	test.each([
		["{ action: kill, node: leader }", { forNs: null, node: "leader" }],
		["{ action: kill, node: 2, for: 2s }", { forNs: 2e9, node: 2 }],
		["{ action: restart, node: 3 }", { forNs: 0, node: 3 }],
		["{ action: restart, for: 1s }", { forNs: 1e9, node: null }],
	])("%s", (written, expected) => {
		expect(load(`  - ${written.replace("{", "{ at: 8s,")}`, CLUSTER)).toMatchObject([expected]);
	});

	test.each([
		["{ action: partition, node: 1, for: 1s }", { forNs: 1e9, delayNs: null }],
		["{ action: latency, node: 1, for: 1s, delay: 50ms }", { forNs: 1e9, delayNs: 5e7 }],
	])("in containers: %s", (written, expected) => {
		expect(
			load(`  - ${written.replace("{", "{ at: 8s,")}`, `${CLUSTER}\ntarget: docker`),
		).toMatchObject([expected]);
	});

	test("of brokers of one node too: their data stays", () => {
		expect(
			load(
				"  - { at: 8s, action: kill, for: 1s }\n  - { at: 12s, action: restart, node: 1 }",
				"systems: { redis: { broker: redis }, rabbitmq: { broker: rabbitmq }, kafka: { broker: kafka }, nats: { broker: nats } }",
			),
		).toHaveLength(2);
	});

	test("and a fault may last longer than the run", () => {
		expect(load("  - { at: 19s, action: pause, for: 60s }")).toHaveLength(1);
	});
});

describe("faults are refused", () => {
	test.each(["win32", "darwin"])("without /proc (%s)", (platform) => {
		const text = scenario("  - { at: 8s, action: kill }");
		const on = (more: object) => loadScenario("s.yaml", text, more, {}, { ...linux, platform });
		expect(() => on({})).toThrow(/faults on target local need Linux; write target: docker/);
		expect(on({ target: "docker" }).faults).toHaveLength(1);
	});
});

test("noop has no broker to which anything could be done", () => {
	expect(
		load(
			"  - { at: 8s, action: kill, node: leader }",
			"systems: { noop: { broker: noop }, js: { broker: nats, mode: jetstream, nodes: 3 } }",
		),
	).toHaveLength(1);
});

test("another target on the command line leaves faults aside", () => {
	const { faults } = loadScenario("s.yaml", scenario("  - { at: 8s, action: pause, for: 1s }"), {
		url: "nats://host:4222",
	});
	expect(faults).toEqual([]);
});
