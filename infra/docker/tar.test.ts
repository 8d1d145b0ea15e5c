import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { type Entry, tar } from "./tar.ts";

async function archive(entries: readonly Entry[]): Promise<Buffer> {
	const pieces: Uint8Array[] = [];
	for await (const piece of tar(entries)) pieces.push(piece);
	return Buffer.concat(pieces);
}

test("an archive is what tar reads: folders, texts, files and their modes", async () => {
	const folder = testFolder();
	const program = path.join(folder, "program");
	writeFileSync(program, Buffer.alloc(100_000, "x"));
	chmodSync(program, 0o700);
	const whole = await archive([
		{ name: "tmp", mode: 0o1777, from: null },
		{ name: "bin/program", mode: 0o755, from: program },
		{ name: "etc/text", mode: 0o444, from: { text: "hällo\n" } },
		{ name: "etc/block", mode: 0o444, from: { text: "y".repeat(512) } },
		{ name: "etc/empty", mode: 0o444, from: { text: "" } },
	]);
	expect(whole.length % 512).toBe(0);
	const out = testFolder();
	execFileSync("tar", ["-x", "-p", "-C", out], { input: whole });
	const at = (name: string) => path.join(out, name);
	expect(statSync(at("tmp")).mode & 0o7777).toBe(0o1777);
	expect(statSync(at("bin/program")).mode & 0o777).toBe(0o755);
	expect(readFileSync(at("bin/program"))).toEqual(readFileSync(program));
	expect(readFileSync(at("etc/text"), "utf8")).toBe("hällo\n");
	expect(readFileSync(at("etc/block"), "utf8")).toBe("y".repeat(512));
	expect(readFileSync(at("etc/empty"), "utf8")).toBe("");
});

test("equal files give equal archives", async () => {
	const entries: Entry[] = [{ name: "a", mode: 0o644, from: { text: "b" } }];
	expect(await archive(entries)).toEqual(await archive(entries));
});

test("a name that does not fit is refused, not cut", async () => {
	await expect(
		archive([{ name: "x".repeat(101), mode: 0o644, from: { text: "" } }]),
	).rejects.toThrow("too long");
});
