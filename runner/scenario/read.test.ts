import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { validate } from "../commands/validate.ts";
import { fakeWorld } from "../world.fake.ts";
import { readScenario } from "./read.ts";

const scenario =
	"system: nats\nworkload: { rate: 3/s, message: 256B, duration: 9s }\n";

function written(rig: unknown): string {
	const folder = testFolder();
	writeFileSync(path.join(folder, "s.yaml"), scenario);
	writeFileSync(path.join(folder, "rig.json"), JSON.stringify(rig));
	return folder;
}

test("--rig is read from the current folder; keys of its clients count from its own", async () => {
	const cwd = written({
		version: 1,
		id: "x",
		brokers: [{ system: "nats", broker: "nats", url: "nats://h" }],
		clients: [{ host: "a", identity: "keys/a" }],
	});
	const read = await readScenario(
		"s.yaml",
		{ rig: "rig.json" },
		{ cwd, env: {} },
	);
	expect(read.scenario).toMatchObject({
		rig: { id: "x" },
		systems: [{ url: "nats://h" }],
		clients: { identities: { a: path.join(cwd, "keys/a") } },
	});
});

test("a rig that has expired is warned of, and measured on all the same", async () => {
	const rig = {
		version: 1,
		id: "x",
		brokers: [{ system: "nats", broker: "nats", url: "nats://h" }],
	};
	for (const [expiresAt, warned] of [
		["2026-01-02T03:04:04Z", true],
		["2026-01-02T03:04:06Z", false],
		[null, false],
	] as const) {
		const world = fakeWorld({ cwd: written({ ...rig, expiresAt }) });
		expect(await validate({ path: "s.yaml", rig: "rig.json" }, world)).toBe(0);
		expect(world.err().includes("the rig x has expired")).toBe(warned);
		expect(world.out()).toContain("rig x: its brokers stay up");
	}
});

test("a rig that is not there, or is none, is named before anything else", async () => {
	const cwd = written({ version: 1, id: "x", brokers: [] });
	await expect(
		readScenario("s.yaml", { rig: "other.json" }, { cwd, env: {} }),
	).rejects.toThrow(
		"other.json: cannot be read (there is no such file). Give the rig.json that mqbench up has written",
	);
	await expect(
		readScenario("s.yaml", { rig: "rig.json" }, { cwd, env: {} }),
	).rejects.toThrow("rig.json: brokers is empty; give it a value");
});
