import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../package.ts";
import { measured } from "./mqbench.ts";

const TOOL = path.join(packageFolder, "dist/runner/tools/publish/publish-report.js");

function publishReport(...args: string[]) {
	return spawnSync(process.execPath, [TOOL, ...args], { cwd: packageFolder, encoding: "utf8" });
}

test("a short run is not published: the reasons are said, and nothing is copied", {
	tags: "long",
}, async () => {
	const { file, results, folder } = await measured();
	const checked = publishReport("--check", results);
	expect(checked.status).toBe(4);
	expect(checked.stderr).toMatch(/^Not published: /);
	expect(checked.stderr).toMatch(/^- nats, 256B 500\/s: a window of 1s; below 10s /m);
	// On a machine that others use it does not even begin to measure.
	const out = ["--out", path.join(folder, "three")];
	const made = publishReport(file, "--name", "too-short", ...out);
	expect([3, 4], made.stderr).toContain(made.status);
	expect(existsSync(path.join(packageFolder, "reports/published/too-short"))).toBe(false);
});
