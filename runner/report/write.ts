import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../errors.ts";
import { hgrm } from "../histogram/hgrm.ts";
import { Metric } from "../plan/plan.ts";
import { renderHtml } from "./html.ts";
import { readableJson } from "./json.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Result } from "./summary.ts";

/**
 * Writes result.json, report.md, report.html and, per run and metric, an .hgrm file into the folder of the run. Each file
 * is whole or the one from before: a temporary file beside it, then a rename.
 */
export function writeReports(folder: string, result: Result): void {
	const write = (name: string, text: string) => {
		const path = join(folder, name);
		try {
			writeFileSync(`${path}.tmp`, text);
			renameSync(`${path}.tmp`, path);
		} catch (error) {
			rmSync(`${path}.tmp`, { force: true });
			throw failure("report-unwritable", {
				path,
				reason: (error as NodeJS.ErrnoException).code ?? String(error),
				folder,
			});
		}
	};
	for (const run of result.runs)
		for (const name of Metric.options) {
			const m = run.metrics[name];
			if (m === null || m.mean === null || m.max === null) continue;
			write(
				join(run.folder, `${name}.hgrm`),
				hgrm(m.curve, { ...m, mean: m.mean, max: m.max }),
			);
		}
	write("report.md", renderMarkdown(result));
	write("report.html", renderHtml(result));
	// Last: whoever waits for it then finds the others.
	write("result.json", `${readableJson(result)}\n`);
}
