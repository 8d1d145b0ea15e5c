import { expect, test } from "vitest";
import type { Calibration } from "../model/comparison.ts";
import { machineWith } from "./baseline.fake.ts";
import { marginOf, noiseOf } from "./margin.ts";

type Noise = Calibration["noise"][number];
const noise = (parts: Partial<Noise> = {}): Noise => ({
	system: "nats",
	case: "other case",
	work: "w1",
	metric: "response p99",
	runs: 20,
	each: 5,
	halfWidth: 0.3,
	detectable: 0.6,
	...parts,
});
const line = (margin: number, allowanceNs: number | null = null, baselineNs = 1e6) => ({
	line: { margin, allowanceNs, baselineNs },
});
const CALIBRATED = "twice this machine's noise (calibrate)";

test.each<[string, Partial<Parameters<typeof marginOf>[1]>, margin: number, from: string]>([
	["response p50", {}, 0.1, "default"],
	["ack p90", {}, 0.1, "default"],
	["response p99", {}, 0.25, "default"],
	["response max", {}, 0.25, "default"],
	["throughput", {}, 0.05, "default"],
	["highest rate", {}, 0.05, "default"],
	["response p99", line(0.1), 0.1, "the SLA"],
	["response p99", line(0.1, 2e6), 2, "the SLA: baseline + 2ms"],
	["response p99", line(0.1, 2e6, 100e6), 0.1, "the SLA"],
	["response p99", { stored: true }, 0.5, "default, doubled: a stored baseline"],
	["response p99", { noise: noise({ halfWidth: 0.01 }) }, 0.25, "default"],
	["response p99", { noise: noise() }, 0.6, CALIBRATED],
	[
		"response p99",
		{ ...line(0.1), noise: noise(), stored: true },
		1.2,
		`${CALIBRATED}, doubled: a stored baseline`,
	],
	// Half as wide with four times as many runs: intervals narrow with their root.
	["response p99", { noise: noise(), runs: [20, 20] }, 2 * (Math.sqrt(1.3) - 1), CALIBRATED],
	["response p99", { noise: noise(), runs: [4, 4] }, 2 * (1.3 ** Math.sqrt(5 / 4) - 1), CALIBRATED],
])("the margin of %s with %j is %f: %s", (figure, parts, margin, from) => {
	const found = marginOf(figure, {
		line: null,
		noise: null,
		stored: false,
		runs: [5, 5],
		...parts,
	});
	expect(found.margin).toBeCloseTo(margin, 9);
	expect(found.from).toBe(from);
});

test.each<[string, Partial<Noise>[], halfWidth: number | null, cpu?: string]>([
	["this work and figure", [{}], 0.3],
	["other work", [{ work: "w2" }], null],
	["another figure", [{ metric: "response p50" }], null],
	["another machine", [{}], null, "Other CPU"],
	["the system itself, however quiet", [{ halfWidth: 0.2 }, { system: "x", halfWidth: 0.4 }], 0.2],
	[
		"other systems: the noisiest",
		[
			{ system: "x", halfWidth: 0.2 },
			{ system: "y", halfWidth: 0.4 },
		],
		0.4,
	],
])("noise is that of %s", (_, all, halfWidth, cpu = "Example CPU") => {
	const machine = machineWith({ cpu, boot: "boot 9" });
	const calibration = {
		schema: 1 as const,
		scenario: "example",
		runId: "c",
		machine,
		noise: all.map(noise),
	};
	const { fingerprint } = machineWith();
	const found = noiseOf(calibration, fingerprint, "response p99", { system: "nats", work: "w1" });
	expect(found?.halfWidth ?? null).toBe(halfWidth);
	expect(noiseOf(null, fingerprint, "response p99", { system: "nats", work: "w1" })).toBeNull();
});
