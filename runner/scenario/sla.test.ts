import { describe, expect, test } from "vitest";
import { subjectOf } from "../model/plan.ts";
import { parseLine, parseSla } from "./sla.ts";

const ms = 1_000_000;

describe("percentiles", () => {
	test.each([
		["p99 < 20ms", "response", 99, "<", 20 * ms],
		["response p99.9 <= 5ms", "response", 99.9, "<=", 5 * ms],
		["service p99 < 1ms", "service", 99, "<", ms],
		["lag p50 < 100us", "lag", 50, "<", 100_000],
		["queued p99<1ms", "queued", 99, "<", ms],
		["p(99) < 5ms", "response", 99, "<", 5 * ms],
		["  p99.99999   <  1.5s ", "response", 99.99999, "<", 1500 * ms],
	])("reads %j", (text, metric, percentile, op, limitNs) => {
		expect(parseSla(text)).toEqual({
			kind: "percentile",
			text: text.trim().replaceAll(/\s+/g, " "),
			metric,
			percentile,
			op,
			limitNs,
			abort: false,
		});
	});

	test("reads the largest sample as max", () => {
		expect(parseSla("service max <= 1s")).toEqual({
			kind: "max",
			text: "service max <= 1s",
			metric: "service",
			op: "<=",
			limitNs: 1000 * ms,
			abort: false,
		});
	});
});

describe("counters and rates", () => {
	test.each([
		["lost == 0", "lost", "==", 0],
		["failed <= 10", "failed", "<=", 10],
		["duplicated == 0", "duplicated", "==", 0],
		["reordered == 0", "reordered", "==", 0],
		["redelivered <= 3", "redelivered", "<=", 3],
		["corrupted == 0", "corrupted", "==", 0],
		["notOffered == 0", "notOffered", "==", 0],
		["unknown == 0", "unknown", "==", 0],
		["throughput >= 100000/s", "throughput", ">=", 100_000],
		["achieved > 90/min", "achieved", ">", 1.5],
		["cpuPerMessage < 20us", "cpuPerMessage", "<", 20_000],
		["cpu per message < 20us", "cpuPerMessage", "<", 20_000],
		["generator cpu per message <= 1ms", "generatorCpuPerMessage", "<=", ms],
		["disk per message < 2KiB", "diskPerMessage", "<", 2048],
		["drain time < 30s", "drainTime", "<", 30_000 * ms],
	])("reads %j", (text, tally, op, limit) => {
		expect(parseSla(text)).toEqual({ kind: "tally", text, tally, op, limit, abort: false });
	});
});

describe("what a fault does", () => {
	test.each([
		["unavailable < 10s", "unavailable", "<", 10_000 * ms],
		["recovered <= 1.5s", "recovered", "<=", 1500 * ms],
		["drained<30s", "drained", "<", 30_000 * ms],
	])("reads %j", (text, tally, op, limit) => {
		expect(parseSla(text)).toEqual({ kind: "tally", text, tally, op, limit, abort: false });
	});

	test.each([
		["recovered(p99 < 100ms) < 15s", "p99 < 100ms"],
		["recovered(p(99) < 100ms) < 15s", "p(99) < 100ms"],
		["recovered ( ack p99.9 <= 1s ) < 15s", "ack p99.9 <= 1s"],
		["recovered(max < 2s)<15s", "max < 2s"],
	])("reads %j with the latency that has to be met again", (text, until) => {
		expect(parseSla(text)).toMatchObject({
			text,
			tally: "recovered",
			limit: 15_000 * ms,
			until: parseSla(until),
		});
	});
});

describe("lines that compare with a baseline", () => {
	test.each([
		["unavailable <= baseline + 50%", "unavailable", "<=", 0.5],
		["drained <= baseline * 2", "drained", "<=", 1],
		["p99 <= baseline + 10%", "response p99", "<=", 0.1],
		["p99 < baseline * 1.1", "response p99", "<", 0.1],
		["p(99)<baseline+10%", "response p99", "<", 0.1],
		["  ack  p99.9 <= baseline  + 25 % ", "ack p99.9", "<=", 0.25],
		["service p50 <= baseline * 3", "service p50", "<=", 2],
		["p50 <= baseline + 2.5%", "response p50", "<=", 0.025],
		["throughput >= baseline - 5%", "throughput", ">=", 0.05],
		["throughput > baseline * 0.95", "throughput", ">", 0.05],
		["achieved >= baseline - 1%", "achieved", ">=", 0.01],
		["drainTime <= baseline + 20%", "drainTime", "<=", 0.2],
		["drainRate >= baseline - 20%", "drainRate", ">=", 0.2],
	])("reads %j", (text, figure, op, margin) => {
		expect(parseLine(text)).toEqual({
			kind: "baseline",
			text: text.trim().replaceAll(/\s+/g, " "),
			figure,
			op,
			margin,
			allowanceNs: null,
		});
	});

	test.each([
		["p99 <= max(baseline*1.1, baseline+2ms)", 0.1, 2e6],
		["p99 <= max( baseline + 2.5 ms , baseline + 25% )", 0.25, 2.5e6],
		["P99 < max(baseline * 2, baseline + 1s)", 1, 1e9],
	])("reads %j: a part, and a time for small figures", (text, ...margins) => {
		if (text.startsWith("P"))
			return expect(() => parseLine(text)).toThrow(
				/write p99 < max\(baseline \* 2, baseline \+ 1s\)/,
			);
		const line = parseLine(text);
		if (line.kind !== "baseline") throw new Error(text);
		expect([line.margin, line.allowanceNs]).toEqual(margins);
	});

	test("know what they are about, so that a run without it is refused", () => {
		const about = (text: string) => {
			const line = parseLine(text);
			if (line.kind !== "baseline") throw new Error(text);
			return subjectOf(line);
		};
		expect(about("ack p99.9 <= baseline + 25%")).toMatchObject({
			kind: "percentile",
			metric: "ack",
			percentile: 99.9,
		});
		expect(about("throughput.sent >= baseline - 5%")).toMatchObject({
			kind: "tally",
			tally: "throughput.sent",
		});
	});
});
