import { describe, expect, test } from "vitest";
import { main } from "./main.ts";
import { fakeWorld } from "./world.fake.ts";

describe("the command line", () => {
	test("--help lists every command, and an example of each that a person types", async () => {
		const world = fakeWorld();
		expect(await main(["--help"], world)).toBe(0);
		for (const name of [
			"run",
			"validate",
			"plan",
			"compile",
			"report",
			"doctor",
			"explain",
			"schema",
		])
			expect(world.out()).toMatch(new RegExp(`^  ${name} `, "m"));
		for (const name of ["validate", "plan", "doctor", "explain"])
			expect(world.out()).toMatch(new RegExp(`^  mqbench ${name}\\b`, "m"));
	});

	test.each([
		[["explain", "suport"], "did you mean support?"],
		[["docter"], "did you mean doctor?"],
		[["plan"], "missing required argument 'scenario'"],
	])("%j is a mistake with exit code 2", async (argv, words) => {
		const world = fakeWorld();
		expect(await main(argv, world)).toBe(2);
		expect(world.err()).toContain(words);
		expect(world.out()).toBe("");
	});

	test("commands reach their options", async () => {
		const world = fakeWorld({
			cwd: new URL("..", import.meta.url).pathname,
		});
		expect(
			await main(
				["plan", "scenarios/quickstart.yaml", "--json", "--set", "repeat=2"],
				world,
			),
		).toBe(0);
		expect(JSON.parse(world.out())).toHaveLength(2);
	});

	test("--quick shortens what is planned", async () => {
		const world = fakeWorld({
			cwd: new URL("..", import.meta.url).pathname,
		});
		expect(
			await main(
				["plan", "scenarios/quickstart.yaml", "--json", "--quick"],
				world,
			),
		).toBe(0);
		expect(JSON.parse(world.out())).toMatchObject([
			{ quick: true, schedule: { durationNs: 3e9 } },
		]);
	});
});
