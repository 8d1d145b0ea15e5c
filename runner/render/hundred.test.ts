import { expect, test } from "vitest";
import { baselineOf, baselineText } from "../compare/baseline-of-result.ts";
import { buildResult } from "../compare/build.ts";
import type { Result } from "../model/result.ts";
import { manyResult } from "../page/pages.fake.ts";
import { filesOfResult, readResult } from "../result/result-files.ts";
import { publishedFolder } from "../result/stored.fake.ts";
import { cpuMs } from "../tests/cpu.fake.ts";
import { rowsOfCsv } from "./csv.fake.ts";
import { renderCsv } from "./csv.ts";
import { renderJunit } from "./junit.ts";
import { renderHtml, renderMarkdown, renderTerminal } from "./rendered.fake.ts";

const reports = (result: Result) => ({
	json: filesOfResult(result).get("result.json") ?? "",
	markdown: renderMarkdown(result),
	html: renderHtml(result),
	csv: renderCsv(result),
	junit: renderJunit(result),
	terminal: renderTerminal(result, { columns: 100, colour: false, folder: "reports/x" }),
	baseline: baselineText(baselineOf(result)),
});

test("the reports of 100 runs take some MB, and each run is in them", () => {
	const result = manyResult(100);
	const { json, html, csv, ...others } = reports(result);
	expect(json.length).toBeLessThan(2_000_000);
	expect(json.split("\n").length).toBeLessThan(40_000);
	expect(html.length).toBeLessThan(2_000_000);
	expect(rowsOfCsv(csv)).toHaveLength(100);
	expect(csv.length).toBeLessThan(200_000);
	for (const text of Object.values(others)) expect(text.length).toBeLessThan(500_000);
});

test("the page of 300 runs takes 6 MB at most", () => {
	expect(renderHtml(manyResult(300)).length).toBeLessThan(6_000_000);
});

test("to render them takes less than to read them from their folders", { tags: "long" }, () => {
	const folder = publishedFolder("message-queue-latency");
	const result = manyResult(100);
	// Both have been done before in this process: each of their functions is compiled by then.
	// Measured: 3.5 s to read 100, 0.8 s to render them.
	const ms = cpuMs(() => buildResult(folder));
	const reading = (100 / readResult(folder).runs.length) * ms;
	expect(cpuMs(() => reports(result))).toBeLessThan(reading);
});
