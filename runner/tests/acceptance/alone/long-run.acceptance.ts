import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeLongRun } from "../../../evidence/long-run.fake.ts";
import { packageFolder } from "../../../package.ts";

/** The longest run that a scenario may ask for, and the limits for its report. */
const HOURS = 168;
const HEAP_MB = 256;
const CPU_S = 60;

test(`a run of ${HOURS} hours has all reports, and is in the index, within ${HEAP_MB} MB and ${CPU_S} s of CPU time`, () => {
	const reports = mkdtempSync(join(tmpdir(), "mqbench-long-"));
	onTestFinished(() => rmSync(reports, { recursive: true, force: true }));
	const folder = join(reports, "long");
	writeLongRun(folder, { hours: HOURS });
	const used = report(folder) + report(reports);
	for (const name of ["result.json", "report.html", "report.md", "junit.xml"])
		expect(existsSync(join(folder, name)), name).toBe(true);
	expect(existsSync(join(reports, "index.html"))).toBe(true);
	expect(readFileSync(join(folder, "report.md"), "utf8")).toContain("Response by hour");
	expect(used).toBeLessThan(CPU_S);
});

// --- internal ---

const TELL_CPU = `data:text/javascript,${[
	"const cpu = () => process.cpuUsage();",
	'process.on("exit", () => process.stderr.write("\\ncpu " + (cpu().user + cpu().system) / 1e6));',
].join("")}`;

/** Seconds of CPU time of `mqbench report`. */
function report(folder: string): number {
	const cli = join(packageFolder, "dist/runner/cli.js");
	const heap = `--max-old-space-size=${HEAP_MB}`;
	const { status, stdout, stderr } = spawnSync(
		process.execPath,
		[heap, "--import", TELL_CPU, cli, "report", folder],
		{ encoding: "utf8" },
	);
	expect(status, stderr).toBe(0);
	if (folder.endsWith("long")) expect(stdout).toContain("PASS");
	return Number(/cpu ([\d.]+)$/.exec(stderr)?.[1]);
}
