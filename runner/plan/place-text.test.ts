import { describe, expect, test } from "vitest";
import { around, loadScenario } from "../scenario/load.ts";
import { RigFile } from "../scenario/rig-file.ts";
import { outline } from "./outline.ts";
import { renderOutline } from "./outline-text.ts";
import { placeLines } from "./place-text.ts";

const workload = "workload: { rate: 3/s, message: 256B, duration: 20s, connections: 3 }\n";
const load = (head: string) => loadScenario("s.yaml", `${head}\n${workload}`);
const lines = (head: string, keys?: string[]) => {
	const scenario = load(head);
	return placeLines(scenario, new Set(keys ?? scenario.systems.map(({ key }) => key)));
};

describe("where a scenario runs, when it is not simply here", () => {
	test.each([
		["a broker and a process of this machine", "system: nats", []],
		["noop", "target: docker\nsystem: noop", []],
		["several processes", "clients: 3\nsystem: nats", ["clients: 3 processes of this machine"]],
		[
			"hosts, and a broker of one's own without its password",
			'clients: [a, b]\ntarget: existing\nsystem: { broker: nats, url: "nats://h:4222" }',
			["nats: at nats://h:4222", "clients: a, b, over SSH"],
		],
		[
			"topics of one's own",
			'target: existing\nsystem: { broker: kafka, url: "kafka://h", create: false, topics: [orders, bills, notes] }',
			[
				"kafka: at kafka://h; uses orders, bills, notes; makes and removes nothing, and counts what others send there as foreign",
			],
		],
		[
			"an image by its name, with limits, and clients beside it",
			"target: docker\nclients: { docker: 2 }\nsystem: { broker: kafka, image: my/kafka:1, cpus: 2, memory: 2GiB }",
			["kafka: image my/kafka:1, at most 2 CPUs and 2GiB of memory", "clients: 2 containers"],
		],
		[
			"an image by its version, and several containers",
			"target: docker\nclients: { docker: 1 }\nsystem: { broker: kafka, version: 4.0.0, nodes: 3, cpus: 1 }",
			[
				"kafka: image apache/kafka:4.0.0, 3 containers of at most 1 CPU each",
				"clients: 1 container",
			],
		],
		[
			"machines that are rented",
			"target: aws\nclients: 2\naws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }\nsystems: { kafka: { broker: kafka, nodes: 3 }, nats: nats }",
			[
				"machines of EC2 in eu-central-1: 3 x i4i.xlarge for brokers, 2 x c6in.xlarge for the load; they end themselves after 2h",
				"kafka: Kafka 4.1.1 (or what KAFKA_HOME is), copied, on the host's Java; 3 nodes on 3 hosts",
				"nats: nats-server 2.15.2, copied",
			],
		],
		[
			"machines with brokers of a version, and of an image",
			"target: aws\naws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }\nsystems: { old: { broker: redis, version: 7.2.4, cpus: 2 }, debian: redis, kafka: { broker: kafka, image: my/kafka:1, nodes: 3 } }",
			[
				"machines of EC2 in eu-central-1: 3 x i4i.xlarge for brokers, 1 x c6in.xlarge for the load; they end themselves after 2h",
				"old: image redis:7.2.4-alpine, at most 2 CPUs",
				"debian: the host's redis-server",
				"kafka: image my/kafka:1, 3 containers; 3 nodes on 3 hosts",
			],
		],
		[
			"machines with a volume, and cheaper ones",
			"target: aws\naws: { region: eu-central-1, zone: eu-central-1b, ttl: 30min, brokers: { instance: m6in.large, volume: { size: 100GiB } }, clients: { instance: c6in.xlarge, spot: true } }\nsystem: nats",
			[
				"machines of EC2 in eu-central-1b: 1 x m6in.large for brokers on a gp3 volume of 100GiB each, 1 x c6in.xlarge (spot) for the load; they end themselves after 30min",
				"nats: nats-server 2.15.2, copied",
			],
		],
	])("%s", (_, head, expected) => {
		expect(lines(head)).toEqual(expected);
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
		"rig x: its brokers stay up, and each run has topics of its own; those on hosts are started anew for each run (nats)",
	);
});

test("the plan says it below what each case does", () => {
	expect(renderOutline(outline([]), 80, ["clients: 3 processes of this machine"])).toContain(
		"Where it runs:\n\n  clients: 3 processes of this machine.\n\nPercentiles",
	);
	expect(renderOutline(outline([]), 80)).not.toContain("Where it runs");
});
