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

test("makes what is missing, and says what it made, the outermost first", () => {
	const folder = emptyFolder();
	const made: string[] = [];
	makeFolder(path.join(folder, "a", "b"), made);
	expect(made).toEqual([path.join(folder, "a"), path.join(folder, "a", "b")]);
	expect(existsSync(path.join(folder, "a", "b"))).toBe(true);
	makeFolder(path.join(folder, "a", "b"), made);
	expect(made).toHaveLength(2);
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
