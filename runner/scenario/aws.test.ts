import { describe, expect, test } from "vitest";
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

/** What is wrong, without place and caret. */
function wrong(head: string, overrides: Overrides = {}): string {
	try {
		load(head, overrides);
	} catch (error) {
		return (error as Error).message;
	}
	return "";
}

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

	test.each([
		"size: 4GiB, iops: 3000, throughput: 750MiB",
		"size: 10GiB, iops: 5000, throughput: 1250MiB",
		"size: 160GiB, iops: 80000, throughput: 2000MiB",
		"type: io2, size: 50GiB, iops: 50000",
		"type: io2, size: 4GiB, iops: 100",
	])("has volumes up to AWS's limits: %s", (volume) => {
		const brokers = `{ instance: m6in.large, volume: { ${volume} } }`;
		expect(load(`target: aws\n${block("", brokers)}system: nats\n`).aws).not.toBeNull();
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

describe("a mistake in it is one sentence", () => {
	test.each([
		[
			"no block",
			"target: aws\nsystem: nats\n",
			"target aws needs to know which machines to rent; write e.g. aws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }",
		],
		[
			"no region",
			"target: aws\naws: { brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }\nsystem: nats\n",
			"region is missing; write e.g. region: eu-central-1",
		],
		[
			"no machines for the load",
			"target: aws\naws: { region: eu-central-1, brokers: { instance: i4i.xlarge } }\nsystem: nats\n",
			"clients is missing in aws: the load comes from machines of its own; write e.g. clients: { instance: c6in.xlarge }",
		],
		[
			"no machines for brokers",
			"target: aws\naws: { region: eu-central-1, clients: { instance: c6in.xlarge } }\nsystem: nats\n",
			"brokers is missing in aws: brokers run on machines of their own; write e.g. brokers: { instance: i4i.xlarge }",
		],
		[
			"machines without a type",
			`target: aws\n${block("", "{}")}system: nats\n`,
			"instance is missing: which machines are for the brokers; write e.g. instance: i4i.xlarge",
		],
		[
			"a type that is none",
			`target: aws\n${block("", "{ instance: large }")}system: nats\n`,
			"an instance must be a type of EC2, got",
		],
		[
			"a list of types",
			`target: aws\n${block("", "{ instance: [i4i.xlarge, large] }")}system: nats\n`,
			"instance must be text, got a list",
		],
		[
			"a region that is none",
			"target: aws\naws: { region: Frankfurt, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }\nsystem: nats\n",
			"a region must be one of AWS, got",
		],
		[
			"a zone of another region",
			`target: aws\n${block(", zone: us-east-1a")}system: nats\n`,
			"zone us-east-1a is not in region eu-central-1; write e.g. zone: eu-central-1a",
		],
		[
			"a life too short",
			`target: aws\n${block(", ttl: 5min")}system: nats\n`,
			"ttl must be 10min to 168h, got 5min",
		],
		[
			"a life too long",
			`target: aws\n${block(", ttl: 169h")}system: nats\n`,
			"ttl must be 10min to 168h, got 169h",
		],
		[
			"a life without unit",
			`target: aws\n${block(", ttl: 2")}system: nats\n`,
			"ttl 2 has no unit; write 2h",
		],
		[
			"SSH from everywhere",
			`target: aws\n${block(", sshFrom: 0.0.0.0/0")}system: nats\n`,
			'sshFrom must be one IPv4 address, the only one that may use SSH, got "0.0.0.0/0"; write e.g. 203.0.113.7',
		],
		[
			"SSH from no address",
			`target: aws\n${block(", sshFrom: 203.0.113.256")}system: nats\n`,
			"sshFrom must be one IPv4 address",
		],
		[
			"a volume without size",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { type: gp3 } }")}system: nats\n`,
			"size is missing of the volume; write e.g. size: 100GiB",
		],
		[
			"a volume of half a GiB",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { size: 500MiB } }")}system: nats\n`,
			"size must be whole GiB, 4GiB to 65536GiB, got 500MiB",
		],
		[
			"an io2 volume without iops",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { type: io2, size: 50GiB } }")}system: nats\n`,
			"a volume of type io2 needs iops; write e.g. iops: 10000",
		],
		[
			"throughput of io2",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { type: io2, size: 50GiB, iops: 3000, throughput: 500MiB } }")}system: nats\n`,
			"throughput needs type: gp3, as that of an io2 follows from its iops; remove throughput",
		],
		[
			"more IOPS than a gp3 of that size has",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { size: 10GiB, iops: 6000 } }")}system: nats\n`,
			"type: gp3 has at most 500 iops for each GiB; write size: 12GiB",
		],
		[
			"more IOPS than a small gp3 has in any case",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { size: 4GiB, iops: 3001 } }")}system: nats\n`,
			"type: gp3 has at most 500 iops for each GiB; write size: 7GiB",
		],
		[
			"more IOPS than any gp3 has",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { size: 1000GiB, iops: 80001 } }")}system: nats\n`,
			"iops of type: gp3 must be 3000 to 80000, got 80001",
		],
		[
			"fewer IOPS than a gp3 has",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { size: 100GiB, iops: 2999 } }")}system: nats\n`,
			"iops of type: gp3 must be 3000 to 80000, got 2999",
		],
		[
			"more IOPS than an io2 of that size has",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { type: io2, size: 50GiB, iops: 50001 } }")}system: nats\n`,
			"type: io2 has at most 1000 iops for each GiB; write size: 51GiB",
		],
		[
			"more throughput than the IOPS that come with it carry",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { size: 100GiB, throughput: 751MiB } }")}system: nats\n`,
			"type: gp3 has at most 0.25MiB/s for each of its 3000 iops; write iops: 3004",
		],
		[
			"more throughput than its IOPS carry",
			`target: aws\n${block("", "{ instance: m6in.large, volume: { size: 100GiB, iops: 6000, throughput: 1501MiB } }")}system: nats\n`,
			"type: gp3 has at most 0.25MiB/s for each of its 6000 iops; write iops: 6004",
		],
		[
			"a word that there is not",
			`target: aws\n${block(", instnace: m6in.large")}system: nats\n`,
			'unknown key "instnace"',
		],
		[
			"a word of clients that there is not",
			"target: aws\naws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge, spt: true } }\nsystem: nats\n",
			'unknown key "spt"; did you mean spot?',
		],
		[
			"no broker",
			`target: aws\n${block()}system: noop\n`,
			"noop needs no machines; write target: local",
		],
		[
			"hosts of one's own",
			`target: aws\nclients: [bench@a]\n${block()}system: nats\n`,
			"clients on your own hosts would measure their distance from the machines that target aws rents; write how many to rent, e.g. clients: 2",
		],
		[
			"containers",
			`target: aws\nclients: { docker: 2 }\n${block()}system: nats\n`,
			"clients: { docker: 2 } needs target docker, and this target is aws; write clients: 2",
		],
		[
			"a fault of the network",
			`target: aws\nfaults: [{ at: 1s, action: partition, for: 1s }]\n${block()}system: nats\n`,
			"partition needs target docker: mqbench reaches the hosts over the network that it would disturb; write action: pause",
		],
		[
			"more copies than nodes",
			`target: aws\n${block()}system: { broker: kafka, replicas: 3 }\n`,
			"3 replicas need as many nodes, and there is one; write nodes: 3",
		],
		[
			"nodes that cannot be had",
			`target: aws\n${block()}system: { broker: kafka, nodes: 2 }\n`,
			"mqbench starts Kafka with 1 or 3 nodes, not 2; write nodes: 3",
		],
		[
			"limits without a container",
			`target: aws\n${block()}system: { broker: kafka, version: 4.0.0, cpus: 2 }\n`,
			"cpus is a limit of a container, and on hosts only systems with an image run in one; write image, or remove cpus",
		],
		[
			"two versions",
			`target: aws\n${block()}system: { broker: redis, image: "redis:7", version: 8.0.0 }\n`,
			"image already has a tag; remove version",
		],
	])("%s", (_, head, sentence) => {
		const said = wrong(head);
		expect(said).toContain(sentence);
		expect(said.match(/^s\.yaml/gm)).toHaveLength(1);
	});

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
		expect(wrong(`target: aws\n${block()}system: { broker: nats, port: 4222 }\n`)).toContain(
			"port needs target local, and this target is aws; remove it",
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
		expect(() => load("system: kafka\n", {}, hosts(0, { target: "aws" }))).toThrow(
			"rig.json has no machines for kafka (planned); run mqbench up to make a new rig",
		);
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

	test("are its machines: all, or as many as the scenario says", () => {
		const of = (head: string, clients?: string) => {
			const found = load(`${head}system: kafka\n`, { clients }, rented).clients;
			return found.kind === "ssh" ? found.hosts : found;
		};
		expect(of("")).toEqual(["admin@c1", "admin@c2"]);
		expect(of("clients: 1\n")).toEqual(["admin@c1"]);
		expect(of("clients: 2\n")).toEqual(["admin@c1", "admin@c2"]);
		expect(of("clients: 2\n", "1")).toEqual(["admin@c1"]);
		// Those of another target are left aside.
		expect(of("clients: { docker: 2 }\n")).toEqual(["admin@c1", "admin@c2"]);
	});

	test("are not more than it has", () => {
		expect(() => load("clients: 3\nsystem: kafka\n", {}, rented)).toThrow(
			"clients: 3, and rig.json has 2 machines for the load; write at most clients: 2",
		);
	});
});
