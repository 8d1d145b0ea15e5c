import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import { fakeWorld } from "../world.fake.ts";
import { schema } from "./schema.ts";

test("prints the schema that comes with the scenarios", async () => {
	const world = fakeWorld();
	expect(await schema({ what: "scenario" }, world)).toBe(0);
	expect(world.out()).toBe(scenarioSchemaText());
});

test.each(["result", "details"] as const)(
	"prints that of %s.json, with these fields",
	async (what) => {
		const world = fakeWorld();
		expect(await schema({ what }, world)).toBe(0);
		const { title, ...found } = JSON.parse(world.out());
		expect(title).toBe(`mqbench ${what}`);
		const text = `${fieldsOf(found).join("\n")}\n`;
		const golden = new URL(`golden/${what}-fields.txt`, import.meta.url);
		if (process.env.UPDATE_GOLDEN === "1") writeFileSync(golden, text);
		// Within a schema fields are added, never renamed or removed.
		expect(text).toBe(readFileSync(golden, "utf8"));
	},
);

test("prints that of rig.json, which a program may check its own against", async () => {
	const world = fakeWorld();
	expect(await schema({ what: "rig" }, world)).toBe(0);
	expect(JSON.parse(world.out())).toMatchObject({
		title: "mqbench rig",
		required: ["version", "id", "brokers"],
	});
});

interface Schema {
	readonly $ref?: string;
	readonly $defs?: Readonly<Record<string, Schema>>;
	readonly type?: string;
	readonly const?: unknown;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly additionalProperties?: Schema | false;
	readonly items?: Schema;
	readonly prefixItems?: readonly Schema[];
	readonly anyOf?: readonly Schema[];
	readonly oneOf?: readonly Schema[];
}

/** "runs[].metrics.response.n: integer" for each field; a shared part lists its fields at its first place. */
function fieldsOf(root: Schema): string[] {
	const first = new Map<string, string>();
	return below(root, "");

	function below(of: Schema, path: string): string[] {
		const def = of.$ref === undefined ? undefined : root.$defs?.[of.$ref.replace("#/$defs/", "")];
		if (def !== undefined) {
			const lines = below(def, path);
			const before = first.get(of.$ref ?? "");
			if (lines.length < 2) return lines;
			if (before !== undefined) return [`${path}: as ${before}`.replaceAll(/(^|(?<= ))\./g, "")];
			first.set(of.$ref ?? "", path);
			return lines;
		}
		const parts = [
			...Object.entries(of.properties ?? {}).map(
				([name, part]) => [part, `${path}.${name}`] as const,
			),
			...(of.additionalProperties ? [[of.additionalProperties, `${path}.*`] as const] : []),
			...(of.items ? [[of.items, `${path}[]`] as const] : []),
			...(of.prefixItems ?? []).map((part, i) => [part, `${path}[${i}]`] as const),
			...(of.anyOf ?? of.oneOf ?? []).map((part) => [part, path] as const),
		];
		if (parts.length === 0) return [`${path}: ${of.const ?? of.type ?? "any"}`.replace(/^\./, "")];
		const lines = parts.flatMap(([part, at]) => below(part, at));
		const nothing = `${path}: null`.replace(/^\./, "");
		const [one, ...more] = lines.filter((line) => line !== nothing);
		if (one === undefined || lines.length === more.length + 1) return lines;
		return [more.length === 0 ? `${one} | null` : one, ...more];
	}
}
