import { expect, test } from "vitest";
import { readableJson } from "./json.ts";
import { fixtureResult } from "./stored.fake.ts";

test("says the same as plain JSON, in lines that a person can read", () => {
	const result = fixtureResult("stall");
	const text = readableJson(result);
	expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(result)));
	const [ticks] = result.runs.map((run) => run.series.ticks);
	// Each tick is one line of its own.
	expect(text.match(/^\t*\{"at":\d+,"sent":\d+.*\},?$/gm)?.length).toBe(ticks?.length);
});

test("leaves out what is not defined, and keeps what is empty", () => {
	const long = "x".repeat(400);
	const value = { long, none: undefined, list: [], map: {}, text: null };
	expect(JSON.parse(readableJson(value))).toEqual({ long, list: [], map: {}, text: null });
});
