import { expect, test } from "vitest";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import { fakeWorld } from "../world.fake.ts";
import { schema } from "./schema.ts";

test("prints the schema that comes with the scenarios", async () => {
	const world = fakeWorld();
	expect(await schema({ what: "scenario" }, world)).toBe(0);
	expect(world.out()).toBe(scenarioSchemaText());
});

test.each([
	["result", "mqbench result", "runs"],
	["details", "mqbench details", "series"],
] as const)("prints that of %s.json", async (what, title, part) => {
	const world = fakeWorld();
	expect(await schema({ what }, world)).toBe(0);
	const { properties, ...rest } = JSON.parse(world.out());
	expect(rest).toMatchObject({ title });
	expect(properties).toHaveProperty(part);
});

test("prints that of rig.json, which a program may check its own against", async () => {
	const world = fakeWorld();
	expect(await schema({ what: "rig" }, world)).toBe(0);
	expect(JSON.parse(world.out())).toMatchObject({
		title: "mqbench rig",
		required: ["version", "id", "brokers"],
	});
});
