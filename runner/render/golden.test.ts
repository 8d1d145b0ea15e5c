import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { baselineOf } from "../compare/baseline-of-result.ts";
import { buildResult } from "../compare/build.ts";
import { comparingOf } from "../compare/comparing.ts";
import { comparingDocument } from "../document/comparing.ts";
import { indexDocument } from "../document/index.ts";
import { fixture } from "../evidence/fixture.fake.ts";
import { wordsOf } from "../page/pages.fake.ts";
import { readRuns } from "../result/indexed.ts";
import { readableJson } from "../result/json.ts";
import { filesOfResult } from "../result/result-files.ts";
import { renderCsv } from "./csv.ts";
import { renderHtml as page } from "./html.ts";
import { renderJunit } from "./junit.ts";
import { COMMENT } from "./markdown.ts";
import { renderHtml, renderMarkdown, renderTerminal } from "./rendered.fake.ts";
import { renderTerminal as printed } from "./terminal.ts";

/**
 * What each stored run looks like as a person reads it: fixtures/<name>/golden/. Add a folder, get a test.
 * UPDATE_GOLDEN=1 rewrites them; the diff is reviewed like code.
 */
function matches(path: string, text: string): void {
	if (process.env.UPDATE_GOLDEN === "1" || !existsSync(path)) {
		expect(process.env.CI, `${path} is missing`).not.toBe("true");
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, text);
	}
	expect(text).toBe(readFileSync(path, "utf8"));
}

const names = readdirSync(fixture(""), { withFileTypes: true })
	.filter((entry) => entry.isDirectory())
	.map((entry) => entry.name);
/** Their Markdown has no kind of block that another's lacks, and their sentences are in report.txt. */
const ONLY_TEXT = ["healthy", "interrupted", "lag"];

describe.each(names)("%s", (name) => {
	const result = buildResult(fixture(name));
	const golden = (file: string) => join(fixture(name), "golden", file);

	test("on a terminal of 80 columns", () => {
		const text = renderTerminal(result, { columns: 80, colour: false, folder: `reports/${name}` });
		matches(golden("report.txt"), text);
	});

	if (!ONLY_TEXT.includes(name))
		test("as markdown", () => {
			matches(golden("report.md"), renderMarkdown(result));
		});

	test("no output has a number that is none", () => {
		const terminal = { columns: 100, colour: false, folder: "reports/x" };
		const side = (path: string) => ({ path, baseline: baselineOf(result) });
		const comparing = comparingOf(side("a"), side("b"));
		const folder = testFolder();
		mkdirSync(join(folder, "x"));
		writeFileSync(join(folder, "x", "result.json"), JSON.stringify(result));
		const outputs = {
			terminal: renderTerminal(result, terminal),
			markdown: renderMarkdown(result),
			comment: renderMarkdown(result, { most: COMMENT, marked: true }),
			html: wordsOf(renderHtml(result)).replaceAll(/<[^>]*>/g, " "),
			csv: renderCsv(result),
			junit: renderJunit(result),
			compared: printed(comparingDocument(comparing), terminal),
			index: wordsOf(page(indexDocument(readRuns(folder)))).replaceAll(/<[^>]*>/g, " "),
		};
		for (const [what, text] of Object.entries(outputs))
			expect(/\b(?:NaN|Infinity|undefined|null)\b.*/.exec(text)?.[0], what).toBe(undefined);
	});
});

test("the files of a stored run's result are reproduced", () => {
	// In lines, whatever the files have: a change is to be read here.
	for (const [path, text] of filesOfResult(buildResult(fixture("stall"))))
		matches(
			join(fixture("stall"), "golden", basename(path)),
			`${readableJson(JSON.parse(text))}\n`,
		);
});
