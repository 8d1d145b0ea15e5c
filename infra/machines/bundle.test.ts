import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { bundleOf } from "./bundle.ts";

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
