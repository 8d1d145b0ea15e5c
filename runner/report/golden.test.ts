import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { fixture } from "../run/fixture.fake.ts";
import { detailsSchemaText, resultSchemaText } from "./json-schema.ts";
import { renderMarkdown } from "./markdown.ts";
import { buildResult } from "./result.ts";
import { renderTerminal } from "./terminal.ts";

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

describe.each(names)("%s", (name) => {
	const result = buildResult(fixture(name));
	const golden = (file: string) => join(fixture(name), "golden", file);

	test("on a terminal of 80 columns", () => {
		const text = renderTerminal(result, {
			columns: 80,
			colour: false,
			folder: `reports/${name}`,
		});
		matches(golden("report.txt"), text);
	});

	test("as markdown", () => {
		matches(golden("report.md"), renderMarkdown(result));
	});
});

test("the result of a stored run is reproduced to the byte", () => {
	const path = join(fixture("stall"), "golden", "result.json");
	const result = buildResult(fixture("stall"));
	matches(path, `${JSON.stringify(result, null, "\t")}\n`);
});

test.each([
	["result.schema.json", resultSchemaText],
	["details.schema.json", detailsSchemaText],
])("%s is what the schema in model/result-file.ts gives", (name, textOf) => {
	const path = fileURLToPath(new URL(name, import.meta.url));
	if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, textOf());
	// Not its text: the formatter puts short lists on one line.
	expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(textOf()));
});
