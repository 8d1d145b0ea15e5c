import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../../infra/test-folder.fake.ts";
import type { Calibration } from "../../model/comparison.ts";
import { machineWith } from "../baseline.fake.ts";
import { keepCalibration, knownCalibration, readCalibration, writeCalibration } from "./file.ts";

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
const world = () => ({ env: { MQBENCH_CACHE_DIR: testFolder() } });

test("what was calibrated is known of this machine and work, and of no other", () => {
	const here = world();
	const folder = keepCalibration(calibration(noise("nats", "w1"), noise("nats", "w2")), here);
	expect(folder).toBe(path.join(here.env.MQBENCH_CACHE_DIR, "calibrations"));
	expect(readdirSync(folder).sort()).toEqual(["f1-w1.json", "f1-w2.json"]);
	expect(knownCalibration(machine, ["w1"], here)?.noise).toEqual([noise("nats", "w1")]);
	expect(knownCalibration(machine, ["w2", "w1", "w2"], here)?.noise).toEqual([
		noise("nats", "w2"),
		noise("nats", "w1"),
	]);
	expect(knownCalibration(machine, ["w3"], here)).toBeNull();
	const other = machineWith({ fingerprint: "f2" });
	expect(knownCalibration(other, ["w1"], here)).toBeNull();
});

test("a later calibration takes the place of the same system's, and leaves the others'", () => {
	const here = world();
	keepCalibration(calibration(noise("nats", "w1"), noise("redis", "w1")), here);
	keepCalibration(calibration(noise("nats", "w1", 0.5)), here);
	expect(knownCalibration(machine, ["w1"], here)?.noise).toEqual([
		noise("nats", "w1", 0.5),
		noise("redis", "w1"),
	]);
});

test("a broken file in the cache counts as none; one that is named is refused", () => {
	const here = world();
	const folder = path.join(here.env.MQBENCH_CACHE_DIR, "calibrations");
	mkdirSync(folder);
	const file = path.join(folder, "f1-w1.json");
	for (const [text, reason] of [
		["{", "it is no JSON"],
		['{"schema": 2}', "it is another kind of file, or of another version"],
	] as const) {
		writeFileSync(file, text);
		expect(knownCalibration(machine, ["w1"], here)).toBeNull();
		expect(() => readCalibration(file)).toThrow(
			`${file}: is not a calibration (${reason}). Give the calibration.json that mqbench calibrate leaves in its folder.`,
		);
	}
	expect(() => readCalibration(path.join(folder, "none"))).toThrow(
		/is not a calibration \(there is no such file/,
	);
});

test("is read by its own name or by its folder's", () => {
	const folder = testFolder();
	const file = path.join(folder, "calibration.json");
	const all = calibration(noise("nats", "w1"));
	writeCalibration(file, all);
	expect(readCalibration(file)).toEqual(all);
	expect(readCalibration(folder)).toEqual(all);
});
