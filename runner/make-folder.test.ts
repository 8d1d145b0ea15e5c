import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

function emptyFolder(): string {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-make-folder-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

test("makes what is missing, and leaves what is there", () => {
	const folder = path.join(emptyFolder(), "a", "b");
	for (const _ of [1, 2]) makeFolder(folder);
	expect(existsSync(folder)).toBe(true);
});

test("a file in the way is an error that says so", () => {
	const file = path.join(emptyFolder(), "file");
	writeFileSync(file, "");
	expect(() => makeFolder(path.join(file, "below"))).toThrow(
		expect.objectContaining({ code: "ENOTDIR" }),
	);
});

test.runIf(process.platform === "linux")("below /proc it ends, with an error", () => {
	expect(() => makeFolder("/proc/mqbench/below")).toThrow();
});
