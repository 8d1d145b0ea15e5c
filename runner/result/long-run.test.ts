import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { writeLongRun } from "../evidence/long-run.fake.ts";
import { writeReports } from "../render/write.ts";

// `npm run acceptance` has a run of 168 hours.
test("a run of half an hour on two clients has a result and all reports", () => {
	const [hours, clients] = [0.5, 2];
	const folder = mkdtempSync(join(tmpdir(), "mqbench-long-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	writeLongRun(folder, { hours, perInterval: 20, clients });
	const result = buildResult(folder);
	writeReports(folder, result);
	expect(result.verdict).toBe("pass");
	const [run] = result.runs;
	expect(run).toMatchObject({ intended: hours * 3600 * 20, lost: 0 });
	expect(run?.validity.find((c) => c.check === "backlog")?.status).toBe("ok");
});
