import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
	type JsonSchema,
	scenarioJsonSchema,
	scenarioSchemaText,
} from "./json-schema.ts";
import { loadScenario } from "./load.ts";
import { scenarioReference } from "./reference.ts";

const folder = new URL("../../scenarios/", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
const questions = files.map((file) => ({ file, text: read(file) }));

describe("generated files are in step with the schema (npm run golden rewrites them)", () => {
	test.each([
		["scenario.schema.json", scenarioSchemaText],
		["README.md", () => scenarioReference(questions)],
	])("scenarios/%s", (file, generate) => {
		if (process.env.UPDATE_GOLDEN === "1")
			writeFileSync(new URL(file, folder), generate());
		expect(read(file)).toBe(generate());
	});
});

test("every field, at every level, has a description for editors and the reference", () => {
	const bare: string[] = [];
	const walk = (node: JsonSchema | undefined, path: string) => {
		if (node === undefined) return;
		for (const [name, field] of Object.entries(node.properties ?? {})) {
			const where = `${path}.${name}`;
			// In a matrix it is the item that says it.
			const words = field.description ?? field.items?.description ?? "";
			if (!/^\S.*[.`)]$/s.test(words)) bare.push(where);
			walk(field, where);
		}
		for (const branch of [...(node.anyOf ?? []), ...(node.oneOf ?? [])])
			walk(branch, path);
		walk(node.items, `${path}[]`);
	};
	walk(scenarioJsonSchema(), "");
	expect(bare).toEqual([]);
});

test("every field of a workload has an example, or names its choices", () => {
	const fields = scenarioJsonSchema().properties?.workload?.properties ?? {};
	const without = Object.entries(fields).filter(
		([, field]) => !field.examples && !field.enum && field.type !== "boolean",
	);
	expect(without.map(([name]) => name)).toEqual([]);
});

describe("scenarios that come with mqbench", () => {
	const env = {
		NATS_URL: "nats://user:password@127.0.0.1:4222",
		KAFKA_URL: "kafka://user:password@127.0.0.1:9092",
	};

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
