import { expect, test } from "vitest";
import { SystemOptions } from "../brokers/index.ts";
import type { Target } from "../model/plan.ts";
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
