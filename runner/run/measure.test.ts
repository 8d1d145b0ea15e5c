import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { RunFile } from "../model/run-file.ts";
import { expand } from "../plan/expand.ts";
import { loadScenario } from "../scenario/load.ts";
import { fakeWorld } from "../world.fake.ts";
import { readEnvironment } from "./environment.ts";
import { environmentIn, makeRunFolder, runPath, writeEnvironment } from "./folder.ts";

const stop = new AbortController();
vi.mock("../../infra/programs/resolve.ts", () => ({ resolveBinaries: async () => ({ go: null }) }));
vi.mock("../../infra/targets.ts", () => ({
	clientsOf: async () => [
		{
			name: "this machine",
			kind: "local",
			close: async () => {},
			prepare: async () => ({ machine: "linux amd64" }),
		},
	],
	provision: async () => ({
		async open() {
			stop.abort("SIGINT");
			throw failure("interrupted", { signal: "SIGINT" });
		},
		teardown: async () => {},
	}),
}));

// Another test in this process may have loaded the real module.
vi.resetModules();
const { failure } = await import("../errors.ts");
const { measure } = await import("./measure.ts");

const folder = mkdtempSync(path.join(tmpdir(), "mqbench-measure-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a Ctrl-C while a broker comes up interrupts the runs after it as well: none of them failed", async () => {
	const text = "system: nats\nworkload: { rate: 9/s, message: 256B, duration: 9s }\nrepeat: 3\n";
	const scenario = loadScenario("s.yaml", text);
	const plans = expand(scenario, { runId: "r" });
	expect(plans).toHaveLength(3);
	const out = path.join(folder, "out");
	makeRunFolder(out, text, plans, []);
	const before = {
		...readEnvironment("2026-01-02T03:04:05.000Z", { k6: "v2.1.0", go: "go1" }),
		systems: { nats: { broker: "nats-server 2.9", library: "nats.go 1.4" } },
	};
	writeEnvironment(out, before);
	const nothing = () => {};
	await measure(
		{
			scenario,
			runs: plans,
			runCount: 3,
			floors: [],
			git: Promise.resolve(null),
			// A resumed folder has something to show, however soon it is stopped.
			resumed: true,
			hopeless: () => null,
			folder: out,
			k6Outs: [],
			progress: {
				build: nothing,
				run: nothing,
				floor: nothing,
				say: nothing,
				tick: nothing,
				done: nothing,
			} as never,
		},
		{ ...fakeWorld(), stop: stop.signal },
	);
	for (const plan of plans) {
		const file = path.join(runPath(out, plan), "run.json");
		const run = RunFile.parse(JSON.parse(readFileSync(file, "utf8")));
		expect(run).toMatchObject({ interruptedBy: "SIGINT", error: null });
	}
	const { bootId, node } = before;
	expect(environmentIn(out)).toEqual({
		...before,
		resumed: [{ startedAt: expect.stringMatching(/^\d{4}-/), bootId, node, go: null }],
	});
});
