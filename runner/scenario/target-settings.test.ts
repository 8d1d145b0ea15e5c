import { describe, expect, test } from "vitest";
import { SystemOptions } from "../brokers/index.ts";
import type { Target } from "../model/plan.ts";
import { loadScenario } from "./load.ts";
import { type Problem, reporter } from "./problem.ts";
import { checkTarget } from "./rules/place.ts";

const all = SystemOptions.parse({
	broker: "kafka",
	url: "kafka://h",
	port: 9092,
	version: "4.1.1",
	binary: "/opt/kafka",
	image: "apache/kafka:4.1.1",
	cpus: 2,
	memory: "2GiB",
	create: false,
	topics: ["orders"],
	config: { a: 1 },
	pin: "0",
	nodes: 3,
	tls: true,
	replicas: 3,
	durability: "os",
	acks: "all",
});

function misplaced(options: SystemOptions, target: Target): Problem[] {
	const problems: Problem[] = [];
	checkTarget(options, target, () => false, reporter(problems));
	return problems;
}

const refused = (target: Target) =>
	misplaced(all, target)
		.map(({ path }) => path[0])
		.sort();

test("each target takes what it has, and says of the rest where it belongs", () => {
	expect(refused("local")).toEqual(["cpus", "create", "image", "memory", "tls", "topics", "url"]);
	expect(refused("docker")).toEqual(["binary", "create", "port", "tls", "topics", "url"]);
	expect(refused("aws")).toEqual(["binary", "create", "port", "tls", "topics", "url"]);
	expect(refused("existing")).toEqual([
		"binary",
		"config",
		"cpus",
		"image",
		"memory",
		"nodes",
		"pin",
		"port",
		"version",
	]);
});

test("what is the default anyway is no mistake anywhere", () => {
	const options = SystemOptions.parse({ broker: "kafka", create: true, tls: false });
	for (const target of ["local", "docker", "existing", "aws"] as const)
		expect(misplaced(options, target)).toEqual([]);
});

test("each says what to do instead, in one sentence", () => {
	for (const target of ["local", "docker", "existing", "aws"] as const)
		for (const { path, message } of misplaced(all, target)) {
			expect(message).toMatch(new RegExp(`^${path[0]} needs target `));
			expect(message).toMatch(/; \S.*[^.]$/);
		}
});

describe("containers", () => {
	const load = (system: string, overrides = {}) =>
		loadScenario(
			"s.yaml",
			`target: docker\npin: { brokers: "1" }\nsystem: { broker: nats, mode: jetstream, ${system} }\nworkload: { rate: 3/s, message: 256B, duration: 9s }\n`,
			overrides,
		);

	test("have an image, limits, nodes and CPUs of their own", () => {
		const [system] = load(
			"image: nats:2.12-alpine, cpus: 1.5, memory: 512MiB, nodes: 3, replicas: 3",
		).systems;
		expect(system).toMatchObject({
			image: "nats:2.12-alpine",
			url: null,
			options: { cpus: 1.5, memory: 512 * 1024 ** 2, nodes: 3 },
		});
	});

	test("have any version: it is the tag of the image", () => {
		expect(load("version: 2.11.4").systems[0]?.image).toBeNull();
	});

	test("and their settings are left aside where the command line chose local", () => {
		expect(load("image: x, cpus: 2, memory: 1GiB", { target: "local" }).systems[0]).toMatchObject({
			image: null,
		});
	});
});
