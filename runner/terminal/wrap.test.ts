import { describe, expect, test } from "vitest";
import { wrap } from "./wrap.ts";

describe("wrap", () => {
	test("breaks at blanks, with the indent on each line", () => {
		expect(wrap("one two three", 9, "  ")).toEqual(["  one two", "  three"]);
	});

	test("lets the first line begin elsewhere", () => {
		expect(wrap("one two three", 9, "  ", "")).toEqual(["one two", "  three"]);
	});

	test("keeps the digits of a number together", () => {
		expect(wrap("in all 135 000 000 messages", 12)).toEqual(["in all", "135 000 000", "messages"]);
	});

	test("breaks between a number and a word", () => {
		expect(wrap("after 135 messages", 9)).toEqual(["after 135", "messages"]);
	});

	test("leaves a word that is too long whole", () => {
		expect(wrap("see /a/very/long/path now", 8)).toEqual(["see", "/a/very/long/path", "now"]);
	});

	test("of nothing is one empty line", () => {
		expect(wrap("", 80)).toEqual([""]);
	});
});
