import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { script, testFolder } from "../test-folder.fake.ts";
import { fetchFile, putFile } from "./files.ts";
import type { RemoteHost } from "./host.ts";
import { linkTo } from "./link.fake.ts";

/** A folder here and one there with a file each, on a machine with its own sha256sum, or one that lies. */
function folders(lies = false) {
	const bin = testFolder();
	if (lies) script(path.join(bin, "sha256sum"), `cat >/dev/null; echo "${"0".repeat(64)}  -"`);
	const link = linkTo({ PATH: `${bin}:${process.env.PATH}` });
	const [local, there] = [testFolder(), testFolder()];
	writeFileSync(path.join(local, "mine"), "here\0");
	writeFileSync(path.join(there, "theirs"), "there\0");
	const host = { name: "h", setUp: false } as RemoteHost;
	return {
		local,
		there,
		put: () => putFile(host, link, there, "mine", local),
		fetch: (name: string) => fetchFile(host, link, there, name, local),
	};
}

test("files come there and back as they are", async () => {
	const { local, there, put, fetch } = folders();
	await put();
	expect(readFileSync(path.join(there, "mine"), "utf8")).toBe("here\0");
	expect([await fetch("theirs"), await fetch("none")]).toEqual([true, false]);
	expect(readFileSync(path.join(local, "theirs"), "utf8")).toBe("there\0");
	expect(readdirSync(local).sort()).toEqual(["mine", "theirs"]);
});

test("a copy with another sha256 is refused, and nothing of it stays", async () => {
	const { local, there, put, fetch } = folders(true);
	await expect(put()).rejects.toThrow("cannot be written there");
	await expect(fetch("theirs")).rejects.toThrow("theirs came here with another sha256");
	expect([readdirSync(local), readdirSync(there)]).toEqual([["mine"], ["theirs"]]);
});
