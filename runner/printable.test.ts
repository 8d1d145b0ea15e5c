import { styleText } from "node:util";
import { expect, test } from "vitest";
import { printable } from "./printable.ts";
import { HOSTILE } from "./render/hostile.fake.ts";

test.each([
	["a\tb\nc\r\n", "a\tb\nc\r\n"],
	["PASS\rFAIL", "PASS\\u000dFAIL"],
	["\u001b[2J\u001b]0;title\u0007", "\\u001b[2J\\u001b]0;title\\u0007"],
	["\u009b2J", "\\u009b2J"],
	["gpj.\u202eexe\u200f", "gpj.\\u202eexe\\u200f"],
	["\u001b[32mPASS\u001b[39m", "\\u001b[32mPASS\\u001b[39m"],
	["\u001b\u001b[31m", "\\u001b\\u001b[31m"],
	["é 漢 🙂", "é 漢 🙂"],
])("%j is printed as %j", (text, shown) => {
	expect(printable(text)).toBe(shown);
});

test("colours stay where there are colours, and nothing else that begins like them", () => {
	const own = (["bold", "dim", "red", "green", "yellow", "cyan", "gray"] as const)
		.map((format) => styleText(format, "x", { validateStream: false }))
		.join("");
	expect(printable(own, true)).toBe(own);
	for (const text of ["\u001b[8m", "\u001b[7m", "\u001b[1A", "\u001b[1;31m"])
		expect(printable(text, true)).not.toContain("\u001b");
});

test("JSON means the same as before", () => {
	const text = JSON.stringify(HOSTILE, null, "\t");
	expect(JSON.parse(printable(text))).toEqual(HOSTILE);
});
