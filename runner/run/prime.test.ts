import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { untouchedBroker } from "../../infra/rig.ts";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { fakeWorld } from "../world.fake.ts";
import { type FakeClient, fakeClient } from "./fleet.fake.ts";
import { runPath } from "./folder.ts";
import { prime } from "./prime.ts";
import { makeProgress } from "./progress.ts";

/** Primes the broker of a run at 50/s, by a k6 that does as the test says. */
async function primed(system: string, started: (self: FakeClient) => void) {
	const scenario = loadScenario(
		"scenario.yaml",
		`system: ${system}\nworkload: { rate: 50/s, message: 256B, duration: 1s, warmup: steady }\n`,
	);
	const [plan] = expand(scenario, { runId: "test" });
	const [its] = scenario.systems;
	if (plan === undefined || its === undefined) throw new Error("no run");
	const world = fakeWorld();
	const folder = testFolder();
	const client = fakeClient(0, { generator: { started } });
	const done = await prime(
		{
			plan,
			system: its,
			broker: untouchedBroker(),
			folder,
			clients: [client.ready],
			progress: makeProgress(world, false),
		},
		world,
	);
	const left = existsSync(path.join(runPath(folder, plan), "priming"));
	return { ...done, left, began: client.command() !== null };
}

test("a primed JVM is a setting of the run, with as many messages as came back, and nothing else of it stays", async () => {
	const window = { count: 12_345, p50: 1, p99: 1, p999: 1, max: 1 };
	const { settings, notes, left } = await primed("kafka", (self) => {
		self.tell({ mqbench: "end", state: "complete", window });
		self.end(0);
	});
	expect(settings.primed).toMatch(/^12 345 messages in a closed loop/);
	expect([notes, left]).toEqual([[], false]);
});

test("where it could not be done, a note says why, and there is no such setting", async () => {
	const { settings, notes, left } = await primed("kafka", (self) => {
		self.complain("no route to the broker");
		self.end(107);
	});
	expect(settings).toEqual({});
	expect(notes).toHaveLength(1);
	expect(notes[0]).toMatch(/JVM was not warmed up .*\(.+\)/);
	expect(left).toBe(false);
});

test("what has no JVM is left alone", async () => {
	const { settings, notes, began } = await primed("nats", () => {
		throw new Error("it was started");
	});
	expect([settings, notes, began]).toEqual([{}, [], false]);
});
