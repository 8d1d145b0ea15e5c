import { describe, expect, test } from "vitest";
import { collect } from "../run/collect.ts";
import { firstRun, fixture } from "../run/fixture.fake.ts";
import type { ResourceLine } from "../run/resource-file.ts";
import { figuresOf } from "./charts/figures.ts";
import { resourceSeries } from "./resources.ts";
import { buildResult } from "./result.ts";
import type { Run } from "./summary.ts";

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

describe("in the chart over time", () => {
	const result = buildResult(fixture("healthy"));
	const [run] = result.runs;
	if (run === undefined) throw new Error("no run");
	const panels = (of: Run) =>
		figuresOf({ ...result, runs: [of] }).runs.get(of.index)?.time?.panels ?? [];
	const lines = (of: Run, unit: string) =>
		panels(of)
			.filter((panel) => panel.unit === unit)
			.flatMap((panel) => panel.lines);

	test("they stand at their second of the window, with the pauses of the garbage collector", () => {
		const broker = lines(run, "cores").find((l) => /broker/.test(l.name));
		const within = broker?.points.filter(([second]) => second >= 0) ?? [];
		expect(within).toHaveLength(5);
		for (const [, cores] of within) expect(cores ?? -1).toBeGreaterThan(0);
		const pauses = panels(run).find((panel) => /garbage/i.test(panel.title));
		expect(pauses?.lines[0]?.points.map(([, ns]) => ns)).toContain(40_000);
	});

	test("the generator's own count is there where nobody has looked from outside", () => {
		const alone = { ...run, series: { ...run.series, resources: [] } };
		const cores = lines(alone, "cores");
		expect(cores.some((l) => /generator/.test(l.name))).toBe(true);
		expect(cores.some((l) => /broker/.test(l.name))).toBe(false);
	});
});
