import { describe, expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { comparedResult } from "../compared.fake.ts";
import { calibrationOf } from "./measure.ts";
import { noiseOf } from "./noise.ts";

const yaml = `system: nats
repeat: 10
workload: { rate: 1000/s, message: 256B, duration: 10s }
`;
const values = [100, 104, 98, 103, 97, 101, 99, 105, 102, 96].map((us) => us * 1e3);
const of = (change?: (run: Run) => Partial<Run>, asked: readonly string[] = []) =>
	calibrationOf(comparedResult(yaml, { nats: values }, change).result, asked);

describe("a calibration", () => {
	test("has the noise of what decides by default, of the throughput, and of what the SLA compares", () => {
		const { calibration, missing } = of(undefined, ["ack p99", "service p99"]);
		expect(missing).toEqual([
			{
				system: "nats",
				case: "256B 1000/s",
				metric: "ack p99",
				why: "0 of 10 runs have a value, and it takes 8 (npx mqbench plan says what the samples carry)",
			},
		]);
		// Its fixture has no acknowledgements.
		expect(calibration?.noise.map(({ metric }) => metric)).toEqual([
			"response p50",
			"response p99",
			"service p99",
			"throughput",
		]);
		expect(calibration?.noise[1]).toMatchObject({
			system: "nats",
			case: "256B 1000/s",
			work: expect.stringMatching(/^[0-9a-f]{16}$/),
			...noiseOf(values),
		});
	});

	test("leaves out runs that are INVALID, and is not made of fewer than 8", () => {
		const spoilt = (last: number) => (run: Run) =>
			run.repeat > last ? { verdict: "invalid" as const } : {};
		const nine = of(spoilt(9)).calibration?.noise[0];
		expect(nine).toMatchObject({ runs: 9, each: 4 });
		const seven = of(spoilt(7));
		expect(seven.calibration).toBeNull();
		expect(seven.missing).toEqual([
			{
				system: "nats",
				case: "256B 1000/s",
				metric: null,
				why: "7 of 10 runs count, and it takes 8 (invalid); more --runs, or a quieter machine, give them",
			},
		]);
	});

	test("counts runs that breached an SLA: that is no matter here", () => {
		const { calibration } = of(() => ({ verdict: "fail" as const }));
		expect(calibration?.noise[0]?.runs).toBe(10);
	});
});
