import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { awsConfig, rentedFile } from "./rent.fake.ts";
import { forget, keepRig, knownRigs, makeKey, makeRigFolder, stateFolder } from "./rigs.ts";

test.each([
	[{ MQBENCH_STATE_DIR: "/s", XDG_STATE_HOME: "/x" }, "linux", "/s"],
	[{ XDG_STATE_HOME: "/x", HOME: "/h" }, "linux", "/x/mqbench"],
	[{ XDG_STATE_HOME: "x", HOME: "/h" }, "linux", "/h/.local/state/mqbench"],
	[{ HOME: "/h" }, "darwin", "/h/Library/Application Support/mqbench"],
])("the state folder of %j on %s is %s", (env, platform, folder) =>
	expect(stateFolder(env, platform)).toBe(folder),
);

test("a rig's folder is there once, written as a whole, and gone when it is forgotten", async () => {
	const world = fakeWorld({ env: { MQBENCH_STATE_DIR: testFolder() } });
	const folder = await makeRigFolder("x-1", world);
	await expect(makeRigFolder("x-1", world)).rejects.toMatchObject({ code: "cloud-state" });
	await Promise.all(
		Array.from({ length: 8 }, (_, i) => keepRig(folder, { ...rentedFile, facts: { i } })),
	);
	const [known] = await knownRigs(world);
	expect(known?.file?.id).toBe("x-1");
	const files = readdirSync(folder.path).sort();
	expect(files).toEqual(["passphrase", "project", "pulumi", "rig.json"]);
	await forget(folder);
	await forget(folder);
	expect(existsSync(folder.path)).toBe(false);
	expect(await knownRigs(world)).toEqual([]);
});

test("a state folder that cannot be written is a sentence", async () => {
	const file = path.join(testFolder(), "file");
	writeFileSync(file, "");
	const world = fakeWorld({ env: { MQBENCH_STATE_DIR: file } });
	await expect(makeRigFolder("x-1", world)).rejects.toThrow(/set MQBENCH_STATE_DIR/);
});

test("a rig has a key of its own, which ssh takes", async () => {
	const folder = testFolder();
	const file = path.join(folder, "key");
	const line = await makeKey(file, "x-1");
	expect(line).toMatch(/^ssh-ed25519 [A-Za-z0-9+/=]+ mqbench-x-1$/);
	expect(awsConfig({ publicKey: line }).publicKey).toBe(line);
	expect(readFileSync(file, "utf8")).toMatch(/^-----BEGIN OPENSSH PRIVATE KEY-----/);
	const nowhere = makeKey(path.join(folder, "none", "key"), "x-1");
	await expect(nowhere).rejects.toMatchObject({ code: "cloud-key" });
});
