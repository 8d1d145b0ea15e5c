import { expect, test } from "vitest";
import { rentedFile } from "../../infra/rent/rent.fake.ts";
import { around, loadScenario } from "../scenario/load.ts";
import { RigFile } from "../scenario/rig-file.ts";
import { fakeWorld } from "../world.fake.ts";
import { expand } from "./expand.ts";
import { plansOf } from "./plans.fake.ts";
import { longest, rigEndsAt, warnBeforeRuns } from "./warnings.ts";

/** A rented rig; the clock says 03:04:05. */
const rig = (endsAt: string | null, expiresAt: string | null) =>
	RigFile.parse({ ...rentedFile, expiresAt, cloud: { ...rentedFile.cloud, endsAt } });

/** The one run takes 65s with start, drain and floor. */
function warned(file: RigFile): string {
	const scenario = loadScenario(
		"s.yaml",
		"system: nats\nworkload: { rate: 3/s, message: 256B, duration: 20s, warmup: 10s, drain: 10s }\n",
		{},
		{},
		{ ...around("s.yaml"), rig: { path: "rig.json", rig: file } },
	);
	const world = fakeWorld();
	const plans = expand(scenario, { runId: "x" });
	warnBeforeRuns(scenario, plans, { path: "s.yaml" }, world);
	return world.err();
}

test("machines end with their ttl, half an hour before a sweep may remove what is left", () => {
	const sweepAt = "2026-01-02T03:34:05Z";
	expect(rigEndsAt(rig("2026-01-02T03:05:09Z", sweepAt))).toBe("2026-01-02T03:05:09Z");
	expect(warned(rig("2026-01-02T03:05:09Z", sweepAt))).toBe(
		"Warning: the rig x-1 ends in 1min 4s (2026-01-02T03:05:09Z), and the runs take up to 1min 5s: make fewer of them (--only), or stand a new one up\n",
	);
	expect(warned(rig("2026-01-02T03:05:10Z", sweepAt))).toBe("");
	expect(warned(rig("2026-01-02T03:04:04Z", sweepAt))).toContain(
		"the rig x-1 has expired (2026-01-02T03:04:04Z)",
	);
});

test("where nobody wrote down when they end, it is the end of all of it", () => {
	expect(warned(rig(null, "2026-01-02T03:05:09Z"))).toContain(
		"the rig x-1 ends in 1min 4s (2026-01-02T03:05:09Z)",
	);
	expect(warned(rig(null, null))).toBe("");
});

const secondsOf = (
	head: string,
	also: Partial<Parameters<typeof longest>[1]> = {},
	load = "rate: 3/s, warmup: 5s, duration: 20s",
) =>
	longest(plansOf(`${head}\nworkload: { ${load}, message: 256B, drain: 10s }\n`), {
		floors: false,
		confirm: false,
		...also,
	}) / 1e9;

test("a run takes its start, warm-up, window and drain; runs add up", () => {
	expect(secondsOf("system: nats")).toBe(15 + 5 + 20 + 10);
	expect(secondsOf("system: nats\nrepeat: 3")).toBe(150);
	expect(secondsOf("systems: { nats: nats, floor: noop }")).toBe(100);
});

test("where a warm-up lasts until latency is steady, its longest time counts", () => {
	expect(secondsOf("system: kafka", {}, "rate: 50/s, duration: 20s")).toBe(15 + 90 + 20 + 10);
});

test("a floor for each case comes on top, of noop none", () => {
	const cases = "cases: [{ message: 1KiB }, { message: 2KiB }]";
	expect(secondsOf(`system: nats\n${cases}`, { floors: true })).toBe(120);
	expect(secondsOf(`system: noop\n${cases}`, { floors: true })).toBe(100);
});

test("repeats that may be added count as if they were", () => {
	expect(secondsOf("system: nats", { confirm: true })).toBe(150);
	expect(secondsOf("system: nats\nrepeat: 2", { confirm: true })).toBe(200);
});

test("a search is as many runs as it takes to the highest rates", () => {
	expect(
		secondsOf(
			"system: nats\nsla: [p99 < 5ms]",
			{},
			"rate: 3/s, warmup: 5s, duration: 20s, find: max-rate",
		),
	).toBe(30 * (15 + 5 + 40 + 10));
});
