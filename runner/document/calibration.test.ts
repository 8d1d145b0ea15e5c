import { expect, test } from "vitest";
import { calibrationOf } from "../compare/calibrate/measure.ts";
import { comparedResult } from "../compare/compared.fake.ts";
import { renderBlocks } from "../render/terminal.ts";
import { advised, calibration } from "./calibration.ts";

const yaml = `system: nats
repeat: 10
workload: { rate: 1000/s, message: 256B, duration: 10s }
`;
const values = [100, 104, 98, 103, 97, 101, 99, 105, 102, 96].map((us) => us * 1e3);

test("a calibration has the margin to write, how many repeats the usual one takes, and why something is not known", () => {
	const found = calibrationOf(comparedResult(yaml, { nats: values }).result, []);
	const missing = [{ system: "nats", case: "1KiB", metric: null, why: "7 of 10 runs count" }];
	const text = renderBlocks(calibration(found.calibration, missing), {
		columns: 100,
		colour: false,
	});
	expect(text).toMatchInlineSnapshot(`
		"Noise of nats, 256B 1000/s: 10 runs of the same, compared in halves of 5

		  figure          noise  tells a change of  write in sla                 repeat
		  response p50  ± 5.3 %              8.2 %  p50 <= baseline + 11%             6
		  response p99  ± 5.3 %              8.2 %  p99 <= baseline + 11%             5
		  throughput      ± 0 %                0 %  throughput >= baseline - 1%       5

		Not known of nats, 1KiB: 7 of 10 runs count

		noise: half the width of the ratio's 95 % interval between identical runs. tells a change of: the
		smallest change that this many runs on each side show in 95 of 100 cases. write in sla: twice the
		noise, below which two equal systems would often be undecided; compare raises a narrower margin to
		it on this machine. repeat: about how many runs the usual margin needs.
		"
	`);
	expect(renderBlocks(calibration(null, missing), { columns: 100, colour: false })).toBe(
		"Not known of nats, 1KiB: 7 of 10 runs count\n",
	);
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
