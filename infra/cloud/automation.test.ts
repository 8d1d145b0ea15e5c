import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { openStack, step } from "./automation.ts";
import { fakePulumi } from "./pulumi.fake.ts";
import { awsConfig } from "./rigs.fake.ts";
import { keepConfig, makeRigFolder } from "./rigs.ts";

async function opened(id = "demo-1", state = "state") {
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
			MQBENCH_STATE_DIR: path.join(folder, state),
			MQBENCH_PULUMI: pulumi.program,
		},
	});
	const rig = await makeRigFolder(id, world);
	await keepConfig(rig, awsConfig({ id }));
	const said: string[] = [];
	const open = () =>
		openStack(rig, world, { yes: true, say: (line) => said.push(line), program: pulumi.project });
	const going = (signal = new AbortController().signal) => ({
		signal,
		say: (line: string) => void said.push(line),
	});
	return { folder, pulumi, rig, world, open, going, said };
}

test("stands a stack up and takes it down, with the state in the rig's folder", async () => {
	const { pulumi, rig, open, going, said } = await opened();
	pulumi.behave({ rig: { hello: "there" } });
	const stack = await open();
	expect(await stack.resources()).toBe(null);
	expect(await stack.up(going())).toEqual({ hello: "there" });
	expect(said).toEqual(["aws:ec2:Instance broker-1 creating", "aws:ec2:Instance broker-1 created"]);
	expect(await stack.resources()).toEqual(["aws:ec2/instance:Instance broker-1 (i-0abc)"]);
	expect(existsSync(path.join(rig.pulumi, "demo-1.json"))).toBe(true);

	await stack.destroy(going());
	expect(await stack.resources()).toEqual([]);
	await stack.remove();
	expect(existsSync(path.join(rig.pulumi, "demo-1.json"))).toBe(false);
	// Neither is it any mistake when it is done already.
	await stack.destroy(going());
	await stack.remove();
	await stack.cancel();

	const destroy = pulumi.calls().find(([command]) => command === "destroy");
	expect(destroy).toEqual(
		expect.arrayContaining([
			"--yes",
			"--refresh",
			"--continue-on-error",
			"--non-interactive",
			"--stack",
			"demo-1",
		]),
	);
});

test("tells the program what is to be rented, writes nothing into its folder, and gives Pulumi the environment that AWS was asked in, but for what leads it elsewhere", async () => {
	const { folder, pulumi, rig, open, going } = await opened();
	const before = readdirSync(pulumi.project);
	const stack = await open();
	await stack.up(going());
	const set = pulumi.calls().find(([command]) => command === "config") ?? [];
	expect(set).toContain("mqbench:rig");
	const config = set.find((word) => word.startsWith("{")) ?? "";
	expect(JSON.parse(config)).toEqual(awsConfig({ id: "demo-1" }));
	expect(readdirSync(pulumi.project)).toEqual(before);
	expect(readFileSync(path.join(rig.project, "Pulumi.yaml"), "utf8")).toContain(
		`main: ${path.join(pulumi.project, "bin", "index.js")}`,
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

test.each(["My größer Rigs?", "a%20b#1"])(
	"keeps the state in a folder that is called %j",
	async (name) => {
		const { rig, open, going } = await opened("demo-1", name);
		await (await open()).up(going());
		expect(readdirSync(rig.pulumi)).toEqual(["demo-1.json"]);
	},
);

test("says why Pulumi could not make it, in the provider's words", async () => {
	const { pulumi, open, going, said } = await opened();
	pulumi.behave({
		fail: "creating EC2 Instance: api error InsufficientInstanceCapacity: We have no c6in.xlarge.",
	});
	const stack = await open();
	await expect(stack.up(going())).rejects.toThrow(
		"creating EC2 Instance: api error InsufficientInstanceCapacity: We have no c6in.xlarge",
	);
	expect(said).toContain("aws:ec2:Instance broker-1 created");
	// What was made before is known.
	expect(await stack.resources()).toHaveLength(1);
});

test("asks Pulumi exactly once to end, in a session that no Ctrl-C of the terminal reaches", async () => {
	const { pulumi, rig, open, going, folder } = await opened();
	pulumi.behave({ hang: true });
	const stack = await open();
	const abort = new AbortController();
	const up = stack.up(going(abort.signal)).catch((error: Error) => error);
	const pid = await pidIn(path.join(folder, "told", "pid"));
	expect(sessionOf(pid)).not.toBe(sessionOf(process.pid));
	expect(groupOf(pid)).not.toBe(groupOf(process.pid));
	abort.abort();
	await expect(up).resolves.toHaveProperty("message", "update canceled");
	expect(pulumi.signals()).toEqual(["SIGINT"]);
	// What it writes is read from files, which are gone.
	expect(readdirSync(rig.path).filter((name) => name.startsWith("pulumi-"))).toEqual([]);
});

test("cancels by ending a Pulumi that does not listen, and dropping its lock", async () => {
	const { pulumi, rig, open, going, folder } = await opened();
	pulumi.behave({ hang: true });
	const stack = await open();
	const up = stack.up(going()).catch((error: Error) => error);
	const pid = await pidIn(path.join(folder, "told", "pid"));
	await stack.cancel();
	await up;
	expect(() => process.kill(pid, 0)).toThrow();
	expect(existsSync(path.join(rig.pulumi, "demo-1.lock"))).toBe(false);
	await stack.destroy(going());
	expect(await stack.resources()).toEqual([]);
});

test("says that the stack is locked as Pulumi does", async () => {
	const { rig, open, going } = await opened();
	const stack = await open();
	await stack.up(going());
	writeFileSync(path.join(rig.pulumi, "demo-1.lock"), "");
	const error = await stack.destroy(going()).catch((one: Error) => one);
	expect(error).toMatchObject({
		message: expect.stringMatching(/currently locked by/),
		locked: true,
	});
	await stack.cancel();
	await stack.destroy(going());
});

test("does not take a state that is gone for a rig that is", async () => {
	const { rig, open, going } = await opened();
	const stack = await open();
	await stack.up(going());
	rmSync(path.join(rig.pulumi, "demo-1.json"));
	await expect((await open()).destroy(going())).rejects.toThrow(/Pulumi's state is gone/);
});

test("names what Pulumi had begun to make when it was killed", async () => {
	const { rig, open, going } = await opened();
	const stack = await open();
	await stack.up(going());
	writeFileSync(
		path.join(rig.pulumi, "demo-1.json"),
		JSON.stringify({
			resources: [],
			pending_operations: [
				{
					type: "creating",
					resource: {
						urn: "urn:pulumi:x::mqbench::aws:ec2/instance:Instance::client-1",
						type: "aws:ec2/instance:Instance",
					},
				},
			],
		}),
	);
	expect(await stack.resources()).toEqual([]);
	expect(await stack.unsure()).toEqual([
		"aws:ec2/instance:Instance client-1 (may be there: making it was cut short)",
	]);
});

test.each([
	[" +  aws:ec2:Vpc vpc creating (0s) ", null],
	[" +  aws:ec2:Instance a creating (0s) ", "aws:ec2:Instance a creating"],
	[" -  aws:ec2:Vpc vpc deleted (1s) ", "aws:ec2:Vpc vpc deleted"],
	[" +  aws:ec2:Instance a creating (9s) error: no room", null],
	[
		" +  aws:ec2:Instance a **creating failed** error: no room",
		"aws:ec2:Instance a creating failed",
	],
	["    error: no room", "Pulumi: no room"],
	["    error: update failed", null],
	["Downloading plugin aws-7.48.0: starting", "Pulumi: downloading plugin aws-7.48.0 ..."],
	["Downloading plugin aws-7.48.0: done", null],
	[" +  pulumi:pulumi:Stack x creating (0s)", null],
	[" +  mqbench:rig:Rig x creating (0s)", null],
	["@ Updating....", null],
	["Duration: 4s", null],
])("tells of %j %j", (line, told) => expect(step(line)).toBe(told));

// --- internal ---

async function pidIn(file: string): Promise<number> {
	while (!existsSync(file) || readFileSync(file, "utf8") === "") await sleep(20);
	return Number(readFileSync(file, "utf8"));
}

/** proc(5): fields 5 and 6 of stat. */
function stat(pid: number): string[] {
	const text = readFileSync(`/proc/${pid}/stat`, "utf8");
	return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
function groupOf(pid: number) {
	return stat(pid)[2];
}
function sessionOf(pid: number) {
	return stat(pid)[3];
}
