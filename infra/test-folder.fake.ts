import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** For tests: a folder that is gone when the test is over. */
export function testFolder(): string {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-test-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
	return folder;
}

/** For tests: an executable shell script; returns its path. */
export function script(file: string, body: string): string {
	writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
	return file;
}
