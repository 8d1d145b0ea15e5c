import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A stored run folder, read-only. */
export function fixture(name: string): string {
	return fileURLToPath(new URL(`../tests/fixtures/${name}`, import.meta.url));
}

/** A copy of a stored run folder, which is removed after the test. */
export function fixtureCopy(name: string): string {
	const copy = mkdtempSync(join(tmpdir(), "mqbench-test-"));
	onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
	cpSync(fixture(name), copy, { recursive: true });
	return copy;
}

export function runFoldersOf(folder: string): string[] {
	return readdirSync(join(folder, "runs"))
		.sort()
		.map((name) => join(folder, "runs", name));
}

export function firstRun(folder: string): string {
	return runFoldersOf(folder)[0] as string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests change any field of any line.
type Line = any;

export function editJson(path: string, edit: (value: Line) => void): void {
	const value = JSON.parse(readFileSync(path, "utf8"));
	edit(value);
	writeFileSync(path, JSON.stringify(value, null, "\t"));
}

/** Changes the lines of a client's .jsonl and writes a matching trailer. */
export function editLines(path: string, edit: (lines: Line[]) => Line[] | undefined): void {
	const all = readFileSync(path, "utf8")
		.trimEnd()
		.split("\n")
		.map((l) => JSON.parse(l));
	const trailer = all.pop();
	const lines = edit(all) ?? all;
	const body = lines.map((l) => `${JSON.stringify(l)}\n`).join("");
	trailer.lines = lines.length;
	trailer.sha256 = createHash("sha256").update(body).digest("hex");
	writeFileSync(path, `${body}${JSON.stringify(trailer)}\n`);
}
