import { expect, test } from "vitest";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import { fakeWorld } from "../world.fake.ts";
import { schema } from "./schema.ts";

test("prints the schema that comes with the scenarios", async () => {
	const world = fakeWorld();
	expect(await schema({ what: "scenario" }, world)).toBe(0);
	expect(world.out()).toBe(scenarioSchemaText());
});
