import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { keepsHosts } from "./known-hosts.ts";

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
