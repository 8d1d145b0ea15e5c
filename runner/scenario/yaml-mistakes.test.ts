import { describe, expect, test } from "vitest";
import { variable } from "../brokers/index.ts";
import { parseSource } from "./source.ts";

/** "line:column message" of each mistake. */
function mistakes(text: string): string[] {
	const parsed = parseSource(text);
	if (!("problems" in parsed)) return [];
	return parsed.problems.map((one) => {
		if (!("offset" in one)) return one.message;
		const before = text.slice(0, one.offset).split("\n");
		return `${before.length}:${(before.at(-1) ?? "").length + 1} ${one.message}`;
	});
}

const FITS_NO_LINE = "this line is indented differently; write keys of one map in the same column";
const reference = variable("NATS_URL");
const quotes = (value: string) =>
	`between { } or [ ] a value with a variable needs quotes; write ${value}`;

describe("a variable between brackets without quotes", () => {
	test.each([
		[
			"in a map",
			`target: existing\nsystem: {broker: nats, url: ${reference}}\nsla: [lost == 0]\n`,
			[`2:29 ${quotes(`url: "${reference}"`)}`],
		],
		[
			"as a part of a url",
			`name: x\nsystem: { broker: nats, url: nats://me:${reference}@host:4222 }\nworkload:\n  rate: 3/s\n`,
			[`2:30 ${quotes(`url: "nats://me:${reference}@host:4222"`)}`],
		],
		["in a list", `sla: [${reference}]\n`, [`1:7 ${quotes(`"${reference}"`)}`]],
		["in a block, where it is right", `system:\n  url: ${reference}\n`, []],
	])("%s", (_, text, sentences) => {
		expect(mistakes(text)).toEqual(sentences);
	});
});

describe("a line that stands elsewhere than its neighbours is one mistake", () => {
	test.each([
		[
			"too far left, in the middle",
			"workload:\n  rate: 3/s\nconnections: 4\n  message: 1KiB\n  duration: 9s\n",
			[`4:3 ${FITS_NO_LINE}`],
		],
		[
			"too far right, in the middle",
			"workload:\n  rate: 3/s\n   message: 1KiB\n  duration: 9s\n",
			[`3:4 ${FITS_NO_LINE}`],
		],
		[
			"the first one too far right",
			"workload:\n    rate: 3/s\n  message: 1KiB\n  duration: 9s\n",
			[`3:3 ${FITS_NO_LINE}`],
		],
		[
			"a key of a list item",
			"system: nats\ncases:\n  - message: 1KiB\n   rate: 4/s\n  - message: 2KiB\n",
			[`4:4 ${FITS_NO_LINE}`],
		],
		[
			"lines that end as on Windows",
			"workload:\r\n  rate: 3/s\r\n   message: 1KiB\r\n  duration: 9s\r\n",
			[`3:4 ${FITS_NO_LINE}`],
		],
		[
			"before another mistake, which is told when this one is mended",
			`workload:\n  rate: 3/s\n   message: 1KiB\n  duration: 9s\nsystem: { url: ${reference} }\n`,
			[`3:4 ${FITS_NO_LINE}`],
		],
	])("%s", (_, text, sentences) => {
		expect(mistakes(text)).toEqual(sentences);
	});
});

describe("what is no indentation is not called so", () => {
	test.each([
		[
			"a colon without its space",
			"workload:\n  rate:3000/s\n  message: 1KiB\n",
			["2:3 a space is missing after the colon; write rate: 3000/s"],
		],
		[
			"a value with a colon",
			"system: nats\nname: a: b\nworkload:\n  rate: 3/s\n",
			['2:7 a value with ": " in it needs quotes; write e.g. name: "a: b"'],
		],
		[
			"tabs",
			"workload:\n\trate: 3/s\n\tmessage: 1KiB\n\tduration: 9s\n",
			["2:1 a tab indents this line and 2 more; write spaces instead"],
		],
		[
			"a bracket that stays open",
			"workload: { rate: 3/s\nsla: [lost == 0]\n",
			["2:1 a { or [ above is not closed; write the missing } or ]"],
		],
	])("%s", (_, text, sentences) => {
		expect(mistakes(text)).toEqual(sentences);
	});
});

const itself = "would contain itself; write the value out";

describe("an alias inside of what it stands for", () => {
	test.each([
		["in a list", "name: &x [1, *x]\n", [`1:14 *x is inside &x and ${itself}`]],
		["as a merge", "workload: &x\n  <<: *x\n  rate: 3/s\n", [`2:7 *x is inside &x and ${itself}`]],
		["beside it", "a: &x [1]\nb: *x\n", []],
	])("%s", (_, text, sentences) => {
		expect(mistakes(text)).toEqual(sentences);
	});
});
