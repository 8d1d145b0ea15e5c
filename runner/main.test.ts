import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { testFolder } from "../infra/test-folder.fake.ts";
import { failure } from "./errors.ts";
import { explain, main } from "./main.ts";
import { packageVersion } from "./package.ts";
import { fakeWorld } from "./world.fake.ts";

/** Runs a command line in an empty folder. */
async function mqbench(...argv: string[]) {
	const world = fakeWorld({ cwd: testFolder() });
	const code = await main(argv, world);
	return { code, out: world.out(), err: world.err() };
}

describe("help", () => {
	test("names the commands, examples and exit codes, on stdout", async () => {
		const { code, out, err } = await mqbench("--help");
		expect({ code, err }).toEqual({ code: 0, err: "" });
		for (const word of ["run", "validate", "compile", "report", "schema"])
			expect(out).toMatch(new RegExp(`^  ${word}\\b`, "m"));
		expect(out).toContain("mqbench scenarios/quickstart.yaml\n");
		expect(out).toContain("99  an SLA breached");
	});

	test("of run names every option", async () => {
		const { code, out } = await mqbench("run", "--help");
		expect(code).toBe(0);
		for (const option of [
			"--set <path=value>",
			"--target <target>",
			"--url <url>",
			"--only <glob>",
			"--out <folder>",
			"--json",
			"-q, --quiet",
			"--on-inconclusive <what>",
		])
			expect(out).toContain(option);
		expect(out).not.toContain("default: []");
	});

	test("--version --json says what would measure, for programs", async () => {
		const { code, out } = await mqbench("--version", "--json");
		expect(code).toBe(0);
		expect(JSON.parse(out)).toMatchObject({
			mqbench: packageVersion,
			node: process.version,
			platform: `${process.platform}-${process.arch}`,
			programs: { from: expect.stringMatching(/^(MQBENCH_K6|package|cache|build)$/) },
			cache: {
				folder: expect.stringMatching(/^[/\\]|^\w:/),
				build: expect.stringMatching(/^[0-9a-f]{16}$/),
			},
		});
	});

	test("--version is the version alone", async () => {
		expect(await mqbench("--version")).toEqual({ code: 0, out: `${packageVersion}\n`, err: "" });
	});
});

describe("a command line that is wrong ends with 2 and a way on", () => {
	test.each([
		[[], /^Usage: mqbench [\s\S]*\n {2}init [\s\S]*\nExit codes:\n/],
		[["plan"], /missing required argument 'scenario'\nSee mqbench --help/],
		[["x.yaml", "--qiet"], /unknown option '--qiet'\n\(Did you mean --quiet\?\)/],
		[["valdate", "x.yaml"], /^valdate: .*did you mean validate\?/],
		[["measure"], /^measure: neither a command nor a file; known: run, /],
		[["x.yaml", "y.yaml"], /too many arguments/],
		[["x.yaml", "--set"], /--set <path=value>' argument missing/],
		[["x.yaml", "--on-inconclusive", "no"], /choices are fail, warn, pass/],
		[["schema", "plan"], /choices are scenario, result, details, rig/],
		[["nosuch.yaml"], /^nosuch\.yaml: cannot be read \(there is no such file\)\. Give the path/],
		[["report", "nosuch"], /nosuch: is not the folder of a run/],
	])("%j", async (argv, message) => {
		const { code, out, err } = await mqbench(...argv);
		expect({ code, out }).toEqual({ code: 2, out: "" });
		expect(err).toMatch(message);
		expect(err).not.toMatch(/^ +at /m);
	});

	test("but a file may be called like no command", async () => {
		const world = fakeWorld({ cwd: testFolder() });
		writeFileSync(path.join(world.cwd, "steady"), "");
		expect(await main(["steady"], world)).toBe(2);
		expect(world.err()).toContain("the scenario is empty");
	});

	test("and a folder is no file", async () => {
		const world = fakeWorld({ cwd: testFolder() });
		mkdirSync(path.join(world.cwd, "folder"));
		expect(await main(["folder"], world)).toBe(2);
		expect(world.err()).toContain("folder: cannot be read (it is a folder)");
	});

	test("and a URL in it is masked", async () => {
		const { err } = await mqbench("--ulr=nats://me:s3cr3t@host");
		expect(err).toContain("unknown option");
		expect(err).not.toContain("s3cr3t");
	});
});

describe("an error", () => {
	test("that a person can act on is its sentence alone", () => {
		const world = fakeWorld();
		const code = explain(failure("go-missing", { why: "" }), world);
		expect(code).toBe(3);
		expect(world.err()).toMatch(/^There is no Go on PATH/);
		expect(world.err()).not.toMatch(/^ +at /m);
	});

	test("of ours is printed with its stack, without passwords, and ends with 1", () => {
		const world = fakeWorld();
		const code = explain(new Error("at nats://me:s3cr3t@host"), world);
		expect(code).toBe(1);
		expect(world.err()).toMatch(
			/^This is a bug in mqbench \S+; please report it with the scenario:\nError: at nats:\/\/\*\*\*@host\n +at /,
		);
	});

	test("of ours inside a command is printed the same way", async () => {
		const world = fakeWorld();
		vi.spyOn(world.stdout, "write").mockImplementation(() => {
			throw new TypeError("broken");
		});
		expect(await main(["schema"], world)).toBe(1);
		expect(world.err()).toMatch(/TypeError: broken\n +at /);
	});

	test.each([
		["SIGINT", 130],
		["SIGTERM", 143],
		["SIGHUP", 130],
	])("of a stop by %s ends with %d", (signal, code) => {
		const world = fakeWorld({ stop: AbortSignal.abort(signal) });
		expect(explain(failure("interrupted", { signal }), world)).toBe(code);
		expect(world.err()).toBe(`Stopped by ${signal}.\n`);
	});
});
