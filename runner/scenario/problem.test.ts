import { expect, test } from "vitest";
import { type Located, mistakesOf, report as reported } from "./problem.ts";

const report = (file: string, text: string, problems: Located[]) =>
	reported(text, mistakesOf(file, text, problems));

test("of a long line its beginning is shown, and nothing where a caret would not fit", () => {
	const text = "a".repeat(500);
	expect(report("s.yaml", text, [{ offset: 500, message: "here" }])).toBe("s.yaml:1:501 here");
	const [, line = ""] = report("s.yaml", text, [{ offset: 3, message: "here" }]).split("\n");
	expect(line.length).toBeLessThan(140);
});

test("the options of the command line come first, then the lines in order", () => {
	expect(
		report("s.yaml", "a: 1\nb: 2\n", [
			{ offset: 5, message: "second" },
			{ offset: 0, message: "first" },
			{ label: "--set c=3", message: "none" },
		]).split("\n"),
	).toEqual([
		"--set c=3: none",
		"s.yaml:1:1 first",
		"   1 | a: 1",
		"     | ^",
		"s.yaml:2:1 second",
		"   2 | b: 2",
		"     | ^",
	]);
});

test("a tab counts as one column, and nothing that moves the cursor reaches the terminal", () => {
	const text = report("s.yaml", "a:\t\u001b[31mred\u202e x", [
		{ offset: 3, message: "say \u001b[2J\r\nwhat" },
	]);
	expect(text).toBe("s.yaml:1:4 say  [2J what\n   1 | a:  [31mred  x\n     |    ^");
});

test("the same mistake at the same place is shown once", () => {
	const problem = { offset: 0, message: "twice" };
	expect(report("s.yaml", "a: 1", [problem, problem])).toBe(report("s.yaml", "a: 1", [problem]));
});

test.each([
	["a has no unit; write 5ms", "a has no unit", "write 5ms"],
	["a; b; remove c", "a; b", "remove c"],
	["a needs b; this workload is c", "a needs b; this workload is c", null],
	["a must be b, got c", "a must be b, got c", null],
])("of %j a program gets what is wrong and what to write", (message, wrong, remedy) => {
	expect(mistakesOf("s.yaml", "a: 1", [{ offset: 0, message }])).toMatchObject([
		{ message: wrong, remedy },
	]);
});
