import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { readManifests } from "./manifests.ts";

const file = (text: string) => {
	const name = path.join(testFolder(), "kafka.yaml");
	writeFileSync(name, text);
	return name;
};

test("manifests are read as a chart prints them: several documents, some empty, a list of fields nobody knows", () => {
	const all = readManifests([
		file(
			"# Source: x\n---\napiVersion: v1\nkind: Service\nmetadata: { name: a, labels: { app: a } }\n---\n---\napiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: { name: b }\nspec: { x: 1 }\n",
		),
	]);
	expect(all.map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
		["Service", "a"],
		["Kafka", "b"],
	]);
	expect(all[1]).toMatchObject({ spec: { x: 1 } });
});

test.each([
	["kind: [", /could not read kafka.yaml: /],
	["just text", /a document without apiVersion, kind and metadata.name/],
])("%s is one sentence", (text, sentence) => {
	expect(() => readManifests([file(text)])).toThrow(sentence);
});

test("a file that is not there is one sentence", () => {
	expect(() => readManifests(["/nowhere/kafka.yaml"])).toThrow(
		/could not read kafka.yaml: .*no such file/i,
	);
});
