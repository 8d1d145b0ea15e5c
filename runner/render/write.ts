import { join } from "node:path";
import { baselineOf, baselineText } from "../compare/baseline-of-result.ts";
import { documentOf } from "../document/document.ts";
import { readGiven } from "../given-folder.ts";
import { hgrm } from "../histogram/hgrm.ts";
import { Metric } from "../model/plan.ts";
import type { Result } from "../model/result.ts";
import { REPORT_FILES } from "../result/reporters.ts";
import { filesOfResult } from "../result/result-files.ts";
import { writeWhole } from "../result/whole-file.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import { renderCsv } from "./csv.ts";
import { renderHtml } from "./html.ts";
import { renderJunit } from "./junit.ts";
import { COMMENT, renderMarkdown } from "./markdown.ts";

/**
 * Each file is whole or the one from before: a temporary file, then a rename. From a result that was `read`, only reports for people,
 * junit.xml and result.csv are written: the other files would lose their content.
 */
export function writeReports(
	folder: string,
	result: Result,
	onInconclusive?: OnInconclusive,
	from: "measured" | "read" = "measured",
): void {
	let failed: unknown = null;
	// On a nearly full disk the large page must not keep the small files from being written.
	const write = (name: string, text: string) => {
		try {
			writeWhole(join(folder, name), text, folder);
		} catch (error) {
			failed ??= error;
		}
	};
	for (const run of from === "measured" ? result.runs : [])
		for (const name of Metric.options) {
			const m = run.metrics[name];
			if (m === null || m.mean === null || m.max === null) continue;
			write(join(run.folder, `${name}.hgrm`), hgrm(m.curve, { ...m, mean: m.mean, max: m.max }));
		}
	const document = documentOf(result, scenarioText(folder));
	write(REPORT_FILES.markdown, renderMarkdown(document));
	write("comment.md", renderMarkdown(document, { most: COMMENT, marked: true }));
	write(REPORT_FILES.junit, renderJunit(result, onInconclusive));
	write(REPORT_FILES.html, renderHtml(document));
	write(REPORT_FILES.csv, renderCsv(result));
	if (from === "measured") {
		write("baseline.json", baselineText(baselineOf(result)));
		for (const [name, text] of filesOfResult(result)) write(name, text);
	}
	if (failed !== null) throw failed;
}

// --- internal ---

/** null if a run was stopped before it began. */
function scenarioText(folder: string): string | null {
	try {
		return readGiven(join(folder, "scenario.yaml"));
	} catch {
		return null;
	}
}
