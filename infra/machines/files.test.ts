import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { script, testFolder } from "../test-folder.fake.ts";
import { fetchFile, putFile } from "./files.ts";
import type { RemoteHost } from "./host.ts";
import { linkTo } from "./link.fake.ts";

test("a copy with another sha256 is refused, and nothing of it stays", async () => {
	const [bin, local, there] = [testFolder(), testFolder(), testFolder()];
	script(path.join(bin, "sha256sum"), `cat >/dev/null; echo "${"0".repeat(64)}  -"`);
	const link = linkTo({ PATH: `${bin}:${process.env.PATH}` });
	writeFileSync(path.join(local, "mine"), "here");
	writeFileSync(path.join(there, "theirs"), "there");
	const host = { name: "h", setUp: false } as RemoteHost;
	await expect(putFile(host, link, there, "mine", local)).rejects.toThrow(
		"cannot be written there",
	);
	await expect(fetchFile(host, link, there, "theirs", local)).rejects.toThrow(
		"theirs came here with another sha256",
	);
	expect([readdirSync(local), readdirSync(there)]).toEqual([["mine"], ["theirs"]]);
});
