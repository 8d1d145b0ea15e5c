import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { buildResult } from "../compare/build.ts";
import { fixtureCopy } from "../evidence/fixture.fake.ts";
import { main } from "../main.ts";
import type { Result } from "../model/result.ts";
import { REPORT_FILES } from "../result/reporters.ts";
import { fakeWorld } from "../world.fake.ts";
import { deliver, deliveringErrors } from "./deliver.ts";

/** `mqbench report` of a stored run, in a folder of its own. */
async function reported(name: string, args: readonly string[], env: Record<string, string> = {}) {
	const folder = fixtureCopy(name);
	const cwd = testFolder();
	const world = fakeWorld({ cwd, env });
	const code = await main(["report", folder, ...args], world);
	const file = (path: string) => readFileSync(join(folder, path), "utf8");
	return { code, folder, cwd, world, file };
}

function job() {
	const folder = testFolder();
	const summary = join(folder, "summary.md");
	const output = join(folder, "output.txt");
	return {
		folder,
		summary,
		output,
		env: { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: output },
	};
}

describe("a command that comes to no result", () => {
	const run = async (reporter: string) => {
		const cwd = testFolder();
		const world = fakeWorld({ cwd });
		writeFileSync(join(cwd, "bad.yaml"), "name: bad\nsystems: { nats: { broker: nats } }\n");
		const code = await main(["run", "bad.yaml", "--reporter", reporter], world);
		return { cwd, world, code };
	};

	test("has one error in junit.xml, and the same message and exit code as without", async () => {
		const { cwd, world, code } = await run("terminal,junit=out/junit.xml");
		expect(code).toBe(2);
		expect(world.err()).toMatch(/^bad\.yaml:\d+/);
		const xml = readFileSync(join(cwd, "out/junit.xml"), "utf8");
		expect(xml).toContain('tests="1" failures="0" errors="1"');
		expect(xml).toMatch(
			/<testcase name="the run itself" classname="bad.yaml"[\s\S]*<error[\s\S]*workload/,
		);
	});

	test("prints it where that is asked for", async () => {
		expect((await run("junit=-")).world.out()).toMatch(/^<\?xml.*\n.*errors="1"/);
		const { cwd } = await run("junit");
		expect(existsSync(join(cwd, "junit.xml"))).toBe(false);
	});

	test("keeps the file of a result that was delivered before the error", async () => {
		const cwd = testFolder();
		const file = join(cwd, "junit.xml");
		const reporters = [{ name: "junit", path: file }] as const;
		const failing = deliveringErrors("a.yaml", reporters, fakeWorld({ cwd }), async (delivered) => {
			writeFileSync(file, "delivered");
			delivered();
			throw new Error("machines are left");
		});
		await expect(failing).rejects.toThrow("machines are left");
		expect(readFileSync(file, "utf8")).toBe("delivered");
	});

	test("says so where it cannot be written, and the exit code stays", async () => {
		const { world, code } = await run("junit=bad.yaml/x.xml");
		expect(code).toBe(2);
		expect(world.err()).toContain("bad.yaml/x.xml cannot be written");
	});
});

describe("files", () => {
	test("are all in the folder of the run, whatever was asked for", async () => {
		const { folder } = await reported("stall", ["--reporter", "terminal"]);
		for (const name of [...Object.values(REPORT_FILES), "comment.md"])
			expect([name, existsSync(join(folder, name))]).toEqual([name, true]);
	});

	test("are copied to where a path says, with the folders on the way", async () => {
		const { cwd, file, world, code } = await reported("stall", [
			"--reporter",
			"junit=out/deep/junit.xml,csv=out/x.csv",
			"--reporter",
			"markdown=m.md",
		]);
		expect(code).toBe(99);
		const at = (path: string) => readFileSync(join(cwd, path), "utf8");
		expect(at("out/deep/junit.xml")).toBe(file("junit.xml"));
		expect(at("out/x.csv")).toBe(file("result.csv"));
		expect(at("m.md")).toBe(file("report.md"));
		expect(world.out()).toBe("");
	});

	test("without a path are said where they are, and before the verdict", async () => {
		const { folder, world } = await reported("stall", ["--reporter", "terminal,html,junit"]);
		expect(world.out()).toMatch(
			new RegExp(
				`^html: ${folder}/report.html\njunit: ${folder}/junit.xml\n[\\s\\S]*FAIL {2}${folder}/report.html\n$`,
			),
		);
	});

	test.each(["json", "junit", "markdown", "csv", "html"] as const)(
		"%s on stdout is the file to the byte",
		async (name) => {
			const { world, file } = await reported("stall", ["--reporter", `${name}=-`]);
			expect(world.out()).toBe(file(REPORT_FILES[name]));
		},
	);

	test("that cannot be written keep nothing else from being told, and are told last", async () => {
		const { cwd, folder } = await reported("stall", []);
		mkdirSync(join(cwd, "taken"));
		const { env, output, summary } = job();
		const world = fakeWorld({ cwd, env });
		const told = (result: Result) =>
			deliver(
				{
					result,
					folder,
					reporters: [
						{ name: "csv", path: "taken" },
						{ name: "junit", path: "j.xml" },
						{ name: "terminal", path: null },
						{ name: "github", path: null },
					],
				},
				world,
			);
		const result = buildResult(folder);
		expect(told(result)).toBe(3);
		expect(world.out()).toContain("::error title=FAIL nats/256B 1000/s");
		expect(world.out()).toMatch(/FAIL {2}.*report.html\n$/);
		expect(existsSync(join(cwd, "j.xml"))).toBe(true);
		expect(readFileSync(summary, "utf8")).toContain("# stall: FAIL");
		expect(readFileSync(output, "utf8")).toMatch(/exit-code<<(.*)\n3\n\1\n/);
		expect(world.err()).toBe(
			`taken: cannot be written (it is a folder). The measured files are kept; free some space or allow writing there, then: npx mqbench report ${folder}\n`,
		);
		// Codes that are worse than a missing file stay.
		expect(told({ ...result, verdict: "interrupted", interruptedBy: "SIGTERM" })).toBe(143);
		expect(told({ ...result, verdict: "invalid" })).toBe(3);
	});
});

describe("--on-inconclusive", () => {
	test("decides the exit code, and whether junit.xml has a failure", async () => {
		const failed = await reported("repeats", []);
		expect(failed.code).toBe(6);
		expect(failed.file("junit.xml")).toContain('failures="2"');
		const passed = await reported("repeats", ["--on-inconclusive", "warn"]);
		expect(passed.code).toBe(0);
		expect(passed.file("junit.xml")).toContain('failures="0"');
	});
});

describe("in a job of GitHub Actions", () => {
	test("annotations are lines of the log, the report is in the summary, and outputs are set", async () => {
		const { env, summary, output } = job();
		const { world, file, folder } = await reported("stall", [], env);
		const commands = world
			.out()
			.split("\n")
			.filter((line) => line.startsWith("::"));
		expect(commands).toHaveLength(1);
		expect(commands[0]).toContain("::error title=FAIL nats/256B 1000/s");
		expect(world.out()).toMatch(/FAIL {2}.*report.html\n$/);
		expect(readFileSync(summary, "utf8")).toBe(file("report.md"));
		expect(readFileSync(output, "utf8")).toMatch(
			/^verdict<<([0-9a-f-]{36})\nfail\n\1\nexit-code<<\1\n99\n\1\nreport<<\1\n/,
		);
		expect(readFileSync(output, "utf8")).toContain(`\n${folder}\n`);
	});

	test("outside of one, or with other reporters, nothing of it happens", async () => {
		const { env, summary, output } = job();
		const { GITHUB_ACTIONS: _, ...elsewhere } = env;
		const one = await reported("stall", [], elsewhere);
		const other = await reported("stall", ["--reporter", "junit"], env);
		expect(one.world.out() + other.world.out()).not.toContain("::error");
		expect(existsSync(summary) || existsSync(output)).toBe(false);
	});

	test("annotations stand on stderr when stdout holds a file", async () => {
		const { env } = job();
		const { world, file } = await reported("stall", ["--json"], env);
		expect(world.out()).toBe(file("result.json"));
		expect(world.err()).toContain("::error ");
	});

	test("what is in the summary already counts: the report is cut, or left out", async () => {
		const { env, summary } = job();
		writeFileSync(summary, "x".repeat(893_000));
		await reported("stall", [], env);
		const text = readFileSync(summary, "utf8");
		expect(Buffer.byteLength(text)).toBeLessThanOrEqual(900_000);
		expect(text).toContain("x\n# stall: FAIL\n");
		writeFileSync(summary, "x".repeat(899_000));
		const { world } = await reported("stall", [], env);
		expect(world.err()).toContain("The summary of this step is full");
		expect(readFileSync(summary, "utf8")).toBe("x".repeat(899_000));
	});

	test("a summary that cannot be written changes no exit code", async () => {
		const { env, folder } = job();
		const { code, world } = await reported("stall", [], {
			...env,
			GITHUB_STEP_SUMMARY: folder,
			GITHUB_OUTPUT: folder,
		});
		expect(code).toBe(99);
		expect(world.err()).toContain("$GITHUB_STEP_SUMMARY cannot be written");
		expect(world.err()).toContain("$GITHUB_OUTPUT cannot be written");
	});
});
