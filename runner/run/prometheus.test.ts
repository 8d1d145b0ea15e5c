import { describe, expect, test } from "vitest";
import { flatten, parsePrometheus } from "./prometheus.ts";

const read = (text: string) => Object.fromEntries(parsePrometheus(text));
const gauge = (value: number | null) => ({ value, counter: false });
const counter = (value: number | null) => ({ value, counter: true });

describe("Prometheus text", () => {
	test.each([
		["a name and a number", "up 1", { up: gauge(1) }],
		["blanks and tabs", " \tup\t 1 \r\n\n", { up: gauge(1) }],
		["a time", "up 1 1395066363000", { up: gauge(1) }],
		["a negative time", "up 1 -3982045", { up: gauge(1) }],
		["exponents", "a 1.458255915e9\nb -1E-3", { a: gauge(1458255915), b: gauge(-0.001) }],
		["a point at an end", "a .5\nb 5.", { a: gauge(0.5), b: gauge(5) }],
		[
			"no numbers",
			"a NaN\nb +Inf\nc -Inf\nd Inf",
			{ a: gauge(null), b: gauge(null), c: gauge(null), d: gauge(null) },
		],
		["colons in a name", "job:rate:5m 2", { "job:rate:5m": gauge(2) }],
		["labels", 'a{z="1",b="2"} 3', { 'a{z="1",b="2"}': gauge(3) }],
		["a comma after the last label", 'a {b = "2",} 3', { 'a{b = "2",}': gauge(3) }],
		["empty braces", "a{} 3", { a: gauge(3) }],
		[
			"escapes, braces, blanks and signs in a value",
			String.raw`a{path="C:\\DIR\\",e="say \"}\" #1,b=2\n",u="ü"} 3`,
			{ 'a{path="C:\\\\DIR\\\\",e="say \\"}\\" #1,b=2\\n",u="ü"}': gauge(3) },
		],
		["comments", '# hello\n#\n# HELP a b\n#TYPE a counter\na{b="#"} 1', { 'a{b="#"}': gauge(1) }],
		["a counter by its type", "# TYPE a counter\na 1\nb 1", { a: counter(1), b: gauge(1) }],
		["a gauge by its type", "# TYPE a_total gauge\na_total 1", { a_total: gauge(1) }],
		["a counter by its name", "a_total 1", { a_total: counter(1) }],
		["OpenMetrics", "# TYPE a counter\na_total 1\n# EOF", { a_total: counter(1) }],
		[
			"a histogram, with an exemplar",
			'# TYPE h histogram\nh_bucket{le="+Inf"} 3 # {trace="1"} 0.5 1.2\nh_sum 2\nh_count 3',
			{ 'h_bucket{le="+Inf"}': counter(3), h_sum: counter(2), h_count: counter(3) },
		],
		[
			"a summary",
			'# TYPE s summary\ns{quantile="0.5"} 2\ns_count 9',
			{ 's{quantile="0.5"}': gauge(2), s_count: counter(9) },
		],
		["the last of two", "a 1\na 2", { a: gauge(2) }],
		["names of objects", "__proto__ 1\nconstructor 2", undefined],
	])("%s", (_, text, expected) => {
		if (expected === undefined)
			expect([...parsePrometheus(text).keys()]).toEqual(["__proto__", "constructor"]);
		else expect(read(text)).toEqual(expected);
	});

	test.each([
		"<!doctype html>",
		"up",
		"up one",
		"up 1 2 3",
		"1up 1",
		"a{b=2} 1",
		'a{b="2" 1',
		'a{b="2} 1',
		'a{b="2",,} 1',
		'a{"b",c="2"} 1',
		'{b="2"} 1',
		"a-b 1",
		'{"error": "no such page"}',
	])("refuses %s", (line) => {
		expect(() => parsePrometheus(`up 1\n${line}`)).toThrow(
			"line 2 of the answer is not Prometheus text",
		);
	});

	test("a large hostile page takes no more time than any other", () => {
		const began = performance.now();
		for (const line of [`a{${'b="'.repeat(50_000)}`, `a{${"\\".repeat(100_000)}`, "a{".repeat(1e5)])
			expect(() => parsePrometheus(line)).toThrow("line 1");
		expect(performance.now() - began).toBeLessThan(5_000);
	});
});

test("JSON: numbers by path", () => {
	const json = JSON.parse(
		'{"in_msgs":5,"mem":7,"name":"x","deep":{"er":{"in_msgs":1},"list":[1,2]},"__proto__":{"a":3},"on":true}',
	);
	expect([...flatten(json, /^in_msgs$/)]).toEqual([
		["in_msgs", counter(5)],
		["mem", gauge(7)],
		["deep.er.in_msgs", gauge(1)],
		["__proto__.a", gauge(3)],
	]);
	expect(flatten([1], /./).size).toBe(0);
});
