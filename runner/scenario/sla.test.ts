import { describe, expect, test } from "vitest";
import { UnitError } from "../units.ts";
import { parseSla } from "./sla.ts";

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
	])("reads %j", (text, tally, op, limit) => {
		expect(parseSla(text)).toEqual({
			kind: "tally",
			text,
			tally,
			op,
			limit,
			abort: false,
		});
	});
});

test.each([
	[
		"p99 > 20ms",
		'"p99 > 20ms": a latency limit takes < or <=, e.g. p99 < 20ms',
	],
	[
		"p100 < 1s",
		'"p100 < 1s": the 100th percentile is the largest sample; write max < 1s',
	],
	[
		"p0 < 1s",
		'"p0 < 1s": a percentile lies between 0 and 100, e.g. p99 or p99.9',
	],
	[
		"p99 < 20",
		'"p99 < 20": duration 20 has no unit; write e.g. 250ms, 10s or 5min',
	],
	["p99 < 0ms", '"p99 < 0ms" can never hold; a limit is above 0'],
	["lost > 0", '"lost > 0": lost takes ==, < or <=, e.g. lost == 0'],
	["lost < 0", '"lost < 0" can never hold; write lost == 0'],
	[
		"lost < 0.1%",
		'"lost < 0.1%": lost is a number of messages, e.g. lost == 0',
	],
	[
		"throughput < 5/s",
		'"throughput < 5/s": throughput takes >= or >, e.g. throughput >= 2990/s',
	],
	[
		"throughput >= 5",
		'"throughput >= 5": rate 5 has no unit; write e.g. 3000/s or 90/min',
	],
	[
		"avg < 5ms",
		'"avg < 5ms": avg is no metric here; averages hide what matters; write p50 or p99',
	],
	[
		"servce p99 < 5ms",
		'"servce p99 < 5ms": servce is no metric; did you mean service?',
	],
	["losst == 0", '"losst == 0": losst is no metric; did you mean lost?'],
	[
		"p99 <= baseline + 10%",
		'"p99 <= baseline + 10%": comparing with a baseline is planned, but not in this version; write a fixed limit, e.g. p99 < 20ms',
	],
])("refuses %j with a sentence", (text, message) => {
	expect(() => parseSla(text)).toThrow(new UnitError(message));
});

test.each([
	"",
	"fast",
	"p99",
	"p99 <",
	"< 5ms",
	"p99 p99 < 5ms",
	"a b c < 5ms",
	"constructor < 5ms",
])("shows how a line is written instead of %j", (text) => {
	expect(() => parseSla(text)).toThrow(
		/is no objective; write \[metric\] percentile op limit, e\.g\. p99 < 20ms/,
	);
});
