import { expect, test } from "vitest";
import { readableJson } from "./json.ts";
import { fixtureResult } from "./stored.fake.ts";

test("says the same as plain JSON, in fewer lines", () => {
	const result = fixtureResult("stall");
	const text = readableJson(result);
	expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(result)));
	const [ticks] = result.runs.map((run) => run.series.ticks);
	// Each tick is one line of its own.
	expect(text.match(/^\t*\{"at":\d+,"sent":\d+.*\},?$/gm)?.length).toBe(ticks?.length);
	expect(Math.max(...text.split("\n").map((l) => l.length))).toBeLessThan(400);
});

test("lists of numbers share lines, and lose none", () => {
	const cells = Array.from({ length: 500 }, (_, i) => [i, i % 7, i * i]);
	const text = readableJson({ cells, few: [1, 2] });
	expect(JSON.parse(text)).toEqual({ cells, few: [1, 2] });
	expect(text.split("\n").length).toBeLessThan(60);
	expect(Math.max(...text.split("\n").map((l) => l.length))).toBeLessThan(200);
});
