import path from "node:path";
import { expect, it } from "vitest";
import { main } from "../main.ts";
import { packageFolder } from "../package.ts";
import { fakeWorld } from "../world.fake.ts";

const cwd = packageFolder;

it("without a name lists the published reports, each with its question and a scenario that is valid", async () => {
	const world = fakeWorld({ cwd });
	expect(await main(["reproduce"], world)).toBe(0);
	const names = world.out().match(/^\S+$/gm) ?? [];
	expect(world.out()).toContain("nats-stall\n  What does a broker's stall of half a second do ");
	expect(names.length).toBeGreaterThan(3);
	for (const name of names) {
		const scenario = path.join("reports", "published", name, "scenario.yaml");
		expect(await main(["validate", scenario], fakeWorld({ cwd }))).toBe(0);
	}
});

it("with another name says which it may have meant", async () => {
	const world = fakeWorld({ cwd });
	expect(await main(["reproduce", "nats-stal"], world)).toBe(2);
	expect(world.err()).toBe("no published report is called nats-stal; did you mean nats-stall?\n");
});
