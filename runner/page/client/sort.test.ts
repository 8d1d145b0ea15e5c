import { expect, test } from "vitest";
import { compared } from "./sort.ts";

test("rows are sorted by size, whatever their unit; what is no number comes last", () => {
	const texts = ["n/a", "1.2ms", "~913us", "> 30s", "30s", "12ns", "1min", "2h", "500us"];
	expect(texts.toSorted(compared)).toEqual([
		"12ns",
		"500us",
		"~913us",
		"1.2ms",
		"30s",
		"> 30s",
		"1min",
		"2h",
		"n/a",
	]);
});

test("thousands are one number, and binary units are larger than decimal ones", () => {
	expect(["20\u00a0000/s", "3 000/s", "100/s"].toSorted(compared)).toEqual([
		"100/s",
		"3 000/s",
		"20\u00a0000/s",
	]);
	expect(["1MiB", "1MB", "1000KiB"].toSorted(compared)).toEqual(["1MB", "1000KiB", "1MiB"]);
});

test("names are sorted as text", () => {
	expect(["redis", "kafka", "nats"].toSorted(compared)).toEqual(["kafka", "nats", "redis"]);
});

test("downwards what is no number still comes last; dates, commits and ids are text", () => {
	expect(["n/a", "1ms", "2ms"].toSorted((a, b) => compared(a, b, -1))).toEqual([
		"2ms",
		"1ms",
		"n/a",
	]);
	expect(compared("2026-11-20 15:03 UTC", "2026-11-20 16:29 UTC")).toBeLessThan(0);
	expect(compared("3fd68837", "4e")).toBeLessThan(0);
});
