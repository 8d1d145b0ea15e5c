import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { AwsConfig } from "../aws/config.ts";
import { testFolder } from "../test-folder.fake.ts";
import { makeKey } from "./key.ts";
import { awsConfig } from "./rigs.fake.ts";
import {
	configOf,
	forget,
	keepConfig,
	keepRig,
	knownRigs,
	makeRigFolder,
	stateFolder,
} from "./rigs.ts";

function scene() {
	const state = testFolder();
	return fakeWorld({ env: { MQBENCH_STATE_DIR: state } });
}

const rig = (id: string) => ({
	version: 1 as const,
	id,
	target: "aws" as const,
	brokers: [{ system: "nats", broker: "nats" as const }],
	cloud: {
		provider: "aws" as const,
		region: "eu-central-1",
		owner: "jane",
		machines: { "i4i.xlarge": 1 },
	},
});

describe("the state folder", () => {
	test.each([
		[{ MQBENCH_STATE_DIR: "/s", XDG_STATE_HOME: "/x" }, "linux", "/s"],
		[{ XDG_STATE_HOME: "/x", HOME: "/h" }, "linux", "/x/mqbench"],
		[{ XDG_STATE_HOME: "x", HOME: "/h" }, "linux", "/h/.local/state/mqbench"],
		[{ HOME: "/h" }, "linux", "/h/.local/state/mqbench"],
		[{ HOME: "/h" }, "darwin", "/h/Library/Application Support/mqbench"],
	])("of %j on %s is %s", (env, platform, folder) =>
		expect(stateFolder(env, platform)).toBe(folder),
	);

	test("that cannot be written is a sentence", async () => {
		const folder = testFolder();
		writeFileSync(path.join(folder, "file"), "");
		const world = fakeWorld({ env: { MQBENCH_STATE_DIR: path.join(folder, "file") } });
		await expect(makeRigFolder("demo-1", world)).rejects.toMatchObject({
			code: "cloud-state",
			message: expect.stringMatching(/set MQBENCH_STATE_DIR/),
		});
	});

	test("has a rig of a name once", async () => {
		const world = scene();
		await makeRigFolder("demo-1", world);
		await expect(makeRigFolder("demo-1", world)).rejects.toMatchObject({ code: "cloud-state" });
	});
});

describe("a rig's folder", () => {
	test("is written as a whole: nothing half stays, and nothing beside it", async () => {
		const world = scene();
		const folder = await makeRigFolder("demo-1", world);
		await keepRig(folder, rig("demo-1"));
		await Promise.all(
			Array.from({ length: 8 }, (_, i) => keepRig(folder, { ...rig("demo-1"), facts: { i } })),
		);
		const [known] = await knownRigs(world);
		expect(known?.file?.id).toBe("demo-1");
		expect(readdirSync(folder.path).sort()).toEqual([
			"passphrase",
			"project",
			"pulumi",
			"rig.json",
		]);
	});

	test("keeps what the program is told, and is gone when it is forgotten", async () => {
		const world = scene();
		const folder = await makeRigFolder("demo-1", world);
		expect(await configOf(folder, AwsConfig.parse)).toBe(null);
		await keepConfig(folder, awsConfig());
		expect(await configOf(folder, AwsConfig.parse)).toEqual(awsConfig());
		await forget(folder);
		await forget(folder);
		expect(existsSync(folder.path)).toBe(false);
		expect(await knownRigs(world)).toEqual([]);
	});

	test("has a key of its own, which ssh takes", async () => {
		const world = scene();
		const folder = await makeRigFolder("demo-1", world);
		const line = await makeKey(folder.identity, "demo-1");
		expect(line).toMatch(/^ssh-ed25519 [A-Za-z0-9+/=]+ mqbench-demo-1$/);
		expect(awsConfig({ publicKey: line }).publicKey).toBe(line);
		expect(readFileSync(folder.identity, "utf8")).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----/);
		await expect(makeKey(path.join(folder.path, "none", "key"), "demo-1")).rejects.toMatchObject({
			code: "cloud-key",
		});
	});
});
