import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ombBaseline } from "../../compare/omb-result.ts";
import { bucketRanges, decodeBuckets } from "../../histogram/buckets.ts";
import type { Plan } from "../../model/plan.ts";
import type { Run } from "../../model/result.ts";
import { built, type Fate, planOf, steady } from "../../run/built.fake.ts";
import { buildResult } from "../result.ts";
import { readResult } from "../result-files.ts";
import { publishedFolder } from "../stored.fake.ts";
import { exported } from "./exported.fake.ts";
import { exportOmb } from "./omb.ts";
import { pointsOf } from "./points.ts";

// biome-ignore lint/suspicious/noExplicitAny: any field of another tool's file.
type TestResult = any;

/** Of its class TestResult (openmessaging/benchmark): what its own readers ask for. */
const PARTS = ["Avg", "50pct", "75pct", "95pct", "99pct", "999pct", "9999pct", "Max"];
const LATENCIES = ["PublishLatency", "PublishDelayLatency", "EndToEndLatency"];
const HEAD = [
	"workload",
	"driver",
	"messageSize",
	"topics",
	"partitions",
	"producersPerTopic",
	"consumersPerTopic",
	"publishRate",
	"publishErrorRate",
	"consumeRate",
	"backlog",
];

const listOf = (word: string) => word.replace(/^./, (c) => c.toLowerCase());

/** As Jackson reads it: no field that the class does not have, numbers alone, lists of the same length (or empty). */
function check(result: TestResult, intervals: number): TestResult {
	const known = new Set([
		...HEAD,
		...LATENCIES.flatMap((word) => [
			...PARTS.flatMap((part) => [`${listOf(word)}${part}`, `aggregated${word}${part}`]),
			`aggregated${word}Quantiles`,
		]),
	]);
	for (const [key, value] of Object.entries(result)) {
		if (!known.has(key)) throw new Error(`unknown field: ${key}`);
		if (key === "workload" || key === "driver") continue;
		const numbers = Array.isArray(value)
			? value
			: typeof value === "object"
				? Object.values(value ?? {})
				: [value];
		for (const number of numbers)
			if (typeof number !== "number" || !Number.isFinite(number))
				throw new Error(`${key}: ${number}`);
		if (Array.isArray(value) && ![0, intervals].includes(value.length))
			throw new Error(`${key}: ${value.length} intervals`);
	}
	for (const key of HEAD) expect(result).toHaveProperty(key);
	return result;
}

/** A stored folder of one run, exported. */
function omb(plan: Plan, fates: readonly Fate[]) {
	const folder = built(plan, fates);
	const result = buildResult(folder);
	const runs = result.runs.map((run) => ({ ...run, verdict: "pass" as const }));
	const { points } = pointsOf({ folder, shown: "r", result: { ...result, runs } });
	const done = exportOmb(points);
	const [file] = done.files;
	const text = file?.text ?? "null";
	return { notes: done.notes, result, file: JSON.parse(text) as TestResult };
}

const MS = 1e6;
const near = (expected: number) =>
	expect.closeTo(expected, expected === 0 ? 9 : -Math.log10(expected / 500));

describe("a run whose every message is known", () => {
	// 100/s for 25 s after 5 s: intervals of 10 and 15 s.
	const plan = planOf({
		pattern: "work-queue",
		consumers: 1,
		consumerConnections: 1,
		acks: true,
		schedule: steady(100, 5, 25),
		timeoutNs: 2e9,
	});
	const WARMUP = 500;
	/** response of message i of the window: 1, 2, ... 100 ms in turn, and ten times as much in the second interval. */
	const responseMs = (i: number) => ((i % 100) + 1) * (i < 1000 ? 1 : 10);
	const fates = Array.from({ length: plan.schedule.messages }, (_, k): Fate => {
		const intended = k * 1e7;
		const ms = k < WARMUP ? 1 : responseMs(k - WARMUP);
		return {
			sentNs: intended + 20_000,
			ackedNs: intended + (ms * MS) / 2,
			receivedNs: [intended + ms * MS],
		};
	});
	const read = () => {
		const { file, ...more } = omb(plan, fates);
		return { ...more, file: check(file, 2) };
	};

	test("has its percentiles, means and maxima by interval and over all, in ms", () => {
		const { file } = read();
		for (const [field, first, second] of [
			["Avg", 50.5, 505] as const,
			["50pct", 50, 500] as const,
			["75pct", 75, 750] as const,
			["95pct", 95, 950] as const,
			["99pct", 99, 990] as const,
			["Max", 100, 1000] as const,
		]) {
			expect([field, file[`endToEndLatency${field}`]]).toEqual([
				field,
				[near(first), near(second)],
			]);
			expect(file[`publishLatency${field}`]).toEqual([near(first / 2), near(second / 2)]);
		}
		const all = Array.from({ length: 2500 }, (_, i) => responseMs(i)).sort((a, b) => a - b);
		const rank = (p: number) => all[Math.ceil(all.length * p) - 1] ?? 0;
		expect(file.aggregatedEndToEndLatency50pct).toEqual(near(rank(0.5)));
		expect(file.aggregatedEndToEndLatency75pct).toEqual(near(rank(0.75)));
		expect(file.aggregatedEndToEndLatency95pct).toEqual(near(rank(0.95)));
		expect(file.aggregatedEndToEndLatency99pct).toEqual(near(rank(0.99)));
		expect(file.aggregatedEndToEndLatencyMax).toBe(1000);
		expect(file.aggregatedEndToEndLatencyAvg).toBeCloseTo((1000 * 50.5 + 1500 * 505) / 2500);
	});

	test("has no percentile that the samples do not carry", () => {
		const { file } = read();
		expect(file.endToEndLatency999pct).toEqual([]);
		expect(file.endToEndLatency9999pct).toEqual([]);
		expect(file).not.toHaveProperty("aggregatedEndToEndLatency999pct");
		expect(
			Object.keys(file.aggregatedEndToEndLatencyQuantiles)
				.map(Number)
				.filter((p) => p > 99.86 && p < 100),
		).toEqual([]);
		expect(file.aggregatedEndToEndLatencyQuantiles["100.0"]).toBe(1000);
	});

	test("has the generator's lag as its delay, in whole microseconds", () => {
		const { file } = read();
		expect(file.publishDelayLatency50pct).toEqual([20, 20]);
		expect(file.publishDelayLatencyMax).toEqual([20, 20]);
		expect(file.aggregatedPublishDelayLatencyAvg).toBeCloseTo(20, 1);
	});

	test("has what happened in each interval per second, and what was under way at its end", () => {
		const { file, result } = read();
		expect(file.publishErrorRate).toEqual([0, 0]);
		const [run] = result.runs as [Run];
		const weighted = ([a = 0, b = 0]: number[]) => (a * 10 + b * 15) / 25;
		expect(weighted(file.consumeRate)).toBeCloseTo(run.throughput.received ?? 0);
		expect(weighted(file.publishRate)).toBeCloseTo(run.throughput.sent ?? 0);
		// At the end of the first 10 s those of the last second that take more than is left of it.
		const open = Array.from({ length: 100 }, (_, k) => 900 + k).filter(
			(i) => i * 10 + responseMs(i) > 10_000,
		);
		expect(file.backlog[0]).toBeCloseTo(open.length, -1);
	});

	test("says what it was, and which clock its latencies count from", () => {
		const { file, notes, result } = read();
		expect(file).toMatchObject({
			workload: `${result.scenario}, ${result.runs[0]?.case}`,
			driver: "nats",
			messageSize: 256,
			topics: 1,
			partitions: 1,
			producersPerTopic: 1,
			consumersPerTopic: 1,
		});
		expect(notes.join()).toMatch(/intended send time/);
	});
});

test("messages that never completed count as the timeout, in their own interval", () => {
	const plan = planOf({ schedule: steady(100, 1, 20), timeoutNs: 2e9 });
	const fates = Array.from({ length: plan.schedule.messages }, (_, k): Fate => {
		const lost = k >= 100 + 1000 && k % 10 === 0;
		return { receivedNs: [lost ? null : k * 1e7 + MS] };
	});
	const { file, result } = omb(plan, fates);
	check(file, 2);
	expect(file.endToEndLatency95pct).toEqual([near(1), 2000]);
	expect(file.endToEndLatencyMax).toEqual([1, 2000]);
	expect(file.endToEndLatencyAvg).toEqual([near(1), near(1)]);
	// 5 % of all: the 95th is the last that came.
	expect(file.aggregatedEndToEndLatency95pct).toEqual(near(1));
	expect(file.aggregatedEndToEndLatency99pct).toBe(2000);
	expect(result.runs[0]?.lost).toBe(100);
});

test("what was not measured is 0 without quantiles, as OpenMessaging Benchmark writes it, and reads as no latency", () => {
	const plan = planOf({ acks: false, schedule: steady(100, 1, 10) });
	const fates = Array.from({ length: plan.schedule.messages }, (_, k) => ({
		receivedNs: [k * 1e7 + MS],
	}));
	const { file } = omb(plan, fates);
	check(file, 1);
	expect(file.publishLatency99pct).toEqual([0]);
	expect(file.aggregatedPublishLatencyQuantiles).toEqual({});
	expect(ombBaseline([file], "x")?.runs.map(({ main }) => main)).toEqual(["end-to-end"]);
});

test("where nobody consumes, what ends at the acknowledgement is a publish latency", () => {
	const plan = planOf({ pattern: "publish", acks: true, schedule: steady(100, 1, 10) });
	const fates = Array.from({ length: plan.schedule.messages }, (_, k) => ({
		ackedNs: k * 1e7 + 3 * MS,
	}));
	const { file } = omb(plan, fates);
	check(file, 1);
	expect(file.publishLatency99pct).toEqual([near(3)]);
	expect(file.consumeRate).toEqual([0]);
	expect(file.consumersPerTopic).toBe(0);
	expect(file.endToEndLatency99pct).toEqual([0]);
	expect(file.aggregatedEndToEndLatencyQuantiles).toEqual({});
});

test("what the format has no field for is left out by name", () => {
	const plan = planOf({
		pattern: "request-reply",
		consumers: 1,
		consumerConnections: 1,
		schedule: steady(100, 1, 10),
	});
	const fates = Array.from({ length: plan.schedule.messages }, (_, k) => ({
		receivedNs: [k * 1e7 + MS],
	}));
	const { file, notes } = omb(plan, fates);
	expect(file).toBeNull();
	expect(notes).toEqual([
		"r: nats, 256B 1000/s: left out: OpenMessaging Benchmark has no request-reply",
	]);
});

describe.each(["nats-stall", "message-queue-latency", "commit-log-latency"])(
	"the files of %s",
	(name) => {
		const { files } = exported("omb", [publishedFolder(name)]);
		const runs = readResult(publishedFolder(name)).runs;
		const fileOf = (run: Run): TestResult =>
			JSON.parse(files[`${path.basename(run.folder)}.json`] ?? "");

		test("read back by our importer have the numbers of result.json, to the nanosecond", () => {
			expect(Object.keys(files)).toHaveLength(runs.length);
			for (const run of runs) {
				const file = check(fileOf(run), Math.floor(run.load.durationNs / 1e10));
				const entries = ombBaseline([file], "x")?.runs ?? [];
				const read = (main: string) => entries.find((entry) => entry.main === main);
				for (const [main, metric] of [
					["end-to-end", run.metrics.response] as const,
					["publish", run.metrics.ack] as const,
				]) {
					const entry = read(main);
					expect(entry === undefined).toBe(metric === null);
					if (metric === null || entry === undefined) continue;
					for (const { p, value } of metric.percentiles)
						if ([50, 99, 99.9, 99.99].includes(p))
							expect([p, entry.figures[`${main} p${p}`]]).toEqual([p, value]);
					expect(entry.figures[`${main} max`]).toBe(metric.max);
					const curve = new Map(metric.curve.map(({ p, value }) => [p, value]));
					for (const [p, ns] of entry.curve) expect([p, curve.get(p)]).toEqual([p, ns]);
					expect(entry.curve.length).toBeGreaterThan(5);
				}
				const { sent, received } = run.throughput;
				const end = read("end-to-end");
				expect(end?.figures.throughput).toBeCloseTo(received ?? 0, 6);
				if (sent !== null) expect(end?.figures["throughput.sent"]).toBeCloseTo(sent, 6);
			}
		});

		test("have the percentiles of each 10 s of the raw histogram, sorted and counted by hand", () => {
			// 600 000 samples in some of them: one of the repeats is enough.
			for (const run of runs.filter(({ repeat }) => repeat === 1)) {
				const file = fileOf(run);
				for (const [i, values] of valuesOf(name, run).entries())
					for (const [field, p] of [
						...([
							["50pct", 0.5],
							["75pct", 0.75],
						] as const),
						...([
							["95pct", 0.95],
							["99pct", 0.99],
						] as const),
					]) {
						const expected = values[Math.ceil(values.length * p) - 1] ?? 0;
						const ms = file[`endToEndLatency${field}`][i];
						const most = file.endToEndLatencyMax[i];
						expect(ms).toBe(Math.min(Number((expected / 1e6).toFixed(6)), most));
					}
			}
		});
	},
);

// --- internal ---

/** The response of every message of each 10 s, ascending: the upper edges of the buckets in client-0.hlog. */
function valuesOf(name: string, run: Run): number[][] {
	const folder = path.join(publishedFolder(name), run.folder);
	const all: number[][] = [];
	const text = readFileSync(path.join(folder, "client-0.hlog"), "utf8");
	for (const line of text.split("\n")) {
		const [, startS = "", encoded = ""] =
			/^Tag=response,([\d.]+),[\d.]+,[\d.]+,(.+)$/.exec(line) ?? [];
		if (encoded === "") continue;
		const second = Number(startS) - run.load.warmupNs / 1e9;
		const interval = Math.floor((second + 0.001) / 10);
		const { indexes, counts, ...range } = decodeBuckets(encoded);
		const { low, width } = bucketRanges(range);
		const values = all[interval] ?? [];
		all[interval] = values;
		for (const [k, index] of Array.from(indexes).entries())
			for (let n = 0; n < (counts[k] ?? 0); n++) values.push(low(index) + width(index) - 1);
	}
	return all.map((values) => values.sort((a, b) => a - b));
}
