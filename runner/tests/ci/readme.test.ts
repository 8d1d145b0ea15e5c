import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { packageFolder } from "../../package.ts";
import { ACTIONS, filesBelow, readAction } from "./action.fake.ts";

const FOLDER = path.join(ACTIONS, "mqbench");
const FILE = path.join(FOLDER, "README.md");
const action = readAction(FOLDER);

test("its tables are action.yml's inputs and outputs", () => {
	const text = readFileSync(FILE, "utf8");
	const fresh = between(between(text, "inputs", inputTable()), "outputs", outputTable());
	if (process.env.UPDATE_GOLDEN) writeFileSync(FILE, fresh);
	expect(readFileSync(FILE, "utf8")).toBe(fresh);
});

test("its links lead somewhere, and every example is in its table", () => {
	const text = readFileSync(FILE, "utf8");
	const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)]
		.map(([, link = ""]) => link)
		.filter((link) => !link.startsWith("https:"));
	for (const link of links) expect(existsSync(path.join(FOLDER, link)), link).toBe(true);
	for (const file of filesBelow(path.join(FOLDER, "examples"), ".yml", ".yaml"))
		expect(links).toContain(path.relative(FOLDER, file));
});

test("its snippets are YAML, and the action's inputs in them exist", () => {
	const text = readFileSync(FILE, "utf8");
	const snippets = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, snippet = ""]) =>
		parse(snippet),
	);
	expect(snippets).toHaveLength(2);
	const [github, gitlab] = snippets;
	for (const name of Object.keys(github.steps[1].with)) expect(action.inputs).toHaveProperty(name);
	expect(gitlab.bench.artifacts).toMatchObject({
		when: "always",
		reports: { junit: "junit.xml" },
	});
});

test("it pins as the action pins", () => {
	const used = readFileSync(path.join(packageFolder, ".github", "workflows", "ci.yml"), "utf8");
	const [pin] = /actions\/checkout@\S+ # v\S+/.exec(used) ?? [""];
	expect(readFileSync(FILE, "utf8")).toContain(pin);
});

// --- internal ---

function between(text: string, what: string, table: string): string {
	const marks = new RegExp(
		`(<!-- ${what}: generated [^\\n]*-->\\n).*?(<!-- end of ${what} -->)`,
		"s",
	);
	expect(text).toMatch(marks);
	return text.replace(marks, (_, begin, end) => `${begin}\n${table}\n\n${end}`);
}

function inputTable(): string {
	return table(
		["input", "default", "meaning"],
		Object.entries(action.inputs).map(([name, input]) => [
			`\`${name}\``,
			input.required ? "required" : input.default ? `\`${input.default}\`` : "",
			input.description,
		]),
	);
}

function outputTable(): string {
	return table(
		["output", "meaning"],
		Object.entries(action.outputs ?? {}).map(([name, output]) => [
			`\`${name}\``,
			output.description,
		]),
	);
}

function table(head: string[], rows: string[][]): string {
	return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
