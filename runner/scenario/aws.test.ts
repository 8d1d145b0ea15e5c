import { describe, expect, test } from "vitest";
import { rentedFile } from "../../infra/cloud/cloud.fake.ts";
import { imageAt } from "../brokers/image.ts";
import { expand } from "../plan/expand.ts";
import { around, loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";
import { notFresh } from "./rig.ts";
import { RigFile, type RigFileInput } from "./rig-file.ts";

const workload = "workload: { rate: 3/s, message: 256B, duration: 9s, connections: 3 }\n";
const block = (more = "", brokers = "{ instance: i4i.xlarge }") =>
	`aws: { region: eu-central-1, brokers: ${brokers}, clients: { instance: c6in.xlarge }${more} }\n`;

const load = (head: string, overrides: Overrides = {}, rig?: Partial<RigFileInput>) =>
	loadScenario(
		"s.yaml",
		`${head}${workload}`,
		overrides,
		{},
		{
			...around("s.yaml"),
			...(rig === undefined
				? {}
				: {
						rig: {
							path: "rig.json",
							rig: RigFile.parse({ version: 1, id: "x", brokers: [], ...rig }),
						},
					}),
		},
	);

describe("what target aws rents", () => {
	test("is one machine for each node of the largest system, and one for each client", () => {
		const { aws, clients, target } = load(
			`target: aws\nclients: 2\n${block()}systems: { kafka: { broker: kafka, nodes: 3 }, nats: nats, floor: noop }\n`,
		);
		expect({ target, clients }).toEqual({ target: "aws", clients: { kind: "rented", count: 2 } });
		expect(aws).toEqual({
			region: "eu-central-1",
			zone: null,
			profile: null,
			owner: null,
			ami: null,
			ttlNs: 7200e9,
			sshFrom: null,
			brokers: { instance: "i4i.xlarge", count: 3, volume: null },
			clients: { instance: "c6in.xlarge", count: 2, spot: false },
		});
	});

	test("is written with units, and kept exactly", () => {
		expect(
			load(
				`target: aws\n${block(
					", zone: eu-central-1b, profile: bench, owner: ada, ami: ami-0abc, ttl: 90min, sshFrom: 203.0.113.7",
					"{ instance: m6in.large, volume: { size: 100GiB, iops: 6000, throughput: 500MiB } }",
				)}system: nats\n`,
			).aws,
		).toMatchObject({
			zone: "eu-central-1b",
			profile: "bench",
			owner: "ada",
			ami: "ami-0abc",
			ttlNs: 5400e9,
			sshFrom: "203.0.113.7/32",
			brokers: { volume: { type: "gp3", sizeGiB: 100, iops: 6000, throughputMiBps: 500 } },
		});
	});

	test("is left aside on every other target", () => {
		for (const target of ["local", "docker"])
			expect(load(`target: ${target}\n${block()}system: nats\n`)).toMatchObject({
				aws: null,
				clients: { kind: "local", count: 1 },
			});
	});

	test("is chosen from outside by one word", () => {
		const there = load(`clients: 3\n${block()}system: nats\n`, { target: "aws" });
		expect(there.aws).toMatchObject({ brokers: { count: 1 }, clients: { count: 3 } });
		expect(expand(there, { runId: "r" })[0]).toMatchObject({ target: "aws", client: { count: 3 } });
	});
});

describe("systems and faults on rented machines", () => {
	test.each([
		["nats, version: 2.10.0, memory: 1GiB", "nats:2.10.0-alpine"],
		["redis, version: 8.0.0, cpus: 2", "redis:8.0.0-alpine"],
		["rabbitmq, version: 4.1.0", "rabbitmq:4.1.0-alpine"],
		["kafka, image: my/kafka:1", "my/kafka:1"],
		["kafka, version: 4.0.0", null],
		["redis", null],
	])("{ broker: %s } runs the image %s", (system, image) => {
		const { systems } = load(`target: aws\n${block()}system: { broker: ${system} }\n`);
		expect(systems.map((one) => imageAt("host", one))).toEqual([image]);
	});

	test("settings of other targets are left aside where the command line chose aws", () => {
		load(
			`clients: { docker: 2 }\n${block()}system: { broker: nats, url: "nats://h:1", port: 4222 }\n`,
			{ target: "aws" },
		);
	});

	test("faults of brokers that it starts are made", () => {
		const { faults } = load(
			`target: aws\nfaults: [{ at: 1s, action: pause, for: 1s }, { at: 3s, action: kill, for: 1s }, { at: 5s, action: restart }]\n${block()}system: nats\n`,
		);
		expect(faults.map(({ action }) => action)).toEqual(["pause", "kill", "restart"]);
	});
});

const host = (n: number) => ({ host: `h${n}`, address: `10.0.0.${n}` });
const hosts = (count: number, parts: Partial<RigFileInput> = {}): Partial<RigFileInput> => ({
	brokers: [
		{
			system: "kafka",
			broker: "kafka",
			hosts: Array.from({ length: count }, (_, n) => host(n + 1)),
		},
	],
	...parts,
});

describe("a rig with hosts for brokers", () => {
	test.each(["aws", "existing"] as const)(
		"of target %s has them started for each run: every level, nodes, config and CPUs are as the scenario says",
		(target) => {
			const scenario = load(
				"system: { broker: kafka, durability: fsync, nodes: 3, replicas: 3, config: { num.io.threads: 2 }, version: 4.0.0, pin: 0-1 }\n",
				{},
				hosts(3, { target }),
			);
			expect(scenario).toMatchObject({
				target,
				aws: null,
				systems: [{ url: null, port: null, binary: null, existingTopics: null }],
			});
			const [system] = scenario.systems;
			expect(system && notFresh(scenario, system)).toEqual([]);
			expect(expand(scenario, { runId: "r" })[0]).toMatchObject({
				durabilityLevel: "fsync",
				durability: "flush.messages=1, acks=all (fsync)",
				create: true,
				pin: { brokers: "0-1" },
			});
		},
	);

	test("has a host for each node", () => {
		const three = "system: { broker: kafka, nodes: 3 }\n";
		expect(() => load(three, {}, hosts(1))).toThrow(
			"nodes 3: each node needs a host, and rig.json has 1 host for kafka; write nodes: 1",
		);
		load("system: kafka\n", {}, hosts(3));
	});

	test("takes faults of processes, and none of the network", () => {
		const fault = (action: string) =>
			`faults: [{ at: 1s, action: ${action}, for: 1s }]\nsystem: kafka\n`;
		for (const target of ["aws", "existing"] as const) {
			expect(load(fault("pause"), {}, hosts(1, { target })).faults).toHaveLength(1);
			expect(() => load(fault("partition"), {}, hosts(1, { target }))).toThrow(
				"1 | faults: [{ at: 1s, action: partition, for: 1s }]",
			);
		}
	});

	test("is no rig before its machines are up", () => {
		expect(() =>
			load("system: kafka\n", {}, hosts(0, { target: "aws", cloud: rentedFile.cloud })),
		).toThrow("rig.json has no machines for kafka; run mqbench up to make a new rig");
	});
});

describe("clients of a rented rig", () => {
	const rented = hosts(1, {
		target: "aws",
		clients: [
			{ host: "c1", user: "admin", identity: "/k", setUp: true },
			{ host: "c2", user: "admin", identity: "/k", setUp: true },
		],
	});

	test("are not more than it has", () => {
		expect(() => load("clients: 3\nsystem: kafka\n", {}, rented)).toThrow(
			"clients: 3, and rig.json has 2 machines for the load; write at most clients: 2",
		);
	});
});
