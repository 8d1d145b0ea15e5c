import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scenarioJsonSchema, scenarioSchemaText } from "./json-schema.ts";
import { loadScenario } from "./load.ts";
import { scenarioReference } from "./reference.ts";

const folder = new URL("../../scenarios/", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), "utf8");

describe("generated files are in step with the schema (npm run golden rewrites them)", () => {
	test.each([
		["scenario.schema.json", scenarioSchemaText],
		["README.md", scenarioReference],
	])("scenarios/%s", (file, generate) => {
		if (process.env.UPDATE_GOLDEN === "1")
			writeFileSync(new URL(file, folder), generate());
		expect(read(file)).toBe(generate());
	});
});

test("every field has a description for editors and the reference", () => {
	const { properties = {} } = scenarioJsonSchema();
	for (const fields of [properties, properties.workload?.properties ?? {}])
		for (const [name, field] of Object.entries(fields))
			expect(field.description, name).toMatch(/^[A-Z].*[.`]$/s);
});

describe("scenarios that come with mqbench", () => {
	const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
	const env = { NATS_URL: "nats://user:password@127.0.0.1:4222" };

	test.each(files)("%s is valid and named as its file", (file) => {
		const scenario = loadScenario(file, read(file), {}, env);
		expect(`${scenario.name}.yaml`).toBe(file);
	});

	test.each(files)("%s is listed in scenarios/README.md", (file) => {
		expect(read("README.md")).toContain(`(${file})`);
	});

	test.each(files)("%s tells the editor its schema", (file) => {
		expect(read(file)).toMatch(
			/^# yaml-language-server: \$schema=\.\/scenario\.schema\.json\n/,
		);
	});
});
