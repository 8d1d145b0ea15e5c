import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test, vi } from "vitest";
import { testFolder } from "../infra/test-folder.fake.ts";
import { failure } from "./errors.ts";
import { topicNames } from "./explain/topics.ts";
import { COMMANDS, explain, main } from "./main.ts";
import { packageFolder, packageVersion } from "./package.ts";
import { fakeWorld } from "./world.fake.ts";

async function mqbench(...argv: string[]) {
	const world = fakeWorld({ cwd: testFolder() });
	const code = await main(argv, world);
	return { code, out: world.out(), err: world.err() };
}

describe("help", () => {
	test("names every command, with examples and exit codes, on stdout", async () => {
		const { code, out, err } = await mqbench("--help");
		expect({ code, err }).toEqual({ code: 0, err: "" });
		for (const name of Object.keys(COMMANDS)) expect(out).toMatch(new RegExp(`^  ${name} `, "m"));
		for (const name of ["validate", "plan", "doctor", "explain", "build"])
			expect(out).toMatch(new RegExp(`^  npx mqbench ${name}\\b`, "m"));
		expect(out).toContain("npx mqbench scenarios/quickstart.yaml\n");
		expect(out).toContain("99  an SLA breached");
		expect(COMMANDS.explain?.[0]).toContain(topicNames.slice(0, 4).join(", "));
	});

	test.each(Object.keys(COMMANDS))("of %s has its arguments and options", async (name) => {
		const { code, out } = await mqbench(name, "--help");
		expect(code).toBe(0);
		expect(out).toMatch(new RegExp(`^Usage: mqbench ${name}\\b`));
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

test("options and arguments reach their command", async () => {
	const world = fakeWorld({ cwd: packageFolder });
	const words = ["scenarios/quickstart.yaml", "--json", "--quick", "--set", "name=other"];
	expect(await main(["plan", ...words], world)).toBe(0);
	const quick = { scenario: "other", quick: true, schedule: { durationNs: 3e9 } };
	expect(JSON.parse(world.out())).toMatchObject([quick]);
});

describe("a command line that is wrong ends with 2 and a way on", () => {
	test.each([
		[[], /^Usage: mqbench [\s\S]*\n {2}init [\s\S]*\nExit codes:\n/],
		[["plan"], /missing required argument 'scenario'\nSee npx mqbench --help/],
		[["x.yaml", "--qiet"], /unknown option '--qiet'\n\(Did you mean --quiet\?\)/],
		[["valdate", "x.yaml"], /^valdate: .*did you mean validate\?/],
		[["measure"], /^measure: neither a command nor a file; known: run, /],
		[["x.yaml", "y.yaml"], /too many arguments/],
		[["x.yaml", "--set"], /--set <path=value>' argument missing/],
		[["x.yaml", "--on-inconclusive", "no"], /choices are fail, warn, pass/],
		[["x.yaml", "--out", "a", "--resume", "b"], /'--out <folder>' cannot be used with/],
		[["schema", "plan"], /choices are scenario, result, details, rig/],
		[["nosuch.yaml"], /^nosuch\.yaml: cannot be read \(there is no such file\)\. Give the path/],
	])("%j", async (argv, message) => {
		const { code, out, err } = await mqbench(...argv);
		expect({ code, out }).toEqual({ code: 2, out: "" });
		expect(err).toMatch(message);
		expect(err).not.toMatch(/^ +at /m);
	});

	test("but a file may be called like no command, and a folder is no file", async () => {
		const world = fakeWorld({ cwd: testFolder() });
		writeFileSync(path.join(world.cwd, "steady"), "");
		mkdirSync(path.join(world.cwd, "folder"));
		for (const name of ["steady", "folder"]) expect(await main([name], world)).toBe(2);
		expect(world.err()).toContain("the scenario is empty");
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
		expect(explain(failure("go-missing", { why: "" }), world)).toBe(3);
		expect(world.err()).toMatch(/^There is no Go on PATH/);
		expect(world.err()).not.toMatch(/^ +at /m);
	});

	test("of ours is printed with its stack, without passwords, and ends with 1", () => {
		const world = fakeWorld();
		expect(explain(new Error("at nats://me:s3cr3t@host"), world)).toBe(1);
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

describe("commands that README.md and the guides show", () => {
	const guides = readdirSync(path.join(packageFolder, "scenarios"))
		.filter((name) => name.endsWith(".md"))
		.map((name) => `scenarios/${name}`);
	const shown = ["README.md", ...guides]
		.map((name) => readFileSync(path.join(packageFolder, name), "utf8"))
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
		// A rig exists only after `mqbench up`.
		return args === "" || args.includes("--rig") ? [] : [{ env, args }];
	});

	test("are more than a few, and each is one", () => {
		expect(scenarios.length).toBeGreaterThan(8);
		for (const line of lines) {
			const [, word = "run"] = /npx mqbench ([a-z]+)(?: |$)/.exec(line) ?? [];
			expect(Object.keys(COMMANDS), line).toContain(word);
		}
	});

	test.each(scenarios)("$args", async ({ env, args }) => {
		const variables = env.split(" ").flatMap((one) => (one === "" ? [] : [one.split("=")]));
		const world = fakeWorld({ cwd: packageFolder, env: Object.fromEntries(variables) });
		// Rent, viewers and baselines do not depend on the scenario.
		const words = args
			.replaceAll(/ --(?:max-hourly-usd|out|baseline) \S+| --watch| --open|'/g, "")
			.split(" ");
		expect(await main(["validate", ...words], world), world.err() + world.out()).toBe(0);
	});

	const pages = ["", "runner", "infra", "extensions", "scenarios", "reports", ".github"].flatMap(
		(folder) =>
			readdirSync(path.join(packageFolder, folder), { recursive: folder !== "" })
				.map((name) => path.join(folder, String(name)))
				.filter((name) => name.endsWith(".md") && !/node_modules|published|golden/.test(name)),
	);

	test("are commands with options that exist, on every page", async () => {
		const found = pages.flatMap((page) =>
			[
				...readFileSync(path.join(packageFolder, page), "utf8")
					.replaceAll(/\\\n\s*/g, " ")
					.matchAll(/npx mqbench ([^`\n#|&]+)/g),
			].map(([, args = ""]) => ({ page, args: args.trim() })),
		);
		expect(found.length).toBeGreaterThan(70);
		for (const { page, args } of found) {
			const [word = ""] = args.split(/\s/);
			const command = /^(?:<scenario>|\S+\.yaml|\S+\/<name>\.yaml)/.test(word) ? "run" : word;
			expect(Object.keys(COMMANDS), `${page}: ${args}`).toContain(command);
			const { out } = await mqbench(command, "--help");
			// What follows "--" goes to another program.
			const options = args.split(" -- ")[0]?.match(/(?<=\s)--[a-z0-9-]+/g) ?? [];
			for (const option of options) expect(out, `${page}: ${args}`).toContain(` ${option}`);
		}
	});

	test("work in other folders after an install from the clone, as README.md and the help say", async () => {
		const { out } = await mqbench("--help");
		for (const text of [shown, out]) expect(text).toContain("npm install -g .");
	});
});
