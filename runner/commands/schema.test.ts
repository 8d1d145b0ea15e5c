import { expect, test } from "vitest";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import { fakeWorld } from "../world.fake.ts";
import { schema } from "./schema.ts";

test("prints the schema that comes with the scenarios", async () => {
	const world = fakeWorld();
	expect(await schema({ what: "scenario" }, world)).toBe(0);
	expect(world.out()).toBe(scenarioSchemaText());
});

test("prints that of rig.json, which a program may check its own against", async () => {
	const world = fakeWorld();
	expect(await schema({ what: "rig" }, world)).toBe(0);
	expect(JSON.parse(world.out())).toMatchObject({
		title: "mqbench rig",
		required: ["version", "id", "brokers"],
	});
});
