import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { readResult } from "../../result/result-files.ts";
import { maximum, percentile } from "../../result/select.ts";
import { amount, show } from "../../result/show.ts";
import { PUBLISHED, publishedFolder } from "../../result/stored.fake.ts";
import { publishable } from "./publishable.ts";

const text = (...names: string[]) => readFileSync(path.join(...names), "utf8");

describe.each(readdirSync(PUBLISHED))("the published report %s", (name) => {
	const folder = path.join(PUBLISHED, name);

	// After a change of what results say: npm run publish-report -- --render <name>
	test.each(["result.json", "report.md", "scenario.yaml", "environment.json"])(
		"has the %s that mqbench makes of its archive",
		(file) => {
			expect(text(folder, file) === text(publishedFolder(name), file)).toBe(true);
		},
	);

	test("may be published, and stands in reports/README.md", () => {
		const unpacked = publishedFolder(name);
		expect(publishable(readResult(unpacked))).toEqual([]);
		expect(text(PUBLISHED, "../README.md")).toContain(
			`\n| [${name}](published/${name}/README.md) |`,
		);
	});

	// Written by hand, as the articles' figures are; where ours changed, its answer has to be read again.
	test("opens with an answer whose figures it has, beside those of the article", () => {
		const [answer = "", ...more] = text(folder, "README.md").split("\n\n").slice(1);
		const [report, { runs }] = [text(folder, "report.md"), readResult(publishedFolder(name))];
		const figures = answer.replaceAll(/\s+/g, " ").match(/\d[\d .]*(?:us|ms|\/s)(?! on)/g) ?? [];
		expect(figures.length).toBeGreaterThan(3);
		const shown = report.replaceAll("\u00a0", " ");
		expect(figures.filter((one) => !shown.includes(one.replace(/\/s$/, "")))).toEqual([]);
		const rows = [
			...more.join("\n").matchAll(/^\|.*?\| `(.+?)` \| (.+?) \| (.+?) \| .+? \| (.+?) \|$/gm),
		];
		expect(rows.length).toBe(more.join("\n").match(/^\|.*`/gm)?.length ?? 0);
		for (const [, system, of, figure = "", now] of rows) {
			const all = runs
				.filter((run) => run.system === system && run.case === of)
				.map((run) => figureOf(run, figure))
				.sort((a, b) => (a.value ?? 0) - (b.value ?? 0));
			const [first, last] = [all[0], all.at(-1)].map((one) => one && show({ ...one, weak: false }));
			expect(now?.replace(", saturated", "")).toBe(`${first} to ${last}`);
		}
	});
});

/** "p99", "max", "sent", "received" */
function figureOf(run: Run, name: string) {
	if (name === "sent" || name === "received") return amount(run.throughput[name], "messages/s");
	if (name === "max") return maximum(run.metrics[run.main], run);
	return percentile(run, run.main, Number(name.slice(1)));
}
