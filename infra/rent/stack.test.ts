import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { runs } from "../processes.fake.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { awsFolder } from "./api.ts";
import { fakePulumi } from "./pulumi.fake.ts";
import { awsConfig } from "./rent.fake.ts";
import { makeRigFolder } from "./rigs.ts";
import { endHolders, findPulumi, openStack, PulumiFailed, pulumiCommand, step } from "./stack.ts";

async function opened() {
	const folder = testFolder();
	const pulumi = fakePulumi(folder);
	const world = fakeWorld({
		cwd: folder,
		env: {
			PATH: process.env.PATH,
			HOME: folder,
			AWS_PROFILE: "mine",
			HTTPS_PROXY: "http://proxy:3128",
			// For credential_process, whatever its name.
			VAULT_ADDR: "https://vault:8200",
			PULUMI_HOME: path.join(folder, "plugins"),
			PULUMI_ACCESS_TOKEN: "stray",
			PULUMI_BACKEND_URL: "s3://stray",
			PULUMI_STACK: "stray",
			NODE_OPTIONS: "--import=/stray.mjs",
			K6_OUT: "json=stray",
			MQBENCH_STATE_DIR: path.join(folder, "state"),
			MQBENCH_PULUMI: pulumi.program,
		},
	});
	const rig = await makeRigFolder("demo-1", world);
	const said: string[] = [];
	const open = () => openStack(rig, world);
	const say = (line: string) => void said.push(line);
	const up = async (signal = new AbortController().signal) =>
		(await open()).up(awsConfig(), { signal, say });
	const destroy = async (patienceMs = 30_000) => (await open()).destroy(say, patienceMs);
	/** What Pulumi's state has. */
	const stateNow = () => JSON.parse(readFileSync(path.join(rig.pulumi, "demo-1.json"), "utf8"));
	return { folder, pulumi, rig, up, destroy, said, state: stateNow };
}

test("stands a stack up and takes it down, with the state in the rig's folder", async () => {
	const { pulumi, up, destroy, said, state } = await opened();
	// Before there is a state Pulumi proves nothing.
	expect(await destroy()).toBe(false);
	pulumi.behave({ rig: { hello: "there" } });
	expect(await up()).toEqual({ hello: "there" });
	expect(said).toEqual(["aws:ec2:Instance broker-1 creating", "aws:ec2:Instance broker-1 created"]);
	expect(state().resources).toEqual(["broker-1"]);
	expect(await destroy()).toBe(true);
	expect(await destroy()).toBe(true);
	expect(state().resources).toEqual([]);
	const words = pulumi.calls().find(([command]) => command === "destroy");
	for (const one of "yes refresh continue-on-error non-interactive stack demo-1".split(" "))
		expect(words?.join(" ")).toContain(one);
});

test("tells the program what is to be rented, writes nothing into its folder, and gives Pulumi the environment that AWS was asked in, but for what leads it elsewhere", async () => {
	const { folder, pulumi, rig, up } = await opened();
	const before = readdirSync(awsFolder);
	await up();
	const set = pulumi.calls().find(([command]) => command === "config") ?? [];
	expect(set).toContain("mqbench:rig");
	const config = set.find((word) => word.startsWith("{")) ?? "";
	expect(JSON.parse(config)).toEqual(awsConfig());
	expect(readdirSync(awsFolder)).toEqual(before);
	expect(readFileSync(path.join(rig.project, "Pulumi.yaml"), "utf8")).toContain(
		`main: ${path.join(awsFolder, "bin", "index.js")}`,
	);
	const env = pulumi.env();
	expect(env).toMatchObject({
		AWS_PROFILE: "mine",
		HTTPS_PROXY: "http://proxy:3128",
		VAULT_ADDR: "https://vault:8200",
		PULUMI_HOME: path.join(folder, "plugins"),
		PULUMI_BACKEND_URL: `file://${rig.pulumi}`,
		PULUMI_CONFIG_PASSPHRASE: readFileSync(rig.passphrase, "utf8"),
		PULUMI_SKIP_UPDATE_CHECK: "true",
	});
	expect(JSON.stringify(env)).not.toMatch(/stray/);
	expect(env.PATH?.split(path.delimiter)[0]).toBe(path.dirname(pulumi.program));
	expect(JSON.stringify(pulumi.calls())).not.toContain(env.PULUMI_CONFIG_PASSPHRASE);
});

test("says why Pulumi could not make it, in the provider's words, and knows what was made before", async () => {
	const { pulumi, up, said, state } = await opened();
	const fail =
		"creating EC2 Instance: api error InsufficientInstanceCapacity: We have no c6in.xlarge";
	pulumi.behave({ fail: `${fail}.` });
	await expect(up()).rejects.toThrow(fail);
	expect(said).toContain("aws:ec2:Instance broker-1 created");
	expect(state().resources).toEqual(["broker-1"]);
});

test("asks Pulumi exactly once to end, in a session that no Ctrl-C of the terminal reaches", async () => {
	const { pulumi, rig, up, folder } = await opened();
	pulumi.behave({ hang: true });
	const abort = new AbortController();
	const ended = up(abort.signal).catch((error: Error) => error);
	const pid = await pidIn(path.join(folder, "told", "pid"));
	// proc(5): fields 5 and 6 of stat are group and session.
	const stat = (of: number) => readFileSync(`/proc/${of}/stat`, "utf8").split(") ")[1]?.split(" ");
	for (const field of [2, 3]) expect(stat(pid)?.[field]).not.toBe(stat(process.pid)?.[field]);
	abort.abort();
	await expect(ended).resolves.toHaveProperty("message", "update canceled");
	expect(pulumi.signals()).toEqual(["SIGINT"]);
	// What it writes is read from files, which are gone.
	expect(readdirSync(rig.path).filter((name) => name.startsWith("pulumi-"))).toEqual([]);
});

test("drops the lock that a killed Pulumi has left, and says that there may be more than it knew", async () => {
	const { rig, up, destroy, state, said } = await opened();
	await up();
	writeFileSync(path.join(rig.pulumi, "demo-1.lock"), "");
	expect(await destroy()).toBe(false);
	expect(said).toContain("Dropping the lock that a killed Pulumi has left.");
	expect(state().resources).toEqual([]);
});

test("ends a Pulumi that still works on it", async () => {
	const { pulumi, up, destroy, state, folder } = await opened();
	pulumi.behave({ hang: true });
	const ended = up().catch((error: Error) => error);
	await pidIn(path.join(folder, "told", "pid"));
	expect(await destroy()).toBe(false);
	expect(pulumi.signals()).toEqual(["SIGINT"]);
	await expect(ended).resolves.toHaveProperty("message", "update canceled");
	expect(state().resources).toEqual([]);
});

test.each([
	[" +  aws:ec2:Vpc vpc creating (0s) ", null],
	[" +  aws:ec2:Instance a creating (0s) ", "aws:ec2:Instance a creating"],
	[" -  aws:ec2:Vpc vpc deleted (1s) ", "aws:ec2:Vpc vpc deleted"],
	[" +  aws:ec2:Instance a creating (9s) error: no room", null],
	[" +  aws:ec2:Vpc a **creating failed** error: no room", "aws:ec2:Vpc a creating failed"],
	["Downloading plugin aws-7.48.0: starting", "Pulumi: downloading plugin aws-7.48.0 ..."],
	[" +  pulumi:pulumi:Stack x creating (0s)", null],
	["    error: no room", null],
])("tells of %j %j", (line, told) => expect(step(line)).toBe(told));

test("what Pulumi says is told as it comes, and whole in the end", async () => {
	const folder = testFolder();
	const program = path.join(folder, "pulumi");
	script(program, "echo one; sleep 0.5; printf größer; echo; echo no >&2");
	const told: string[] = [];
	const { run } = pulumiCommand(program, { PATH: process.env.PATH ?? "" }, folder);
	const said = await run(["destroy"], folder, {}, (text) => void told.push(text));
	expect(said).toEqual({ code: 0, stdout: "one\ngrößer\n", stderr: "no\n" });
	expect(told).toEqual(["one\n", "größer\n"]);
});

describe("a Pulumi that has locked the stack", () => {
	const locked = (pid: number, host = hostname()) =>
		new PulumiFailed({
			stdout: "",
			stderr: `error: the stack is currently locked by 1 lock(s).\n  file://x: created by me@${host} (pid ${pid}) at 2026-01-02T03:04:05Z\n`,
			code: 255,
		});
	/** It has started another program in a session of its own, and does not end by SIGINT. */
	async function running(name: string) {
		const program = path.join(testFolder(), name);
		script(program, "trap : INT\nsetsid sleep 61 &\necho $!\nwhile :; do sleep 0.1; done");
		const child = spawn(program, { stdio: ["ignore", "pipe", "ignore"] });
		const [below] = await once(child.stdout, "data");
		for (const pid of [child.pid ?? -1, Number(below)])
			onTestFinished(() => void (runs(pid) && process.kill(pid, "SIGKILL")));
		return { child, pid: child.pid ?? -1, below: Number(below) };
	}

	test("and does not end is killed with all that it has started", async () => {
		const { child, pid, below } = await running("pulumi");
		const said: string[] = [];
		await endHolders(locked(pid), (line) => said.push(line), 300);
		await vi.waitUntil(() => child.signalCode === "SIGKILL" && !runs(below));
		expect(said).toEqual([`Another Pulumi works on the rig (process ${pid}): it is asked to end.`]);
	});

	test("and is gone is no other program that has its number", async () => {
		const { child, pid } = await running("other");
		await endHolders(locked(pid), () => {}, 0);
		await endHolders(locked(4_000_000), () => {}, 0);
		expect(child.exitCode ?? child.signalCode).toBe(null);
	});

	test("and is on another machine keeps the lock", async () => {
		const failed = locked(process.pid, "elsewhere");
		await expect(endHolders(failed, () => {}, 0)).rejects.toBe(failed);
	});
});

test.each<[string, string | null, string | null]>([
	["MQBENCH_PULUMI", "echo v3.999.0", null],
	["PATH", "echo v3.999.0", null],
	["MQBENCH_PULUMI", "echo v3.100.0", "is 3.100.0. Install it (https://www.pulumi.com/docs"],
	["PATH", "echo v4.0.0", "is 4.0.0"],
	["PATH", "echo hello", "does not say its version"],
	["MQBENCH_PULUMI", "exit 1", "does not run"],
	["PATH", null, "or newer, and there is none on PATH"],
])("of %s is the command pulumi that says %j: %s", async (variable, says, words) => {
	const cwd = testFolder();
	if (says !== null) script(path.join(cwd, "pulumi"), says);
	const found = findPulumi({ cwd, env: { [variable]: variable === "PATH" ? cwd : "pulumi" } });
	if (words === null) expect(await found).toBe(path.join(cwd, "pulumi"));
	else await expect(found).rejects.toThrow(words);
});

// --- internal ---

async function pidIn(file: string): Promise<number> {
	await vi.waitUntil(() => existsSync(file) && readFileSync(file, "utf8") !== "", 20_000);
	return Number(readFileSync(file, "utf8"));
}
