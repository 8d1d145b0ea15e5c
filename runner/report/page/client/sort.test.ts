import { expect, test } from "vitest";
import { compared } from "./sort.ts";

test("rows are sorted by size, whatever their unit; what is no number comes last", () => {
	const texts = [
		...["n/a", "1.2ms", "~913us", "> 30s", "30s", "12ns", "1min"],
		...["2h", "500us"],
	];
	expect(texts.toSorted(compared)).toEqual([
		...["12ns", "500us", "~913us", "1.2ms", "30s", "> 30s", "1min"],
		...["2h", "n/a"],
	]);
});

test("thousands are one number, and binary units are larger than decimal ones", () => {
	expect(["20\u00a0000/s", "3 000/s", "100/s"].toSorted(compared)).toEqual([
		...["100/s", "3 000/s", "20\u00a0000/s"],
	]);
	expect(["1MiB", "1MB", "1000KiB"].toSorted(compared)).toEqual([
		...["1MB", "1000KiB", "1MiB"],
	]);
});

test("names are sorted as text", () => {
	expect(["redis", "kafka", "nats"].toSorted(compared)).toEqual([
		...["kafka", "nats", "redis"],
	]);
});
