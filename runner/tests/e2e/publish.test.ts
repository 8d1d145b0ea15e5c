import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "../../package.ts";
import { run, scenario, temporaryFolder } from "./mqbench.ts";

const TOOL = path.join(packageFolder, "dist/runner/tools/publish/publish-report.js");
const PUBLISHED = path.join(packageFolder, "reports/published");

function publishReport(...args: string[]) {
	return spawnSync(process.execPath, [TOOL, ...args], { cwd: packageFolder, encoding: "utf8" });
}

test("a short run is not published: every reason is said, and nothing is copied", {
	tags: "long",
}, async () => {
	const folder = temporaryFolder();
	const out = path.join(folder, "out");
	const before = readdirSync(PUBLISHED);
	const file = scenario(folder);
	expect(await run([file, "--out", out])).toMatchObject({ code: 0 });
	const checked = publishReport("--check", out);
	expect(checked.status).toBe(4);
	for (const reason of [
		/^Not published: /,
		/^- nats, 256B 500\/s: 1 repeat; at least 3 are needed, as many for each: --set repeat=3$/m,
		/^- nats, 256B 500\/s: not steady \(.*\): write warmup: steady/m,
		/^- nats, 256B 500\/s: a window of 1s; below 10s /m,
		/^- nats, 256B 500\/s: the samples do not carry response p99, /m,
		/^- nats, 256B 500\/s: what the load generator can do is not known \(/m,
	])
		expect(checked.stderr).toMatch(reason);
	// On a machine that others use it does not even begin to measure.
	const made = publishReport(file, "--name", "too-short", "--out", path.join(folder, "three"));
	expect([3, 4], made.stderr).toContain(made.status);
	expect(made.stderr).toMatch(
		/a window of 1s|the machine is not idle|the sources are not those of a commit/,
	);
	expect(readdirSync(PUBLISHED)).toEqual(before);
	expect(existsSync(path.join(PUBLISHED, "too-short"))).toBe(false);
});
