import { describe, expect, test } from "vitest";
import { collect } from "../run/collect.ts";
import { firstRun, fixture } from "../run/fixture.fake.ts";
import type { ResourceLine } from "../run/resource-file.ts";
import { resourceRows } from "./html/resource-chart.ts";
import { resourceSeries } from "./resources.ts";
import { buildResult } from "./result.ts";

const stored = collect(firstRun(fixture("healthy")));
const T0_MS = 1767225600000;

const sample = (
	atMs: number,
	broker: Partial<NonNullable<ResourceLine["broker"]>> | null,
): ResourceLine => ({
	unixMs: T0_MS + atMs,
	generator: null,
	broker: broker && {
		cpuNs: null,
		rssBytes: null,
		readBytes: null,
		writeBytes: null,
		...broker,
	},
	machine: {
		cpuNs: atMs * 4e6,
		idleNs: atMs * 3e6,
		stealNs: 0,
		throttled: null,
	},
});
const series = (...resources: ResourceLine[]) =>
	resourceSeries({ ...stored, resources });

describe("what a run used, second by second", () => {
	test("is the difference of two samples over the time between them", () => {
		expect(
			series(
				sample(500, { cpuNs: 1e9, rssBytes: 10, writeBytes: 1000 }),
				sample(2500, { cpuNs: 2e9, rssBytes: 30, writeBytes: 5000 }),
			),
		).toEqual([
			{
				at: 2.5,
				generator: null,
				broker: {
					cores: 0.5,
					rssBytes: 30,
					readBytesPerSecond: null,
					writeBytesPerSecond: 2000,
				},
				machine: { busyCores: 1, stealCores: 0 },
			},
		]);
	});

	test("is null, never negative, when a counter begins anew or vanishes", () => {
		const found = series(
			sample(0, { cpuNs: 9e9, writeBytes: 100 }),
			sample(1000, { cpuNs: 1e8, writeBytes: 200 }),
			sample(2000, null),
			sample(3000, { cpuNs: 2e8 }),
			sample(4000, { cpuNs: 3e8 }),
		).map((p) => p.broker && [p.broker.cores, p.broker.writeBytesPerSecond]);
		expect(found).toEqual([[null, 100], null, null, [0.1, null]]);
	});

	test("leaves out two samples that are too near for counters in hundredths of a second", () => {
		expect(series(sample(0, { cpuNs: 0 }), sample(20, { cpuNs: 1e7 }))).toEqual(
			[],
		);
	});

	test("of a run at which nobody has looked is empty", () => {
		expect(series()).toEqual([]);
	});
});

describe("the rows of its chart", () => {
	const [run] = buildResult(fixture("healthy")).runs;
	if (run === undefined) throw new Error("no run");

	test("stand at their second of the window, with the pauses of the garbage collector", () => {
		const rows = resourceRows(run, 300);
		expect(rows.map((r) => r.second)).toEqual([0, 1, 2, 3, 4, 5]);
		expect(rows[0]?.gcPauseNs).toBe(40_000);
		expect(rows.every((r) => (r.brokerCores ?? -1) > 0)).toBe(true);
	});

	test("take the generator's own count where nobody has looked from outside", () => {
		const alone = { ...run, series: { ...run.series, resources: [] } };
		expect(
			resourceRows(alone, 300).every((r) => r.generatorCores !== null),
		).toBe(true);
		expect(resourceRows(alone, 300).every((r) => r.brokerCores === null)).toBe(
			true,
		);
	});
});
