import { describe, expect, test } from "vitest";
import { around, loadScenario } from "../scenario/load.ts";
import { RigFile } from "../scenario/rig-file.ts";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { expand } from "./expand.ts";
import { placeLines } from "./place-text.ts";
import { warningsOf } from "./warnings.ts";

const workload = "workload: { rate: 3/s, message: 256B, duration: 20s, connections: 3 }\n";
const load = (head: string) => loadScenario("s.yaml", `${head}\n${workload}`);
const lines = (head: string, keys?: string[]) => {
	const scenario = load(head);
	return placeLines(scenario, new Set(keys ?? scenario.systems.map(({ key }) => key)));
};

describe("where a scenario runs, when it is not simply here", () => {
	goldenBlocks(new URL("./golden/place-and-warnings.txt", import.meta.url), (text) => {
		const scenario = loadScenario("s.yaml", text);
		const systems = new Set(scenario.systems.map(({ key }) => key));
		const warnings = warningsOf(scenario, expand(scenario, {}));
		return [...placeLines(scenario, systems), ...warnings.map((one) => `Warning: ${one}`)].join(
			"\n",
		);
	});

	test("of systems that are chosen alone", () => {
		expect(lines("target: docker\nsystems: { a: nats, b: redis }", ["b"])).toEqual([
			expect.stringMatching(/^b: image redis:/),
		]);
	});

	test("faults, each in words", () => {
		expect(
			lines(
				`system: { broker: kafka, nodes: 3 }
faults:
  - { at: 1s, action: pause, for: 500ms }
  - { at: 3s, action: kill, node: leader, for: 2s }
  - { at: 8s, action: restart, node: 2 }`,
			),
		).toEqual([
			"fault at 1s of the measured part: pause of all nodes for 500ms",
			"fault at 3s of the measured part: kill of the leader and start again after 2s",
			"fault at 8s of the measured part: restart of node 2 at once",
		]);
	});

	test("faults of consumers, each in words", () => {
		const group = workload.replace("{", "{ pattern: work-queue, consumers: 4,");
		const scenario = loadScenario(
			"s.yaml",
			`system: nats\n${group}faults:
  - { at: 1s, of: consumers, action: leave }
  - { at: 2s, of: consumers, action: kill, count: 50%, for: 2s }
  - { at: 5s, of: consumers, action: join, count: 3 }
  - { at: 6s, of: consumers, action: pause, for: 500ms }`,
		);
		const at = (when: string, what: string) => `fault at ${when} of the measured part: ${what}`;
		expect(placeLines(scenario, new Set(["nats"]))).toEqual([
			at("1s", "leave of 1 consumer"),
			at("2s", "kill of 50 % of the consumers, back after 2s"),
			at("5s", "join of 3 consumers"),
			at("6s", "pause of 1 consumer for 500ms"),
		]);
		// Half of four.
		expect(expand(scenario, {})[0]?.faults.map(({ count }) => count)).toEqual([1, 2, 3, 1]);
	});

	test("a rig, its password hidden", () => {
		const rig = RigFile.parse({
			version: 1,
			id: "x",
			brokers: [{ system: "nats", broker: "nats", url: "nats://me:hunter2@h:4222" }],
		});
		const scenario = loadScenario(
			"s.yaml",
			`system: nats\n${workload}`,
			{},
			{},
			{ ...around("s.yaml"), rig: { path: "rig.json", rig } },
		);
		expect(placeLines(scenario, new Set(["nats"]))).toEqual([
			"rig x: its brokers stay up, and each run has topics of its own",
			"nats: at nats://***@h:4222",
		]);
	});
});

test("a rig with hosts has fresh brokers for each run, and says which if others stay up", () => {
	const hosts = [{ host: "h", address: "10.0.0.1" }];
	const brokers = [
		{ system: "nats", broker: "nats" as const, hosts },
		{ system: "other", broker: "nats" as const, url: "nats://h:4222" },
	];
	const said = (systems: string, of = brokers) => {
		const rig = RigFile.parse({ version: 1, id: "x", brokers: of });
		const scenario = loadScenario(
			"s.yaml",
			`systems: ${systems}\n${workload}`,
			{},
			{},
			{ ...around("s.yaml"), rig: { path: "rig.json", rig } },
		);
		return placeLines(scenario, new Set(scenario.systems.map(({ key }) => key)));
	};
	expect(said("{ nats: nats, floor: noop }")).toEqual([
		"rig x: its hosts stay up, brokers are fresh for each run",
		"nats: nats-server 2.15.2, copied",
	]);
	expect(said("{ nats: nats, other: nats }")[0]).toBe(
		"rig x: its brokers stay up, and each run has topics of its own; those on hosts are fresh for each run (nats)",
	);
});
