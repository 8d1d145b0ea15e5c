import { describe, expect, test } from "vitest";
import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import { hostSeries, nodeSeries, resourceSeries } from "./resources.ts";

const stored = collect(firstRun(fixture("healthy")));
const T0_MS = 1767225600000;

const sample = (
	atMs: number,
	broker: Partial<NonNullable<ResourceLine["broker"]>> | null,
	network: ResourceLine["network"] = null,
): ResourceLine => ({
	unixMs: T0_MS + atMs,
	generator: null,
	broker: broker && {
		cpuNs: null,
		waitNs: null,
		rssBytes: null,
		readBytes: null,
		writeBytes: null,
		...broker,
	},
	machine: { cpuNs: atMs * 4e6, idleNs: atMs * 3e6, stealNs: 0, throttled: null },
	network,
});
const series = (...resources: ResourceLine[]) => resourceSeries({ ...stored, resources });

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
				broker: { cores: 0.5, rssBytes: 30, readBytesPerSecond: null, writeBytesPerSecond: 2000 },
				machine: { busyCores: 1, stealCores: 0 },
				network: null,
			},
		]);
	});

	test("has what went over the network", () => {
		const bytes = (rxBytes: number, txBytes: number) => ({ rxBytes, txBytes });
		const [found] = series(sample(0, null, bytes(100, 1000)), sample(2000, null, bytes(300, 900)));
		// A counter that went backwards was reset.
		expect(found?.network).toEqual({ rxBytesPerSecond: 100, txBytesPerSecond: null });
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
		expect(series(sample(0, { cpuNs: 0 }), sample(20, { cpuNs: 1e7 }))).toEqual([]);
	});
});

describe("other machines", () => {
	const [client] = stored.parts;
	if (client === undefined) throw new Error("no client");
	const of = (seconds: number, machines: number) =>
		hostSeries({
			...stored,
			hosts: Array.from({ length: machines }, () => ({
				client,
				samples: Array.from({ length: seconds + 1 }, (_, s) =>
					// In the last second of each ten it had sent ten times as much.
					sample(1000 * s, null, { rxBytes: 0, txBytes: 100 * s + 900 * Math.floor(s / 10) }),
				),
			})),
		});

	test("have a point a second", () => {
		const [host, ...others] = of(20, 1);
		expect(others).toEqual([]);
		expect(host).toMatchObject({ client: 0, name: "client 0" });
		expect(host?.points).toHaveLength(20);
		expect(host?.points[9]).toEqual({
			at: 10,
			generator: null,
			machine: { busyCores: 1, stealCores: 0 },
			network: { rxBytesPerSecond: 0, txBytesPerSecond: 1000 },
		});
	});

	test("never fill the result, however long the run and however many they are: the most of each stretch stays", () => {
		for (const [seconds, machines] of [
			[3600, 1],
			[3600, 10],
			[500, 100],
		] as const) {
			const hosts = of(seconds, machines);
			expect(hosts).toHaveLength(machines);
			const [first] = hosts;
			expect(first?.points.length).toBeLessThanOrEqual(Math.max(30, 1200 / machines));
			expect(first?.points.at(-1)?.at).toBe(seconds);
			const sent = first?.points.map((p) => p.network?.txBytesPerSecond ?? 0);
			expect(Math.max(...(sent ?? []))).toBe(1000);
		}
	});
});

describe("hosts of the broker's nodes", () => {
	const of = (seconds: number, nodes: number) =>
		nodeSeries({
			...stored,
			nodes: Array.from({ length: nodes }, (_, i) => ({
				client: null,
				node: i + 1,
				samples: Array.from({ length: seconds + 1 }, (_, s) =>
					sample(1000 * s, null, { rxBytes: 7 * s, txBytes: 100 * s }),
				),
			})),
		});

	test("at which nobody has looked are left out", () => {
		expect(of(20, 0)).toBeUndefined();
		expect(of(0, 3)).toBeUndefined();
	});
});
