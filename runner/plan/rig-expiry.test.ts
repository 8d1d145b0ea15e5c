import { expect, test } from "vitest";
import { rentedFile } from "../../infra/cloud/cloud.fake.ts";
import { around, loadScenario } from "../scenario/load.ts";
import { RigFile } from "../scenario/rig-file.ts";
import { fakeWorld } from "../world.fake.ts";
import { expand } from "./expand.ts";
import { rigEndsAt } from "./rig-expiry.ts";
import { warnBeforeRuns } from "./warnings.ts";

/** A rented rig; the clock says 03:04:05. */
const rig = (endsAt: string | null, expiresAt: string | null) =>
	RigFile.parse({ ...rentedFile, expiresAt, cloud: { ...rentedFile.cloud, endsAt } });

/** What is said before the one run, which takes 65s with start, drain and floor. */
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
		"Warning: the rig x-1 ends in 1.07min (2026-01-02T03:05:09Z), and the runs take up to 1.08min: make fewer of them (--only), or stand a new one up\n",
	);
	expect(warned(rig("2026-01-02T03:05:10Z", sweepAt))).toBe("");
	expect(warned(rig("2026-01-02T03:04:04Z", sweepAt))).toContain(
		"the rig x-1 has expired (2026-01-02T03:04:04Z)",
	);
});

test("where nobody wrote down when they end, it is the end of all of it", () => {
	expect(warned(rig(null, "2026-01-02T03:05:09Z"))).toContain(
		"the rig x-1 ends in 1.07min (2026-01-02T03:05:09Z)",
	);
	expect(warned(rig(null, null))).toBe("");
});
