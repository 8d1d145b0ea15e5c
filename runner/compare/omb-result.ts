import { z } from "zod";
import type { Baseline } from "../model/comparison.ts";
import { formatBytesExact } from "../units.ts";
import { hashOf } from "./same-machine.ts";

/**
 * Runs of OpenMessaging Benchmark (files of its class TestResult) as a baseline; null: one of them is something else. Its latencies
 * count from the send call and not from the intended time, so they keep names of their own; with nothing known of the machine they
 * are shown, and decide nothing.
 */
export function ombBaseline(values: readonly unknown[], runId: string): Baseline | null {
	const results = values.map((value) => TestResult.safeParse(value).data);
	const known = results.filter((result) => result !== undefined);
	const [first] = known;
	if (first === undefined || known.length < results.length) return null;
	return {
		schema: 1,
		scenario: first.workload,
		runId,
		startedAt: null,
		mqbench: null,
		machine: null,
		quick: false,
		works: Object.fromEntries(known.map((result) => [hashOf(workOf(result)), workOf(result)])),
		systems: {},
		runs: known.flatMap((result, i) => entriesOf(result, i + 1)),
	};
}

// --- internal ---

const Rates = z.array(z.number());
/** Times are ms. */
const TestResult = z.looseObject({
	workload: z.string(),
	driver: z.string(),
	publishRate: Rates,
	consumeRate: Rates,
});
type TestResult = z.infer<typeof TestResult>;

/** Of what its fields are called -> of the curve. */
const LATENCIES = { publish: "Publish", "end-to-end": "EndToEnd" };
const PERCENTILES: Readonly<Record<string, string>> = {
	"50pct": "p50",
	"75pct": "p75",
	"95pct": "p95",
	"99pct": "p99",
	"999pct": "p99.9",
	"9999pct": "p99.99",
	Max: "max",
};
const MOST_POINTS = 40;

/** It writes down no more of it. */
function workOf(result: TestResult): Record<string, string> {
	const fact = (key: string) => String(result[key] ?? "not known");
	return {
		tool: "OpenMessaging Benchmark",
		message: formatBytesExact(Number(result.messageSize) || 0),
		topics: fact("topics"),
		partitions: fact("partitions"),
		"producers per topic": fact("producersPerTopic"),
		"consumers per topic": fact("consumersPerTopic"),
	};
}

/** One for each of its latencies that has samples: a run has one metric that stands for it. */
function entriesOf(result: TestResult, repeat: number): Baseline["runs"] {
	const mean = (rates: readonly number[]) =>
		rates.reduce((a, b) => a + b, 0) / Math.max(1, rates.length);
	return Object.entries(LATENCIES).flatMap(([main, word]) => {
		const curve = Object.entries(result[`aggregated${word}LatencyQuantiles`] ?? {})
			.map(([p, ms]): [number, number] => [Number(p), ns(ms)])
			.filter(([p]) => p < 100)
			.sort(([a], [b]) => a - b);
		// Where nothing was counted its percentiles are 0.
		if (curve.length === 0) return [];
		const step = Math.ceil(curve.length / MOST_POINTS);
		return {
			system: result.driver,
			case: `${result.workload}, ${main}`,
			repeat,
			work: hashOf(workOf(result)),
			main,
			closed: true,
			without: null,
			beyond: [],
			weak: [],
			clockBoundNs: null,
			broker: null,
			verdict: "unknown",
			figures: {
				...Object.fromEntries(
					Object.entries(PERCENTILES).map(([key, name]) => {
						const ms = result[`aggregated${word}Latency${key}`];
						return [`${main} ${name}`, ms === undefined ? null : ns(ms)];
					}),
				),
				throughput: mean(result.consumeRate),
				"throughput.sent": mean(result.publishRate),
			},
			curve: curve.filter((_, i) => i % step === 0),
		};
	});
}

function ns(ms: unknown): number {
	return Math.round(Number(ms) * 1e6);
}
