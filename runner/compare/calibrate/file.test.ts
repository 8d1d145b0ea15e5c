import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import type { Calibration } from "../../model/comparison.ts";
import { machineWith } from "../baseline.fake.ts";
import { calibrationFor, keepCalibration, writeCalibration } from "./file.ts";

const noise = (system: string, work: string, halfWidth = 0.1) => ({
	system,
	case: "256B",
	work,
	metric: "response p99",
	runs: 10,
	each: 5,
	halfWidth,
	detectable: 0.2,
});
const machine = machineWith({ fingerprint: "f1" });
const calibration = (...all: Calibration["noise"]): Calibration => ({
	schema: 1,
	scenario: "s",
	runId: "r",
	machine,
	noise: all,
});
const world = () => ({ cwd: "/", env: { MQBENCH_CACHE_DIR: testFolder() } });

test("what was calibrated is known of this machine and work, and of no other; a later one takes the place of the same system's", () => {
	const here = world();
	const known = (works: readonly string[], of = machine) =>
		calibrationFor(undefined, of, works, here)?.noise;
	const folder = keepCalibration(calibration(noise("nats", "w1"), noise("redis", "w1")), here);
	expect(folder).toBe(path.join(here.env.MQBENCH_CACHE_DIR, "calibrations"));
	keepCalibration(calibration(noise("nats", "w2"), noise("nats", "w1", 0.5)), here);
	expect(readdirSync(folder)).toEqual(["f1.json"]);
	expect(known(["w1"])).toEqual([noise("nats", "w1", 0.5), noise("redis", "w1")]);
	expect(known(["w2", "w1"])).toHaveLength(3);
	expect(known(["w3"])).toBeUndefined();
	expect(known(["w1"], machineWith({ fingerprint: "f2" }))).toBeUndefined();
});

test("a broken file in the cache counts as none; one that is named is refused, and read by its own name or its folder's", () => {
	const here = world();
	const folder = path.join(here.env.MQBENCH_CACHE_DIR, "calibrations");
	mkdirSync(folder);
	const file = path.join(folder, "f1.json");
	const of = (given?: string) => calibrationFor(given, machine, ["w1"], here);
	for (const [text, reason] of [
		["{", "it is no JSON"],
		['{"schema": 2}', "it is another kind of file, or of another version"],
	] as const) {
		writeFileSync(file, text);
		expect(of()).toBeNull();
		expect(() => of(file)).toThrow(
			`${file}: is not a calibration (${reason}). Give the calibration.json that npx mqbench calibrate leaves in its folder.`,
		);
	}
	expect(() => of(path.join(folder, "none"))).toThrow(
		/is not a calibration \(there is no such file/,
	);
	const all = calibration(noise("nats", "w1"));
	writeCalibration(path.join(folder, "calibration.json"), all);
	for (const given of [folder, path.join(folder, "calibration.json")])
		expect(of(given)).toEqual(all);
});
