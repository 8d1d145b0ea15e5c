import { expect, test } from "vitest";
import { findDocker } from "./cli.ts";
import { fakeDocker } from "./engine.fake.ts";
import { makeNetwork } from "./network.ts";

const make = (body: string, env = {}) => {
	const { world, calls } = fakeDocker(body, env);
	return {
		calls,
		network: makeNetwork(
			findDocker(world, "/agent"),
			"mqbench-x",
			{ "mqbench.run": "x" },
			world.env,
		),
	};
};

test("a network has a subnet of those that are set aside for benchmarks, and labels", async () => {
	const { network, calls } = make("echo 1");
	const { prefix, name, direct } = await network;
	expect(prefix).toMatch(/^198\.1[89]\.\d+$/);
	expect(name).toBe("mqbench-x");
	// No such bridge is here: the engine is a fake.
	expect(direct).toBe(false);
	expect(calls()).toEqual([
		`network create --driver bridge --subnet ${prefix}.0/24 --gateway ${prefix}.1 --ip-range ${prefix}.128/25 --label mqbench.run=x mqbench-x`,
	]);
});

test("a subnet that is taken is no reason to give up", async () => {
	const { network, calls } = make(
		'[ "$(wc -l <"$(dirname "$0")/calls")" -gt 3 ] || { echo "Error response from daemon: Pool overlaps with other one on this address space" >&2; exit 1; }',
	);
	await network;
	expect(calls()).toHaveLength(4);
});

test("when all are taken there is a sentence", async () => {
	const { network, calls } = make(
		'echo "Pool overlaps with other one on this address space" >&2; exit 1',
	);
	await expect(network).rejects.toThrow(
		"Docker could not make a network for the containers: Pool overlaps with other one on this address space; docker network prune removes unused networks.",
	);
	expect(calls().length).toBeGreaterThan(15);
});
