import { expect, test } from "vitest";
import { comparingOf } from "./comparing.ts";
import { ombBaseline } from "./omb-result.ts";

/** As OpenMessaging Benchmark writes it, shortened. */
const result = (p99: number, more = {}) => ({
	workload: "1 topic / 1kb",
	driver: "Kafka",
	messageSize: 1024,
	topics: 1,
	partitions: 16,
	producersPerTopic: 1,
	consumersPerTopic: 4,
	publishRate: [999, 1001],
	consumeRate: [990, 1010],
	backlog: [0, 3],
	aggregatedPublishLatency50pct: 1.5,
	aggregatedPublishLatency99pct: p99,
	aggregatedPublishLatency999pct: 9.25,
	aggregatedPublishLatencyMax: 12,
	aggregatedPublishLatencyQuantiles: { "50.0": 1.5, "99.0": p99, "100.0": 12 },
	aggregatedEndToEndLatency50pct: 0,
	aggregatedEndToEndLatencyQuantiles: {},
	...more,
});
const named = (path: string, ...values: unknown[]) => {
	const baseline = ombBaseline(values, path);
	if (baseline === null) throw new Error(`${path} is none`);
	return { path, baseline };
};

test("its milliseconds are latencies under their own names, in ns", () => {
	const [run, ...more] = named("a", result(4)).baseline.runs;
	expect(more, "a latency without samples is no latency of 0").toEqual([]);
	expect(run).toMatchObject({
		system: "Kafka",
		case: "1 topic / 1kb, publish",
		curve: [
			[50, 1.5e6],
			[99, 4e6],
		],
	});
	expect(run?.figures).toMatchObject({
		"publish p50": 1.5e6,
		"publish p99": 4e6,
		"publish p99.9": 9.25e6,
		"publish p95": null,
		"publish max": 12e6,
		throughput: 1000,
	});
});

test("two sets of its results have a ratio, and decide nothing: their machines are not known", () => {
	const four = (p99: number) => [0, 1, 2, 3].map((i) => result(p99 + i / 100));
	const found = comparingOf(named("a", ...four(4)), [named("b", ...four(8))]);
	const p99 = found.others[0]?.comparisons.find(({ metric }) => metric === "publish p99");
	expect(p99?.ratio).toBeCloseTo(2, 1);
	expect(p99?.judged).toBe(false);
	expect(found.outcome).toBe("advisory");
});

test("another message size is other work", () => {
	const found = comparingOf(named("a", result(4)), [named("b", result(4, { messageSize: 100 }))]);
	expect(found.others[0]?.notCompared[0]?.why).toContain("message 1KiB against 100B");
});

test.each([[[]], [[{}]], [[null]], [[result(1), { schema: 1 }]]])("%j is not of it", (values) =>
	expect(ombBaseline(values, "x")).toBeNull(),
);
