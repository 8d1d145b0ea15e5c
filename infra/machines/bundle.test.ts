import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { bundleOf, push } from "./bundle.ts";
import type { RemoteHost } from "./host.ts";
import { linkTo } from "./link.fake.ts";

test("a folder is brought with what its links lead to, and a link to nothing is nothing", async () => {
	const elsewhere = testFolder();
	writeFileSync(path.join(elsewhere, "b.jar"), "four");
	mkdirSync(path.join(elsewhere, "more"));
	writeFileSync(path.join(elsewhere, "more", "c.jar"), "c");
	const folder = testFolder();
	writeFileSync(path.join(folder, "a.jar"), "a");
	symlinkSync(path.join(elsewhere, "b.jar"), path.join(folder, "b.jar"));
	symlinkSync(path.join(elsewhere, "more"), path.join(folder, "linked"));
	symlinkSync(folder, path.join(folder, "itself"));
	symlinkSync("nowhere", path.join(folder, "dangling.jar"));
	const { files, sums, single } = await bundleOf("jars", folder);
	expect(files.map(({ name, bytes }) => [name, bytes])).toEqual([
		["a.jar", 1],
		["b.jar", 4],
		["linked/c.jar", 1],
	]);
	expect(sums.split("\n")).toHaveLength(4);
	expect(single).toBe(false);
});

/** A machine, and two files for it. */
async function jars() {
	const folder = testFolder();
	for (const name of ["a.jar", "b.jar"]) writeFileSync(path.join(folder, name), name);
	const link = linkTo({ HOME: testFolder() });
	const bundle = await bundleOf("jars", folder);
	const options = { say() {}, stop: new AbortController().signal };
	return { link, push: () => push({ name: "h" } as RemoteHost, link, bundle, options) };
}

test.each([
	["exchanged", (file: string) => writeFileSync(file, "x")],
	["lost", (file: string) => rmSync(file)],
	["joined by another", (file: string) => writeFileSync(`${file}.jar`, "x")],
])("what was brought is brought again when a file of it was %s", async (_, harm) => {
	const { link, push } = await jars();
	const there = await push();
	expect(await push()).toBe(there);
	expect(link.fed).toBe(1);
	harm(path.join(there, "a.jar"));
	expect(await push()).toBe(there);
	expect(link.fed).toBe(2);
	expect(readdirSync(there).sort()).toEqual([".sums", "a.jar", "b.jar"]);
	expect(readFileSync(path.join(there, "a.jar"), "utf8")).toBe("a.jar");
});

test("of two that bring the same at once one whole copy stays", async () => {
	const { push } = await jars();
	const [one, other] = await Promise.all([push(), push()]);
	expect(one).toBe(other);
	expect(readdirSync(one).sort()).toEqual([".sums", "a.jar", "b.jar"]);
	expect(readdirSync(path.dirname(one))).toEqual([path.basename(one)]);
});
