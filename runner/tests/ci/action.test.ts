import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, renameSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { buildKey } from "../../../infra/programs/build.ts";
import { cacheFolder } from "../../../infra/programs/cache.ts";
import { rentedFile } from "../../../infra/rent/rent.fake.ts";
import { script } from "../../../infra/test-folder.fake.ts";
import { packageFolder, packageVersion } from "../../package.ts";
import { ACTIONS, type Done, type Ran, runAction, temporaryFolder, write } from "./action.fake.ts";

const MQBENCH = path.join(ACTIONS, "mqbench");
const DIST = path.join(packageFolder, "dist");
const TAKE_DOWN = "Take down what is rented";
const PULL_REQUEST = { pull_request: { number: 7 } };
/** The floor of the generator takes 3 s and is not what is tested. */
const BRIEF = "--no-floor";

test("a scenario that keeps its promise: the step succeeds, with outputs, summary, artifacts and comment", async () => {
	const workspace = temporaryFolder();
	const done = await measured({
		folder: MQBENCH,
		workspace,
		event: PULL_REQUEST,
		with: { scenario: scenario(workspace, "p50 < 10s"), args: BRIEF },
		uses: { bin: { "cache-hit": "true" } },
	});
	expect(done.outcome, done.log).toBe("success");
	const { report = "", ...rest } = done.outputs;
	expect(rest).toMatchObject({
		verdict: "pass",
		"exit-code": "0",
		cli: path.join(DIST, "runner", "cli.js"),
	});
	const result = JSON.parse(readFileSync(path.join(report, "result.json"), "utf8"));
	expect(result.verdict).toBe("pass");
	expect(existsSync(path.join(report, "report.html"))).toBe(true);
	expect(done.summary).toContain("# ci: PASS");
	expect(done.log).not.toContain("::error");

	const upload = step(done, "Upload the run");
	expect(upload.with).toMatchObject({ name: "mqbench", path: report });
	const comment = step(done, "Upload the comment");
	expect(comment.with.name).toBe("mqbench-comment-mqbench");
	const small = comment.with.path ?? "";
	expect(readFileSync(path.join(small, "pull-request.txt"), "utf8")).toBe("7");
	expect(readFileSync(path.join(small, "comment.md"), "utf8")).toMatch(/^<!-- mqbench:ci -->\n/);
}, 180_000);

test("a breach: the step fails after the uploads with 99, and says so on the SLA's line", async () => {
	const workspace = temporaryFolder();
	const file = scenario(workspace, "p50 < 1us");
	const line =
		readFileSync(path.join(workspace, file), "utf8").split("\n").indexOf("  - p50 < 1us") + 1;
	const done = await measured({
		folder: MQBENCH,
		workspace,
		event: PULL_REQUEST,
		with: { scenario: file, args: BRIEF, "artifact-name": "slow" },
	});
	expect(done.outcome, done.log).toBe("failure");
	expect(done.outputs).toMatchObject({ verdict: "fail", "exit-code": "99" });
	expect(done.summary).toContain("# ci: FAIL");
	const errors = done.log.split("\n").filter((text) => text.startsWith("::error"));
	expect(errors).toHaveLength(1);
	expect(errors[0]).toContain(`file=${file},line=${line},`);
	expect(done.log).toContain("mqbench: fail (exit code 99)");
	// The gate is the last step: what failed is kept.
	expect(done.steps.filter((one) => one.outcome === "failure")).toEqual([step(done, "Gate")]);
	expect(step(done, "Upload the run").with.name).toBe("slow");
	expect(step(done, "Upload the comment").with.name).toBe("mqbench-comment-slow");
}, 180_000);

test("a breach with fail: false and summary: false is only told", async () => {
	const done = await stubbed({
		with: { scenario: "fails.yaml", fail: "false", summary: "false", "artifact-name": "" },
	});
	expect(done.outcome, done.log).toBe("success");
	expect(done.outputs).toMatchObject({ verdict: "fail", "exit-code": "99" });
	expect(done.summary).toBe("");
	// After a push there is no pull request, and without a name nothing is uploaded.
	for (const name of ["Upload the run", "Upload the comment", "Gate"])
		expect(step(done, name).outcome).toBe("skipped");
});

test("a scenario with a mistake: error, exit code 2, and an annotation, though there is no result", async () => {
	const workspace = temporaryFolder();
	const done = await runAction({
		folder: MQBENCH,
		workspace,
		event: PULL_REQUEST,
		with: { scenario: scenario(workspace, "p50 < 10 apples") },
	});
	expect(done.outcome).toBe("failure");
	expect(done.outputs).toMatchObject({ verdict: "error", "exit-code": "2", report: "" });
	expect(done.log).toContain("10 apples");
	expect(done.log).toContain(
		"::error title=mqbench::There is no result, and mqbench's exit code is 2",
	);
	for (const name of ["Upload the run", "Upload the comment"])
		expect(step(done, name).outcome).toBe("skipped");
}, 180_000);

test("the cache has the name that mqbench gives its build, and Go is set up only to build", async () => {
	const key = buildKey(path.join(packageFolder, "extensions"), packageVersion);
	const bin = path.join(cacheFolder(process.env, process.platform), "bin", key);
	const run = (hit: string) =>
		runAction({
			folder: MQBENCH,
			workspace: temporaryFolder(),
			with: { scenario: "none.yaml" },
			uses: { bin: { "cache-hit": hit } },
		});
	const cold = await run("");
	expect(step(cold, "Restore what mqbench built").with).toEqual({
		path: bin,
		key: `mqbench-bin-${process.platform}-${process.arch}-go1.26-${key}`,
	});
	expect(existsSync(path.join(bin, "build.json"))).toBe(true);
	expect(uses(cold, "actions/setup-go")?.outcome).toBe("success");
	expect(step(cold, "Keep what mqbench built").with).toEqual(
		step(cold, "Restore what mqbench built").with,
	);
	const warm = await run("true");
	expect(uses(warm, "actions/setup-go")?.outcome).toBe("skipped");
	expect(step(warm, "Keep what mqbench built").outcome).toBe("skipped");
});

test("cache: false keeps nothing, and empty versions take what is on PATH", {
	tags: "long",
}, async () => {
	const done = await runAction({
		folder: MQBENCH,
		workspace: temporaryFolder(),
		with: { scenario: "none.yaml", cache: "false", "node-version": "", "go-version": "" },
	});
	for (const one of done.steps)
		if (one.uses !== null && !one.uses.startsWith("actions/upload-artifact"))
			expect(one.outcome, one.name).toBe("skipped");
});

test("what Maven fetched is another cache for another scenario, and is kept only when there is something; Go and builds are only where something is built", {
	tags: "long",
}, async () => {
	const keys: string[] = [];
	for (const [sla, jars, from] of [
		["p50 < 1s", false, "build"],
		["p50 < 2s", true, "package"],
	] as const) {
		const workspace = temporaryFolder();
		const cache = path.join(workspace, "cache");
		if (jars) write(path.join(cache, "jars", "kafka-1", "k.jar"), "");
		const done = await stubbed({
			folder: path.join(stub(from), ".github", "actions", "mqbench"),
			workspace,
			with: { scenario: scenario(workspace, sla) },
			env: { MQBENCH_CACHE_DIR: cache },
		});
		const { path: where, key = "" } = step(done, "Restore what Maven fetched").with;
		expect(where).toBe(path.join(cache, "jars"));
		keys.push(key);
		expect(step(done, "Keep what Maven fetched").outcome).toBe(jars ? "success" : "skipped");
		const builds = from === "build" ? "success" : "skipped";
		expect(uses(done, "actions/setup-go")?.outcome).toBe(builds);
		expect(step(done, "Restore what mqbench built").outcome).toBe(builds);
	}
	expect(new Set(keys).size).toBe(2);
});

test("inputs become arguments: quotes hold words together, nothing is expanded or run", async () => {
	const workspace = temporaryFolder();
	const done = await stubbed({
		workspace,
		with: {
			scenario: "$(touch hacked) `touch hacked`; touch hacked.yaml",
			args: `--only 'nats/256B *'  --set "name=a b"\n--set x=$HOME\\ y '' ; touch hacked`,
			reporter: "terminal,github,junit=out dir/j.xml",
			baseline: "base lines/a.json",
			confirm: "true",
			"on-inconclusive": "warn",
		},
	});
	expect(done.outcome, done.log).toBe("success");
	expect(argvOf(done)).toEqual([
		"run",
		"$(touch hacked) `touch hacked`; touch hacked.yaml",
		"--out",
		done.outputs.report,
		"--reporter",
		"terminal,github,junit=out dir/j.xml",
		"--baseline",
		"base lines/a.json",
		"--on-inconclusive",
		"warn",
		"--confirm",
		"--only",
		"nats/256B *",
		"--set",
		"name=a b",
		"--set",
		"x=$HOME y",
		"",
		";",
		"touch",
		"hacked",
	]);
	expect(existsSync(path.join(workspace, "hacked"))).toBe(false);
});

test("what is not given is not passed on, and two uses in one job have folders of their own", async () => {
	const temp = temporaryFolder();
	const [one, two] = [
		await stubbed({ temp, with: { scenario: "a.yaml", reporter: "" } }),
		await stubbed({ temp, with: { scenario: "b.yaml", reporter: "" } }),
	];
	expect(argvOf(one)).toEqual(["run", "a.yaml", "--out", one.outputs.report]);
	expect(argvOf(two)).toEqual(["run", "b.yaml", "--out", two.outputs.report]);
});

test("the options that the action passes are options of mqbench", () => {
	const { stdout } = spawnSync(
		process.execPath,
		[path.join(DIST, "runner", "cli.js"), "run", "--help"],
		{ encoding: "utf8" },
	);
	const script = readFileSync(path.join(MQBENCH, "run.mjs"), "utf8");
	const passed = [...script.matchAll(/"(--[a-z-]+)"/g)].map(([, name]) => name);
	expect(passed).toHaveLength(5);
	for (const name of passed) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
});

test.each([
	["args", "--out elsewhere", "the run's folder is the action's own"],
	["args", "--resume=elsewhere", "the run's folder is the action's own"],
	["args", "--only 'nats", "a quote that is opened and not closed"],
	["fail", "yes", 'fail is true or false; got "yes"'],
	["fail", "", 'fail is true or false; got ""'],
	["fail", "false # for now", 'fail is true or false; got "false # for now"'],
	["confirm", "1", 'confirm is true or false; got "1"'],
	["summary", "no", 'summary is true or false; got "no"'],
])("%s: %j is refused, and never taken for a gate that is off", async (name, value, why) => {
	const done = await stubbed({ with: { scenario: "a.yaml", [name]: value } });
	expect(step(done, "Gate").outcome).toBe("failure");
	expect(done.outputs).toMatchObject({ verdict: "error", "exit-code": "2" });
	expect(done.log).toContain(why);
	expect(done.log.match(/::error/g)).toHaveLength(1);
});

test("a cancelled job: mqbench is told at once, and what it leaves is uploaded", async () => {
	const done = await stubbed({
		with: { scenario: "waits.yaml" },
		async onStep(name, pid, log) {
			if (name !== "Measure") return;
			const end = Date.now() + 10_000;
			while (!log().includes("waiting") && Date.now() < end)
				await new Promise((resolve) => setTimeout(resolve, 10));
			process.kill(pid, "SIGINT");
		},
	});
	expect(done.log).toContain("stopped by SIGINT");
	expect(done.outputs).toMatchObject({ verdict: "interrupted", "exit-code": "130" });
	expect(done.outcome).toBe("failure");
	expect(step(done, "Upload the run").outcome).toBe("success");
	expect(step(done, TAKE_DOWN).outcome).toBe("success");
	expect(done.log).toContain("rigs destroy --all --yes\n");
});

test.each([
	["MQBENCH_STATE_DIR", { MQBENCH_STATE_DIR: "/kept" }, () => "/kept"],
	[
		"the job's own folder if that is empty",
		{ MQBENCH_STATE_DIR: "" },
		(temp: string) => `${temp}/mqbench-state`,
	],
])(
	"what is rented is remembered in %s, where it is looked for afterwards",
	{ tags: "long" },
	async (_, env, folder) => {
		const done = await stubbed({ with: { scenario: "a.yaml" }, env });
		const at = folder(done.temp);
		expect(done.log).toContain(`run remembers in ${at}\n`);
		expect(done.log).toContain(`rigs remembers in ${at}\n`);
	},
);

test.each([
	["before it asked for anything", "success", "The rig x-1 is down; nothing of it is left."],
	// Without Pulumi and without an account it cannot be taken down.
	["up", "failure", "Take it down:         npx mqbench rigs destroy x-1"],
] as const)(
	"a rig that a killed step has left %s is taken down, or fails the job: %s",
	async (when, outcome, words) => {
		const temp = temporaryFolder();
		const workspace = temporaryFolder();
		const rig = path.join(temp, "mqbench-state", "rigs", "x-1");
		if (when === "up") write(path.join(rig, "rig.json"), JSON.stringify(rentedFile));
		else write(path.join(rig, "passphrase"), "x");
		const done = await runAction({
			folder: MQBENCH,
			workspace,
			temp,
			with: { scenario: scenario(workspace, "p50 < 10 apples"), fail: "false" },
			env: { MQBENCH_PULUMI: path.join(temp, "none") },
		});
		expect(step(done, "Measure").outcome).toBe("success");
		expect(step(done, TAKE_DOWN).outcome, done.log).toBe(outcome);
		expect(done.outcome).toBe(outcome);
		expect(done.log).toContain(words);
		expect(existsSync(rig)).toBe(when === "up");
	},
	180_000,
);

test.each([
	["local without a build: from its lock file", "local", /^ci --no-audit --no-fund$/m],
	[
		"a version of npm: from the registry, and none of its scripts is run",
		"7.7.7",
		/^install .*--ignore-scripts --prefix \S+ mqbench@7\.7\.7$/m,
	],
])("%s", { tags: "long" }, async (_, version, call) => {
	const root = stub();
	const npm = temporaryFolder();
	const calls = path.join(npm, "calls");
	// It gets what the stub has: built where it is asked to build, or as a package.
	script(
		path.join(npm, "npm"),
		`echo "$*" >>${calls}
[ "$1" = ci ] || { mkdir node_modules && cp -r ${root} node_modules/mqbench && cd node_modules/mqbench; }
mv built dist`,
	);
	renameSync(path.join(root, "dist"), path.join(root, "built"));
	const done = await runAction({
		folder: path.join(root, ".github", "actions", "mqbench"),
		workspace: temporaryFolder(),
		with: { scenario: "a.yaml", version },
		env: { PATH: `${npm}:${process.env.PATH}` },
	});
	expect(done.outcome, done.log).toBe("success");
	expect(readFileSync(calls, "utf8")).toMatch(call);
	expect(done.outputs.cli?.startsWith(version === "local" ? root : done.temp)).toBe(true);
	expect(argvOf(done).slice(0, 2)).toEqual(["run", "a.yaml"]);
	// What was installed names its build, which is another one with each version.
	expect(step(done, "Restore what mqbench built").with.key).toMatch(new RegExp(`-${STUB_BUILD}$`));
});

test.each(["", "file:../evil", "npm:evil@1", "-g"])(
	"version %j is refused before npm sees it",
	async (version) => {
		const done = await runAction({
			folder: MQBENCH,
			workspace: temporaryFolder(),
			with: { scenario: "a.yaml", version },
			env: { npm_config_registry: "http://127.0.0.1:9" },
		});
		expect(done.outcome).toBe("failure");
		expect(done.log).toContain("a version of mqbench on npm");
		expect(step(done, "Measure").outcome).toBe("skipped");
		expect(step(done, "Upload the run").outcome).toBe("skipped");
	},
);

// --- internal ---

/** A scenario of one run of a second, whose name within the workspace is given back. */
function scenario(workspace: string, sla: string): string {
	write(
		path.join(workspace, "bench", "ci.yaml"),
		`name: ci
system: nats
workload: { pattern: round-trip, rate: 500/s, message: 256B, warmup: 0s, duration: 1s }
sla:
  - lost == 0
  - ${sla}
`,
	);
	return "bench/ci.yaml";
}

/** Runs the action again, twice at most, while the run is INVALID: on a machine that others keep busy it rightly is. */
async function measured(options: Parameters<typeof runAction>[0], again = 2): Promise<Done> {
	const done = await runAction(options);
	return done.outputs.verdict === "invalid" && again > 0 ? measured(options, again - 1) : done;
}

function step(done: Done, name: string): Ran {
	const found = done.steps.find((one) => one.name === name);
	if (found === undefined) throw new Error(`there is no step ${name}`);
	return found;
}

function uses(done: Done, action: string): Ran | undefined {
	return done.steps.find((one) => one.uses?.startsWith(`${action}@`));
}

const STUB_BUILD = "0123456789abcdef";

/** The repository of an mqbench that measures nothing: it writes its arguments into the folder of the run. */
function stub(from: "build" | "package" = "build"): string {
	const root = temporaryFolder();
	cpSync(MQBENCH, path.join(root, ".github", "actions", "mqbench"), { recursive: true });
	cpSync(
		path.join(packageFolder, "runner", "brokers", "kafka", "pom.xml"),
		path.join(root, "runner", "brokers", "kafka", "pom.xml"),
	);
	write(path.join(root, "extensions", "go.mod"), "module stub");
	write(path.join(root, "package.json"), '{ "version": "7.7.7" }');
	write(
		path.join(root, "dist", "runner", "cli.js"),
		`const fs = require("node:fs");
const argv = process.argv.slice(2);
if (argv[0] === "--version") {
	const folder = process.env.MQBENCH_CACHE_DIR ?? "/nowhere";
	const cache = { folder, build: "${STUB_BUILD}" };
	console.log(JSON.stringify({ programs: { from: "${from}" }, cache }));
	process.exit(0);
}
console.log(argv[0] + " remembers in " + process.env.MQBENCH_STATE_DIR);
if (argv[0] === "rigs") {
	console.log(argv.join(" "));
	process.exit(0);
}
const folder = argv[argv.indexOf("--out") + 1];
const end = (verdict, code) => {
	fs.mkdirSync(folder);
	fs.writeFileSync(folder + "/argv.json", JSON.stringify(argv));
	fs.writeFileSync(folder + "/result.json", JSON.stringify({ verdict }));
	process.exit(code);
};
if (argv[1] === "fails.yaml") end("fail", 99);
if (argv[1] !== "waits.yaml") end("pass", 0);
process.on("SIGINT", () => {
	console.log("stopped by SIGINT");
	end("interrupted", 130);
});
setTimeout(() => {}, 60_000);
console.log("waiting");
`,
	);
	return root;
}

function stubbed(options: Partial<Parameters<typeof runAction>[0]>): Promise<Done> {
	return runAction({
		folder: path.join(stub(), ".github", "actions", "mqbench"),
		workspace: temporaryFolder(),
		with: {},
		...options,
	});
}

/** What the stub was called with. */
function argvOf(done: Done): string[] {
	const file = path.join(done.outputs.report ?? "", "argv.json");
	return JSON.parse(readFileSync(file, "utf8"));
}
