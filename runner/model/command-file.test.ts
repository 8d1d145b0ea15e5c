import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { fixtureCopy } from "../evidence/fixture.fake.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { commandIn, commandOf, resumeCommand } from "./command-file.ts";

const at = (cwd: string, root?: string) => ({
	cwd,
	env: root === undefined ? {} : { GITHUB_WORKSPACE: root },
});

describe("the command", () => {
	test.each([
		["/w/repo", "bench/x.yaml", "bench/x.yaml", "bench/x.yaml"],
		["/w/repo/bench", "x.yaml", "x.yaml", "bench/x.yaml"],
		["/w/repo/bench", "../x.yaml", "../x.yaml", "x.yaml"],
		["/w/repo", "/w/repo/bench/x.yaml", "bench/x.yaml", "bench/x.yaml"],
		["/w/repo", "/elsewhere/x.yaml", "../../elsewhere/x.yaml", null],
		["/w/repo", "..x.yaml", "..x.yaml", "..x.yaml"],
	])("started in %s with %s names %s, in the repository %s", (cwd, path, scenario, file) => {
		expect(commandOf(path, [], at(cwd, "/w/repo"))).toMatchObject({ scenario, file });
	});

	test("knows no repository outside of a job", () => {
		expect(commandOf("x.yaml", [], at("/w"))).toMatchObject({ file: null });
	});

	test("keeps arguments as they were, and no secret", () => {
		const args = [
			"x.yaml",
			"--url",
			"nats://me:hunter2@host:4222",
			"--set",
			"systems.a.password=hunter2 and more",
			"--set=system.url=nats://tok@h",
			"--only",
			"nats/*",
			"--url",
			`\${NATS_URL}`,
		];
		const { args: kept } = commandOf("x.yaml", args, at("/w"));
		expect(kept).toEqual([
			"x.yaml",
			"--url",
			"nats://***@host:4222",
			"--set",
			"systems.a.password=***",
			"--set=system.url=nats://***@h",
			"--only",
			"nats/*",
			"--url",
			`\${NATS_URL}`,
		]);
	});
});

describe("of a broker's own settings", () => {
	test.each([
		["system.config.masterauth=geheim", "system.config.masterauth=***"],
		["system.config.whatever=geheim", "system.config.whatever=***"],
		["systems.a.config={whatever: geheim}", "systems.a.config=***"],
		["system={config: {whatever: geheim}}", "system=***"],
		["system.config.maxmemory=1gb", "system.config.maxmemory=1gb"],
		["system.config.timeout=30s", "system.config.timeout=30s"],
		["system.config.appendonly=yes", "system.config.appendonly=yes"],
		["system.config.hz=-10.5", "system.config.hz=-10.5"],
		["system.config.requirepass=12345", "system.config.requirepass=***"],
		["workload.rate=5000/s", "workload.rate=5000/s"],
		["name=config", "name=config"],
	])("--set %s is kept as %s", (given, kept) => {
		const args = (...all: string[]) => commandOf("x.yaml", all, at("/w")).args;
		expect(args("--set", given)).toEqual(["--set", kept]);
		expect(args(`--set=${given}`)).toEqual([`--set=${kept}`]);
	});
});

describe("in the result", () => {
	test("stands what command.json says", () => {
		const folder = fixtureCopy("healthy");
		const file = commandOf("x.yaml", ["x.yaml", "--quick"], at("/w", "/w"));
		writeFileSync(join(folder, "command.json"), JSON.stringify(file));
		expect(buildResult(folder).command).toEqual({
			scenario: "x.yaml",
			args: ["x.yaml", "--quick"],
			file: "x.yaml",
		});
	});

	test("stands null of an older folder, and of a file that cannot be read", () => {
		expect(fixtureResult("healthy").command).toBeNull();
		const folder = fixtureCopy("healthy");
		for (const text of ["{", "[]", '{"schema": 2}']) {
			writeFileSync(join(folder, "command.json"), text);
			expect(commandIn(folder)).toBeNull();
			expect(buildResult(folder).command).toBeNull();
		}
	});
});

test("gates name the line of scenario.yaml that asks for them", () => {
	expect(fixtureResult("stall").gates.map((g) => g.line)).toEqual([12, 13, 14]);
	expect(fixtureResult("repeats").gates.map((g) => g.line)).toEqual([14, 16, 14, 16, 15]);
});

test("the command to paste runs nothing of what was given, and moves no cursor", () => {
	const args = ["<$(id)>", "<(id)>", "a\u001b[201~;id"];
	expect(resumeCommand({ args }, "reports/x")).toBe(
		"npx mqbench '<$(id)>' '<(id)>' 'a\\u001b[201~;id' --resume reports/x",
	);
	expect(resumeCommand(null, "reports/x")).toBe("npx mqbench <scenario> --resume reports/x");
});
