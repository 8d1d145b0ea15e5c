import { describe, expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { comparedResult } from "../compared.fake.ts";
import { advised, renderCalibration } from "./calibration-text.ts";
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
				why: "0 of 10 runs have a value, and it takes 8 (mqbench plan says what the samples carry)",
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

	test("is printed with the margin to write, and how many repeats the usual one takes", () => {
		const { calibration, missing } = of();
		expect(renderCalibration(calibration, missing, 100)).toMatchInlineSnapshot(`
			"Noise of nats, 256B 1000/s: 10 runs of the same, compared in halves of 5

			  figure          noise  tells a change of  write in sla                 repeat
			  response p50  ± 5.3 %              8.2 %  p50 <= baseline + 11%             6
			  response p99  ± 5.3 %              8.2 %  p99 <= baseline + 11%             5
			  throughput      ± 0 %                0 %  throughput >= baseline - 1%       5

			noise: half width of the ratio's interval between runs of the same thing. tells a change of: the
			smallest that so many runs on each side tell from none, in 95 of 100 cases. write in sla: twice the
			noise, below which two equal systems would often be undecided; with so many runs on each side a
			narrower margin is raised to it on this machine, with more of them to less. repeat: about how many a
			margin of 10 % for p50 and p90, 25 % for higher percentiles, 5 % for rates takes.
			"
		`);
	});

	test("says of what it does not know why", () => {
		expect(
			renderCalibration(
				null,
				[{ system: "nats", case: "256B", metric: null, why: "7 of 10 runs count" }],
				100,
			),
		).toBe("Not known of nats, 256B: 7 of 10 runs count.\n\n");
	});
});

test.each([
	["response p99", 0.08, "p99 <= baseline + 16%"],
	["response p50", 0.0001, "p50 <= baseline + 1%"],
	["ack p99.9", 0.123, "ack p99.9 <= baseline + 25%"],
	["throughput", 0.02, "throughput >= baseline - 4%"],
	["throughput", 0.6, "(too noisy)"],
	["response p99", 5, "(too noisy)"],
])("the margin for %s with noise of %f is %s", (metric, halfWidth, line) => {
	expect(advised({ metric, halfWidth })).toBe(line);
});
