import { readFileSync } from "node:fs";
import path from "node:path";
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
			"build",
			"report",
			"doctor",
			"explain",
			"schema",
		])
			expect(world.out()).toMatch(new RegExp(`^  ${name} `, "m"));
		for (const name of ["validate", "plan", "doctor", "explain", "build"])
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
		const world = fakeWorld({ cwd: new URL("..", import.meta.url).pathname });
		expect(
			await main(["plan", "scenarios/quickstart.yaml", "--json", "--set", "repeat=2"], world),
		).toBe(0);
		expect(JSON.parse(world.out())).toHaveLength(2);
	});

	test("--quick shortens what is planned", async () => {
		const world = fakeWorld({ cwd: new URL("..", import.meta.url).pathname });
		expect(await main(["plan", "scenarios/quickstart.yaml", "--json", "--quick"], world)).toBe(0);
		expect(JSON.parse(world.out())).toMatchObject([{ quick: true, schedule: { durationNs: 3e9 } }]);
	});
});

describe("commands that README.md and the guides show", () => {
	const cwd = new URL("..", import.meta.url).pathname;
	const shown = [
		"README.md",
		...["systems", "comparing", "where-it-runs"].map((guide) => `scenarios/${guide}.md`),
	]
		.map((name) => readFileSync(path.join(cwd, name), "utf8"))
		.join("\n");
	const lines = [...shown.matchAll(/^```sh\n(.*?)^```/gms)]
		.flatMap(([, block = ""]) => block.split("\n"))
		.map((line) => line.replace(/ +#.*$/, ""))
		.filter((line) => line.includes("npx mqbench"));
	const scenarios = lines.flatMap((line) => {
		const [, env = "", args = ""] =
			/^((?:[A-Z_]+=\S+ )*)npx mqbench (?:(?:validate|plan|compile|up) )?(scenarios\/.*)$/.exec(
				line,
			) ?? [];
		// A rig is there only once it has been stood up.
		return args === "" || args.includes("--rig") ? [] : [{ env, args }];
	});

	test("are more than a few", () => {
		expect(scenarios.length).toBeGreaterThan(8);
	});

	test.each(scenarios)("$args", async ({ env, args }) => {
		const world = fakeWorld({
			cwd,
			env: Object.fromEntries(
				env
					.trim()
					.split(" ")
					.filter((one) => one !== "")
					.map((one) => one.split("=") as [string, string]),
			),
		});
		const words = args
			// What is rented is no matter of the scenario, and neither is who looks on.
			.replaceAll(/ --max-hourly-usd \d+| --watch| --open/g, "")
			.split(" ")
			.map((word) => word.replaceAll("'", ""));
		expect(await main(["validate", ...words], world), world.err() + world.out()).toBe(0);
	});

	test("work in other folders after an install from the clone, as README.md and the help say", async () => {
		const world = fakeWorld();
		await main(["--help"], world);
		for (const text of [shown, world.out()]) expect(text).toContain("npm install -g .");
	});

	test("and every command among them is one", async () => {
		const world = fakeWorld();
		await main(["--help"], world);
		const known = [...world.out().matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
		for (const line of lines) {
			const [, word = ""] = /npx mqbench ([a-z]+)(?: |$)/.exec(line) ?? [];
			if (word !== "") expect(known, line).toContain(word);
		}
	});
});
