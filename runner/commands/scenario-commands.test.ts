import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import { compile } from "./compile.ts";
import { validate } from "./validate.ts";

const cwd = fileURLToPath(new URL("../../", import.meta.url));

describe("validate", () => {
	test.each([
		["scenarios/quickstart.yaml", {}, "1 run, 1 system (nats), 1 case, 15s and drain"],
		["scenarios/message-sizes.yaml", {}, "3 runs, 1 system (nats), 3 cases, 1.75min and drain"],
		[
			"scenarios/message-sizes.yaml",
			{ only: "*/1KiB*", set: ["repeat=2"] },
			"2 runs, 1 system (nats), 1 case, 1.17min and drain",
		],
	])("says how much %s would do", async (file, args, summary) => {
		const world = fakeWorld({ cwd });
		expect(await validate({ path: file, ...args }, world)).toBe(0);
		expect(world.out()).toBe(`${file} is valid: ${summary}\n`);
	});

	test("warns of an SLA that the samples do not carry; under strict it is exit code 2", async () => {
		const file = "scenarios/quickstart.yaml";
		const deep = "sla.0=p99.99 < 3ms";
		const world = fakeWorld({ cwd });
		expect(await validate({ path: file, set: [deep] }, world)).toBe(0);
		expect(world.err()).toMatch(/^Warning: p99\.99 < 3ms .*34s/);
		await expect(
			validate({ path: file, set: [deep, "strict=true"] }, fakeWorld({ cwd })),
		).rejects.toMatchObject({ exit: 2, code: "percentile-too-deep" });
	});

	test("refuses a file that isn't there, or is a folder, by its name", async () => {
		const world = fakeWorld({ cwd });
		await expect(validate({ path: "scenarios/none.yaml" }, world)).rejects.toThrow(
			"scenarios/none.yaml: cannot be read (there is no such file). Give the path of a scenario file, e.g. mqbench scenarios/quickstart.yaml",
		);
		await expect(validate({ path: "scenarios" }, world)).rejects.toThrow(
			"scenarios: cannot be read (it is a folder)",
		);
	});

	test("--json prints each mistake with code, place and remedy, and none of a file that is right", async () => {
		const folder = testFolder();
		writeFileSync(
			path.join(folder, "bad.yaml"),
			"system: { broker: nats, password: hunter2 }\nworkload:\n  message: 256B\n  duration: 10\n",
		);
		const world = fakeWorld({ cwd: folder });
		const set = ["workload.rate=3"];
		expect(await validate({ json: true, path: "bad.yaml", set }, world)).toBe(2);
		expect(JSON.parse(world.out())).toMatchObject([
			{
				option: "--set workload.rate=3",
				line: null,
				column: null,
				message: "rate 3 has no unit",
				remedy: "write 3/s",
			},
			{ code: "unrecognized_keys", file: "bad.yaml", line: 1, column: 25 },
			{
				code: "invalid_type",
				line: 4,
				column: 13,
				option: null,
				message: "duration 10 has no unit",
				remedy: "write 10s",
			},
		]);
		expect(world.out()).not.toContain("hunter2");

		const right = fakeWorld({ cwd });
		expect(await validate({ json: true, path: "scenarios/quickstart.yaml" }, right)).toBe(0);
		expect(JSON.parse(right.out())).toEqual([]);
		await expect(
			validate({ json: true, path: "none.yaml" }, fakeWorld({ cwd: folder })),
		).rejects.toMatchObject({
			code: "scenario-unreadable",
		});
	});

	test("refuses a file with mistakes with exit code 2", async () => {
		const folder = testFolder();
		writeFileSync(path.join(folder, "bad.yaml"), "system: nast\n");
		await expect(validate({ path: "bad.yaml" }, fakeWorld({ cwd: folder }))).rejects.toMatchObject({
			code: "scenario-invalid",
			exit: 2,
			message: expect.stringContaining('bad.yaml:1:9 unknown broker "nast"; did you mean nats?'),
		});
	});

	test("needs the variables of the environment that the scenario names", async () => {
		const file = "scenarios/existing-nats.yaml";
		await expect(validate({ path: file }, fakeWorld({ cwd }))).rejects.toThrow("NATS_URL");
		const world = fakeWorld({ cwd, env: { NATS_URL: "nats://me:hunter2@h:4222" } });
		expect(await validate({ path: file }, world)).toBe(0);
		expect(world.out()).not.toContain("hunter2");
	});
});

describe("compile", () => {
	test("shows the script of the first run that is asked for", async () => {
		const world = fakeWorld({ cwd });
		expect(await compile({ path: "scenarios/message-sizes.yaml", only: "*/5KiB*" }, world)).toBe(0);
		expect(world.out()).toMatch(/^\/\/ message-sizes: nats, case "5KiB 2000\/s", repeat 1 of 1\n/);
	});

	test("shows the plan that the script opens", async () => {
		const world = fakeWorld({ cwd });
		await compile({ path: "scenarios/quickstart.yaml", plan: true }, world);
		expect(JSON.parse(world.out())).toMatchObject({
			scenario: "quickstart",
			schedule: { messages: 45_000 },
		});
	});
});
