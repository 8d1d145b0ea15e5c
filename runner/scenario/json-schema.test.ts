import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { packageFolder } from "../package.ts";
import {
	type JsonSchema,
	rigSchemaText,
	scenarioJsonSchema,
	scenarioSchemaText,
} from "./json-schema.ts";
import { loadScenario } from "./load.ts";
import { brokersTable, DOCUMENTS, systemsTable, withGenerated } from "./reference.fake.ts";
import { ScenarioFile } from "./schema.ts";

const folder = path.join(packageFolder, "scenarios");
const read = (file: string) => readFileSync(path.join(packageFolder, file), "utf8");
const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
const scenarios = files.map((file) => ({ file, text: read(`scenarios/${file}`) }));

describe("generated files are in step with the schema (npm run golden rewrites them)", () => {
	test.each<[string, (text: string) => string]>([
		["scenarios/scenario.schema.json", scenarioSchemaText],
		["infra/rig.schema.json", rigSchemaText],
		...DOCUMENTS.map((file): [string, (text: string) => string] => [
			file,
			(text) => withGenerated(text, scenarios),
		]),
	])("%s", (file, generate) => {
		const wanted = generate(read(file));
		if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path.join(packageFolder, file), wanted);
		expect(read(file)).toBe(wanted);
	});

	test("have no line about the floor of the generator, which is no system", () => {
		expect(systemsTable() + brokersTable()).not.toContain("noop");
	});
});

test("every field, at every level, has a description for editors and the reference", () => {
	const bare: string[] = [];
	const walk = (node: JsonSchema | undefined, path: string) => {
		if (node === undefined) return;
		for (const [name, field] of Object.entries(node.properties ?? {})) {
			const where = `${path}.${name}`;
			// A matrix describes its items.
			const words = field.description ?? field.items?.description ?? "";
			if (!/^\S.*[.`)]$/s.test(words)) bare.push(where);
			walk(field, where);
		}
		for (const branch of [...(node.anyOf ?? []), ...(node.oneOf ?? [])]) walk(branch, path);
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

describe("patterns of the editor's schema", () => {
	const { properties: top = {} } = scenarioJsonSchema();
	const { rate, duration, message, warmup } = top.workload?.properties ?? {};
	const takes = (field: JsonSchema | undefined, text: string) =>
		(field?.anyOf ?? [field]).some(
			(one) => one?.pattern && new RegExp(`${one.pattern}`, "u").test(text),
		);

	test.each([
		[rate, ["3000/s", "90/min", "0.5/s", "7/3s", " 3 / s "], ["3k/s", "3000"]],
		[rate, [], ["3000rps", "-5/s", "3000/sec", "3000 msg/s"]],
		[duration, ["250ms", "1.5s", "10 s", "870µs"], ["10", "10 sec", "5m"]],
		[duration, [], ["1m30s", "-5s", "10S"]],
		[message, ["256B", "1KiB", "1kB", "1.5KiB"], ["1K", "1kb", "256"]],
		[warmup, ["5s", "10000 messages"], ["100", "5 minutes"]],
	])("mark what no parser takes, while typing: %#", (field, right, wrong) => {
		expect(right.filter((text) => !takes(field, text))).toEqual([]);
		expect(wrong.filter((text) => takes(field, text))).toEqual([]);
	});

	test("take variables in systems", () => {
		const kafka = JSON.stringify(top.system);
		expect(kafka).toContain("[A-Za-z_][A-Za-z0-9_]*");
		expect(JSON.stringify(top.workload)).not.toContain("[A-Za-z_]");
	});

	test("are written in what JavaScript, Python and Java share", () => {
		const patterns = [...scenarioSchemaText().matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g)].map(
			([, text = ""]) => JSON.parse(text),
		);
		expect(patterns.length).toBeGreaterThan(20);
		for (const pattern of patterns) {
			expect(() => new RegExp(pattern, "u"), pattern).not.toThrow();
			expect(pattern).not.toMatch(/\\p|\(\?<|\(\?P|\\k|\\[AZzGhRX]/);
		}
	});
});

const guides = readdirSync(folder).filter((file) => file.endsWith(".md"));
const snippets = guides.flatMap((file) =>
	[...read(`scenarios/${file}`).matchAll(/^```yaml\n(.*?)^```/gms)].map(
		([, text = ""]) => [file, text] as const,
	),
);

test.each(snippets)("%s shows only what the schema takes: %s", (_, text) => {
	const base = { workload: { rate: "1000/s", message: "1KiB", duration: "30s" } };
	expect(ScenarioFile.safeParse({ ...base, ...parse(text) }).error).toBeUndefined();
	expect(snippets.length).toBeGreaterThan(4);
});

describe("scenarios that come with mqbench", () => {
	const env = {
		NATS_URL: "nats://user:password@127.0.0.1:4222",
		KAFKA_URL: "kafka://user:password@127.0.0.1:9092",
	};

	test.each(files)("%s is valid and named as its file", (file) => {
		const scenario = loadScenario(file, read(`scenarios/${file}`), {}, env);
		expect(`${scenario.name}.yaml`).toBe(file);
	});

	test.each(files)("%s tells the editor its schema", (file) => {
		expect(read(`scenarios/${file}`)).toMatch(
			/^# yaml-language-server: \$schema=\.\/scenario\.schema\.json\n/,
		);
	});
});
