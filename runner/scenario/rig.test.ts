import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { keepsHosts, readRig, removeRig, rigAt, writeRig } from "./rig.ts";

const place = () => ({ shown: "rig.json", path: path.join(testFolder(), "rig.json") });
const rig = {
	version: 1,
	id: "x",
	target: "local",
	brokers: [{ system: "nats", broker: "nats", url: "nats://me:hunter2@127.0.0.1:1" }],
} as const;
const written = { ...rig, brokers: [...rig.brokers] };

describe("rig.json", () => {
	test("is read as it was written, and by its owner alone", async () => {
		const where = place();
		await writeRig(where, written);
		expect(statSync(where.path).mode & 0o777).toBe(0o600);
		expect(await readRig(where)).toMatchObject(rig);
	});

	test("is never written over", async () => {
		const where = place();
		writeFileSync(where.path, "{}");
		await expect(writeRig(where, written)).rejects.toMatchObject({
			code: "rig-exists",
			message: expect.stringContaining("npx mqbench down rig.json takes it down"),
		});
		expect(readFileSync(where.path, "utf8")).toBe("{}");
	});

	test("may be gone, and be removed twice", async () => {
		const where = place();
		expect(await readRig(where)).toBeNull();
		await removeRig(where, "x");
		await writeRig(where, written);
		await removeRig(where, "x");
		expect(await readRig(where)).toBeNull();
	});

	test("of another rig, or of nobody, is not removed", async () => {
		const where = place();
		await writeRig(where, { ...written, id: "another" });
		await removeRig(where, "x");
		expect(await rigAt(where)).toBe("another");
		writeFileSync(where.path, "{");
		expect(await rigAt(where)).toBeUndefined();
		await removeRig(where, "x");
		expect(readFileSync(where.path, "utf8")).toBe("{");
	});

	test.skipIf(process.platform !== "linux")("that cannot be written says so", async () => {
		const where = { shown: "rig.json", path: "/nowhere/rig.json" };
		await expect(writeRig(where, written)).rejects.toMatchObject({ code: "rig-unwritable" });
	});

	test("with mistakes names each of them behind its own name", async () => {
		const where = place();
		writeFileSync(where.path, '{ "version": 1, "id": "x" }');
		await expect(readRig(where)).rejects.toMatchObject({
			code: "rig-invalid",
			exit: 2,
			message: "rig.json: brokers: Invalid input: expected array, received undefined",
		});
	});

	test("that is a folder is said to be one", async () => {
		const where = { ...place(), path: testFolder() };
		await expect(readRig(where)).rejects.toThrow("rig.json: cannot be read (it is a folder)");
	});
});

test.each([
	[
		"of known hosts",
		"10.0.0.1 ssh-ed25519 AAAAC3Nz\n# mine\n\n|1|a=|b= ecdsa-sha2-nistp256 AAAAE2Vj x@y\n@cert-authority *.a ssh-rsa AAAAB3Nz\n",
		true,
	],
	["that is empty", "", true],
	["that is a script", "10.0.0.1 ssh-ed25519 AAAAC3Nz\nalias ll='ls -l'\n", false],
	["that is a key", "-----BEGIN OPENSSH PRIVATE KEY-----\n", false],
])("a file %s", (_, text, keeps) => {
	const file = path.join(testFolder(), "x");
	writeFileSync(file, text);
	expect(keepsHosts(file)).toBe(keeps);
});

test("a file that is to be made is named for it, and no pipe or folder keeps hosts", () => {
	const folder = testFolder();
	expect(keepsHosts(path.join(folder, "known_hosts"))).toBe(true);
	expect(keepsHosts(path.join(folder, ".bash_login"))).toBe(false);
	mkdirSync(path.join(folder, "known"));
	expect(keepsHosts(path.join(folder, "known"))).toBe(false);
	spawnSync("mkfifo", [path.join(folder, "known_pipe")]);
	expect(keepsHosts(path.join(folder, "known_pipe"))).toBe(false);
});
