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
		["{ action: kill, broker: 2, for: 2s }", { forNs: 2e9, node: 2 }],
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

describe("a fault that makes no sense is one sentence", () => {
	test.each([
		[
			"beyond the window",
			"  - { at: 20s, action: pause, for: 1s }",
			undefined,
			/at 20s is after the end of case "256B 1000\/s", 20s after its warm-up; write an earlier time/,
		],
		[
			"before the one above it is over",
			"  - { at: 8s, action: pause, for: 3s }\n  - { at: 10s, action: pause, for: 1s }",
			undefined,
			/this fault begins before the one above has ended; write a later time/,
		],
		[
			"after a kill without an end",
			"  - { at: 8s, action: kill, node: 1 }\n  - { at: 10s, action: pause, for: 1s, node: 2 }",
			CLUSTER,
			/the kill before this fault never ends; write e\.g\. for: 2s there/,
		],
		[
			"a pause without an end",
			"  - { at: 8s, action: pause }",
			undefined,
			/a pause needs an end; write e\.g\. for: 500ms/,
		],
		[
			"a partition without an end",
			"  - { at: 8s, action: partition }",
			"system: nats\ntarget: docker",
			/a partition needs an end; write e\.g\. for: 500ms/,
		],
		[
			"latency without an end",
			"  - { at: 8s, action: latency, delay: 50ms }",
			"system: nats\ntarget: docker",
			/latency needs an end; write e\.g\. for: 500ms/,
		],
		[
			"latency without a delay",
			"  - { at: 8s, action: latency, for: 5s }",
			"system: nats\ntarget: docker",
			/latency needs a delay; write e\.g\. delay: 50ms/,
		],
		[
			"a delay of something else",
			"  - { at: 8s, action: kill, delay: 50ms }",
			undefined,
			/delay needs action: latency, and this is a kill; remove delay/,
		],
		[
			"a partition on this machine",
			"  - { at: 8s, action: partition, for: 5s }",
			undefined,
			/partition needs target docker: local brokers share the network of this machine; write target: docker/,
		],
		[
			"latency on this machine",
			"  - { at: 8s, action: latency, for: 5s, delay: 1ms }",
			undefined,
			/latency needs target docker: local brokers share the network of this machine; write target: docker/,
		],
		[
			"two words for the node",
			"  - { at: 8s, action: kill, node: 1, broker: 2 }",
			CLUSTER,
			/broker means the same as node; remove one of them/,
		],
		[
			"on a node that there is not",
			"  - { at: 8s, action: pause, for: 1s, node: 2 }",
			undefined,
			/node 2: nats has 1 node; write nodes: 2 for nats/,
		],
		[
			"on a node that one of the systems has not",
			"  - { at: 8s, action: kill, broker: 3 }",
			`systems: { js: { broker: nats, mode: jetstream, nodes: 3 }, redis: { broker: redis } }`,
			/broker 3: redis has 1 node; write nodes: 3 for redis/,
		],
		[
			"the leader of one node",
			"  - { at: 8s, action: kill, node: leader }",
			"system: kafka",
			/node: leader: kafka has one node, and no other can take over; write nodes: 3 for kafka/,
		],
		[
			"the leader of a system without copies",
			"  - { at: 8s, action: kill, node: leader }",
			"systems: { core: { broker: nats, nodes: 3 } }",
			/node: leader: topics of core \(NATS core\) have no leader; remove node/,
		],
		[
			"the leader of Redis",
			"  - { at: 8s, action: kill, node: leader }",
			"system: redis",
			/node: leader: topics of redis \(Redis pub\/sub\) have no leader; remove node/,
		],
		[
			"on somebody's own broker",
			"  - { at: 8s, action: pause, for: 1s }",
			"target: existing\nsystem: { broker: nats, url: nats://host:4222 }",
			/faults need target local, docker, aws or kubernetes: mqbench disturbs only brokers that it starts; remove faults/,
		],
		["of an unknown kind", "  - { at: 8s, action: explode, for: 1s }", undefined, /explode/],
		["with an unknown key", "  - { at: 8s, action: pause, duration: 1s }", undefined, /duration/],
		[
			"with a node that is no number",
			"  - { at: 8s, action: kill, node: follower }",
			CLUSTER,
			/follower/,
		],
	])("%s", (_, faults, more, message) => {
		expect(() => load(faults, more)).toThrow(message);
	});

	test("in a closed load", () => {
		const text = scenario("  - { at: 1s, action: pause, for: 1s }").replace(
			"rate: 1000/s, message: 256B, duration: 20s, warmup: 5s",
			"messages: 1000, message: 256B",
		);
		expect(() => loadScenario("s.yaml", text)).toThrow(/closed load/);
	});

	test.each(["win32", "darwin"])("without /proc (%s)", (platform) => {
		const text = scenario("  - { at: 8s, action: kill }");
		const on = (more: object) => loadScenario("s.yaml", text, more, {}, { ...linux, platform });
		expect(() => on({})).toThrow(/faults on target local need Linux; write target: docker/);
		expect(on({ target: "docker" }).faults).toHaveLength(1);
	});

	test("beside its other mistakes", () => {
		expect(() => load("  - { at: 30s, action: pause, node: 3 }", "system: nats")).toThrow(
			/a pause needs an end; write e\.g\. for: 500ms/,
		);
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
