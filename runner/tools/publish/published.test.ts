import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readResult } from "../../result/result-files.ts";
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
			`\n| [${name}](published/${name}/report.md) |`,
		);
	});
});
