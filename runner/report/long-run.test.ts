import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { writeLongRun } from "../run/long-run.fake.ts";
import { buildResult } from "./result.ts";
import { writeReports } from "./write.ts";

// More than 120 000 samples: as many arguments of a call overflow the stack. `npm run acceptance` has a run of 168 hours.
test.each([
	[3.5, 1],
	[0.5, 2],
])("a run of %d hours, clients: %i, has a result and all reports", (hours, clients) => {
	const folder = mkdtempSync(join(tmpdir(), "mqbench-long-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	writeLongRun(folder, { hours, perSecond: 20, clients });
	const result = buildResult(folder);
	writeReports(folder, result);
	expect(result.verdict).toBe("pass");
	const [run] = result.runs;
	expect(run).toMatchObject({ intended: hours * 3600 * 20, lost: 0 });
	expect(run?.validity.find((c) => c.check === "backlog")?.status).toBe("ok");
});
