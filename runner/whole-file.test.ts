import { readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../infra/test-folder.fake.ts";
import { writeNew, writeWhole } from "./whole-file.ts";

test("a file is replaced, and nothing else is left", () => {
	const folder = testFolder();
	const file = path.join(folder, "run.json");
	writeWhole(file, "old");
	writeWhole(file, "new");
	expect(readFileSync(file, "utf8")).toBe("new");
	expect(readdirSync(folder)).toEqual(["run.json"]);
});

test("nothing is written through a link, wherever somebody has put it", () => {
	const folder = testFolder();
	const mine = path.join(testFolder(), "mine");
	writeFileSync(mine, "precious");
	for (const name of ["a.html", "a.html.tmp", "a.html.part"])
		symlinkSync(mine, path.join(folder, name));
	writeWhole(path.join(folder, "a.html"), "a report");
	expect(readFileSync(mine, "utf8")).toBe("precious");
	expect(realpathSync(path.join(folder, "a.html"))).not.toBe(mine);
	const dangling = path.join(folder, "rig.json");
	symlinkSync(path.join(folder, "elsewhere"), dangling);
	expect(() => writeNew(dangling, "a rig")).toThrow(/EEXIST/);
	expect(readdirSync(folder)).not.toContain("elsewhere");
});

test("a file that cannot get its name leaves no part of it", () => {
	const folder = testFolder();
	expect(() => writeWhole(path.join(folder, "a", "b"), "")).toThrow(/ENOENT/);
	expect(() => writeWhole(folder, "")).toThrow();
	expect(readdirSync(path.dirname(folder))).not.toContainEqual(
		expect.stringContaining(`${path.basename(folder)}.`),
	);
});
