import { describe, expect, test } from "vitest";
import { expand } from "../plan/expand.ts";
import type { Plan } from "../plan/plan.ts";
import { loadScenario } from "../scenario/load.ts";
import { fakeWorld } from "../world.fake.ts";
import { makeProgress } from "./progress.ts";
import type { ProgressLine } from "./progress-line.ts";

const plans = expand(
	loadScenario(
		"scenario.yaml",
		"system: nats\nrepeat: 2\nworkload: {rate: 3000/s, message: 256B, warmup: 5s, duration: 10s}\n",
	),
	{ runId: "test" },
);
const [plan] = plans as [Plan];

const tick = (parts: object = {}): ProgressLine => ({
	mqbench: "tick",
	at: 7,
	sent: 3000,
	received: 3000,
	inFlight: 2,
	failed: 0,
	duplicated: 0,
	over: [],
	p50: 60_000,
	p99: 1_500_000,
	...parts,
});

/** A progress on a terminal of 80 columns, or none, and what it wrote. */
function progress({ isTTY = false, quiet = false, columns = 80 } = {}) {
	let ms = 0;
	const world = fakeWorld({
		clock: { nowMs: () => 0, monotonicMs: () => ms },
	});
	Object.assign(world.stderr, { isTTY, columns });
	return {
		made: makeProgress(world, quiet),
		err: world.err,
		out: world.out,
		later: (by: number) => {
			ms += by;
		},
	};
}

describe("a run", () => {
	test("is a line as it begins and a line a second, where nobody watches", () => {
		const { made, err, out } = progress();
		made.run(plan, plans.length);
		made.tick(plan, { mqbench: "start", t0UnixNs: "1" });
		made.tick(plan, tick({ at: 1 }));
		made.tick(plan, tick());
		made.tick(plan, tick({ at: 16, p50: null, p99: null, failed: 7 }));
		made.tick(plan, { mqbench: "end", state: "complete" });
		made.done();
		expect(err()).toBe(
			[
				"[1/2] nats: 256B 3000/s, repeat 1/2 (3000/s, 5s warm-up, 10s measured)",
				"  1s/15s warm-up  3 000/s  p50 60us  p99 1.5ms  in flight 2",
				"  7s/15s measuring  3 000/s  p50 60us  p99 1.5ms  in flight 2",
				"  drain 1s of at most 30s  in flight 2  failed 7",
				"",
			].join("\n"),
		);
		expect(out()).toBe("");
	});

	test("is one line that is rewritten on a terminal, and closed before anything else is said", () => {
		const { made, err } = progress({ isTTY: true });
		made.tick(plan, tick());
		made.tick(plan, tick({ at: 8 }));
		made.say("news");
		made.done();
		expect(err()).toBe(
			"\r\x1b[2K  7s/15s measuring  3 000/s  p50 60us  p99 1.5ms  in flight 2" +
				"\r\x1b[2K  8s/15s measuring  3 000/s  p50 60us  p99 1.5ms  in flight 2" +
				"\nnews\n",
		);
	});

	test("never writes a line that a terminal would wrap: the next one could not rewrite it", () => {
		const { made, err } = progress({ isTTY: true, columns: 30 });
		made.tick(plan, tick());
		expect(err().replace("\r\x1b[2K", "")).toHaveLength(29);
	});

	test("says so when its results cannot be written", () => {
		const { made, err } = progress();
		made.tick(plan, tick({ error: "no space left on device" }));
		expect(err()).toContain("CANNOT WRITE RESULTS: no space left on device");
	});

	test("is silent when quiet is asked for", () => {
		const { made, err, out } = progress({ quiet: true, isTTY: true });
		made.run(plan, 1);
		made.tick(plan, tick());
		made.build.begin();
		made.build.step("modules", 1, 2);
		made.build.end();
		made.say("news");
		made.done();
		expect(err() + out()).toBe("");
	});
});

describe("a build", () => {
	test("says why it takes long, each phase, and something every 10 s, where nobody watches", () => {
		const { made, err, later } = progress();
		made.build.begin();
		made.build.step("modules", 0, 97);
		for (let i = 1; i <= 97; i++) {
			later(250);
			made.build.step("modules", i, 97);
		}
		made.build.step("modules", 97, 97);
		made.build.step("packages", 0, 800);
		later(500);
		made.build.step("packages", 800, 800);
		made.build.end();
		expect(err().split("\n").slice(1)).toEqual([
			"  modules 0/97",
			"  modules 40/97",
			"  modules 80/97",
			"  modules 97/97",
			"  packages 0/800",
			"  packages 800/800",
			"Built in 24.8s; kept in the cache.",
			"",
		]);
		expect(err()).toMatch(/^Building the load generator .*: once, about 2/);
	});

	test("rewrites one line on a terminal", () => {
		const { made, err } = progress({ isTTY: true });
		made.build.step("modules", 1, 2);
		made.build.step("modules", 2, 2);
		made.build.end();
		expect(err()).toMatch(
			// biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's own.
			/^\r\x1b\[2K {2}modules 1\/2\r\x1b\[2K {2}modules 2\/2\nBuilt in /,
		);
	});

	test("says whom it waits for", () => {
		const { made, err } = progress();
		made.build.waiting(42);
		made.build.waiting(null);
		expect(err()).toBe(
			"Another mqbench (pid 42) is building the load generator; waiting for it.\n" +
				"Another mqbench is building the load generator; waiting for it.\n",
		);
	});
});
