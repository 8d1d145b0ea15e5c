import { describe, expect, test } from "vitest";
import type { Result } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { comparison, FIXTURES, HOSTILE, search } from "./hostile.fake.ts";
import { COMMENT, markerOf } from "./markdown.ts";
import { renderMarkdown } from "./rendered.fake.ts";

const built = (name: string) => fixtureResult(name);
const comment = (result: Result) => renderMarkdown(result, { most: COMMENT, marked: true });

describe("first of all", () => {
	test("explains eight at most, and says how many more there are", () => {
		const result = built("stall");
		const [gate] = result.gates;
		if (gate === undefined) throw new Error("another fixture");
		result.gates = Array.from({ length: 13 }, () => ({ ...gate }));
		const text = renderMarkdown(result);
		expect(text.match(/^- \*\*FAIL\*\*/gm)).toHaveLength(8);
		expect(text).toContain("- and 5 more that did not pass: see the table");
	});
});

test("comparisons with a baseline are a table: both sides, ratio, interval, verdict", () => {
	const text = renderMarkdown({
		...built("healthy"),
		comparisons: [
			comparison(),
			comparison({
				metric: "throughput",
				unit: "messages/s",
				a: { name: "a|b", runs: 1, values: [1000], median: 1000, weak: false },
				low: null,
				high: null,
				judged: false,
				advisory: "another machine",
			}),
		],
	});
	expect(text).toContain(
		"| nats, 256B 1000/s, response p99 | 1ms (1 of 5) | 1.31ms (1 of 4) | 1.31x | \\[1.20, 1.40\\] |",
	);
	expect(text).toContain("## Compared with main.json, a\\|b");
	expect(text).toContain("| (regressed) |");
	expect(text).toContain("shown only: another machine.");
});

describe("a comment", () => {
	test("begins with a line by which it is found again, whatever the scenario is called", () => {
		for (const text of [...HOSTILE, "quickstart", "a--b", "-->", "--!>", ">"]) {
			const marker = markerOf(text);
			// What the poster of comments accepts.
			expect(marker).toMatch(/^<!-- mqbench:(?!.*--.*-->)[A-Za-z0-9%._~!*'()-]{1,4000} -->$/);
			expect(comment({ ...built("healthy"), scenario: text })).toMatch(
				/^<!-- mqbench:[^\n]* -->\n\n# /,
			);
		}
		expect(markerOf("quickstart")).toBe("<!-- mqbench:quickstart -->");
		expect(new Set(HOSTILE.map(markerOf)).size).toBe(HOSTILE.length);
		expect(markerOf("x".repeat(100_000)).length).toBeLessThan(4000);
		expect(markerOf("x".repeat(5000))).not.toBe(markerOf("x".repeat(5001)));
	});

	test.each(FIXTURES)("of %s says all that the report says", (name) => {
		const whole = renderMarkdown(built(name));
		expect(comment(built(name))).toBe(`${markerOf(name)}\n\n${whole}`);
	});
});

describe("sizes", () => {
	const many = (name: string, count: number): Result => {
		const result = built("repeats");
		const [run] = result.runs;
		const [gate] = result.gates;
		if (!run || !gate) throw new Error("another fixture");
		return {
			...result,
			scenario: name,
			runs: Array.from({ length: count }, (_, i) => ({
				...run,
				index: i + 1,
				system: `${name}${i}`,
				case: name,
				verdict: "fail" as const,
				notes: [name.repeat(20)],
			})),
			gates: Array.from({ length: count }, (_, i) => ({
				...gate,
				system: `${name}${i}`,
				case: name,
				why: name.repeat(20),
				verdict: i % 2 === 0 ? ("fail" as const) : ("pass" as const),
			})),
			comparisons: Array.from({ length: count }, (_, i) =>
				comparison({ system: `${name}${i}`, case: name }),
			),
			searches: [search({ system: name, answer: name.repeat(100) })],
		};
	};

	test.each([
		...HOSTILE.map((text): [string, number] => [text, 100]),
		["nats", 400] as [string, number],
		["<".repeat(300), 300] as [string, number],
	])("of %j, %d runs, keep to GitHub's limits and say what is left out", (text, count) => {
		const result = many(text, count);
		const short = comment(result);
		expect(short.length).toBeLessThan(65_536);
		expect(short).toContain("There is no more room here: ");
		const long = renderMarkdown(result);
		expect(Buffer.byteLength(long)).toBeLessThanOrEqual(900_000);
		for (const one of [short, long]) {
			expect(one.match(/^<details>$/gm)?.length ?? 0).toBe(
				one.match(/^<\/details>$/gm)?.length ?? 0,
			);
			expect(one.trimEnd()).toMatch(/More: `.*`\.$/);
			// Failures come first, because not all have room.
			expect(one.indexOf("**FAIL**")).toBeGreaterThan(0);
		}
	});

	test("of a summary that has something in it already: what is left", () => {
		const text = renderMarkdown(many("nats", 400), {
			most: 20_000,
			marked: false,
		});
		expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
		expect(text).toContain("# nats: ");
	});
});

describe("names from outside", () => {
	test("make no link of what only looks like one, and read as before", () => {
		const said =
			"https://a.example HTTP://b.example ftp://c www.d.example xwww.e #12 GH-13 gh-14 o/r#15 @team 1http://f";
		const result = built("healthy");
		result.scenario = said;
		for (const run of result.runs) run.case = said;
		const md = renderMarkdown(result);
		const blank = "&#8203;";
		// As a browser shows it: GitHub looks for links there too.
		const shown = md
			.replaceAll(blank, "\u200b")
			.replaceAll(/&#(\d+);/g, (_, n) => String.fromCharCode(Number(n)))
			.replaceAll(/\\([\\`*_[\]|~#])/g, "$1");
		expect(shown.replaceAll("\u200b", "")).toContain(said);
		expect(shown.split("\u200b").length).toBeGreaterThan(11);
		for (const text of [md, shown])
			expect(text.replaceAll(/`[^`\n]*`/g, "")).not.toMatch(
				/(https?|ftp):\/\/|www\.|gh-\d|(?<!&)#\d|@\w/i,
			);
	});
});
